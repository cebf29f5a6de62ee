//! Names that an agent must not write, even where it may write everything around them.

use std::path::{Path, PathBuf};

use crate::fold;

/// Below a `.git`, at any depth: what Git runs, or what says where to find it. `commondir` sends Git to another folder's
/// `config`, and the lists of a rebase or a sequence can hold commands.
const GIT: [&str; 7] =
    ["hooks", "config", "config.worktree", "commondir", "rebase-merge", "rebase-apply", "sequencer"];

/// The names that are protected in `workspace-write` mode.
///
/// * What makes Git run programs: below any `.git` the names `hooks`, `rebase-merge`, `rebase-apply`, `sequencer` (and all
///   below), `config`, `config.worktree` and `commondir`, at any depth, so that submodules and worktrees count; and a file
///   named `.git` itself, which would say that the repository is elsewhere. The fence adds what a workspace's own `.git`
///   leads to, and folders with the shape of a repository.
/// * The given paths, and all that is below them.
///
/// Judged on the path as written and on the resolved one, so links are no way around, and on names alone, so what does not
/// exist yet is protected too. Names are compared without case, in one Unicode form, without invisible characters, without
/// what follows a `:`, and without dots and spaces at their end; `GIT~1` and its like count as the long name. A file with
/// two hard links is protected under its protected name only: writing the other one replaces that name and leaves the file
/// alone.
#[derive(Clone, Debug, Default)]
pub struct Protected {
    paths: Vec<Vec<String>>,
}

impl Protected {
    /// Protects these absolute paths and all below them, beside what Git runs.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let paths = paths.into_iter().map(|path| components(&path)).filter(|path| !path.is_empty());
        Self { paths: paths.collect() }
    }

    /// Why an absolute path is protected; `None` if it is not.
    pub(crate) fn reason(&self, path: &Path) -> Option<&'static str> {
        let path = components(path);
        if self.paths.iter().any(|protected| begins_with(&path, protected)) {
            return Some("it belongs to the composition or the state of this program");
        }
        let git = path.iter().position(|name| is(name, ".git"))?;
        let below = &path[git + 1..];
        (below.is_empty() || git_runs(below)).then_some(GIT_RUNS)
    }
}

/// The reason for what Git runs.
pub(crate) const GIT_RUNS: &str = "Git runs programs that it names";

/// Is this, below a repository, what Git runs?
pub(crate) fn git_runs(below: &[String]) -> bool {
    below.iter().any(|name| GIT.iter().any(|runs| is(name, runs)))
}

pub(crate) fn components(path: &Path) -> Vec<String> {
    let names = path.components().filter_map(|component| match component {
        std::path::Component::Normal(name) => Some(fold::name(&name.to_string_lossy())),
        _ => None,
    });
    names.collect()
}

pub(crate) fn begins_with(path: &[String], protected: &[String]) -> bool {
    path.len() >= protected.len() && path.iter().zip(protected).all(|(name, long)| is(name, long))
}

pub(crate) fn is(name: &str, long: &str) -> bool {
    name == long || fold::is_short_name_of(name, long)
}
