//! Files that may have been meant by a path where there is none: looked for through the backend, within a time.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use dsh_fs::shown_name::shown;
use dsh_fs::{FileSystem, FsCall, FsDirEntry, FsKind, FsOp, FsTarget};
use dsh_harness::Execution;

use crate::actor::cwd;
use crate::hint::budget::{Deadline, Said};
use crate::hint::neighbours::{Likeness, likeness};

/// How long is looked for one hint, in all; a listing that takes longer is given up.
pub(crate) const WALK_TIME: Duration = Duration::from_millis(50);
/// The most folders that are looked into.
const MOST_FOLDERS: usize = 5000;
/// The most paths beside one that are looked at, each with a question of its own.
const LOOKS: usize = 16;
/// The most files of the same name that are compared.
const COMPARED: usize = 32;
/// The most files that are named.
const NAMED: usize = 3;
/// Folders that hold what nobody wrote.
const PASSED_OVER: [&str; 3] = ["node_modules", "target", "__pycache__"];

/// A path that leads nowhere.
pub(crate) struct Missing<'a> {
    /// Absolute.
    path: String,
    workspace: Option<&'a Path>,
}

/// How files are looked for.
#[derive(Clone, Copy)]
pub(crate) struct Walk<'a> {
    pub(crate) fs: &'a dyn FileSystem,
    pub(crate) call: &'a FsCall,
    /// When the last question is given up. The runtime must have its clock enabled.
    pub(crate) deadline: Deadline,
}

impl<'a> Missing<'a> {
    /// `None` for a path that no file could have.
    pub(crate) fn new(path: &str, target: Option<&FsTarget>, exec: &'a Execution) -> Option<Self> {
        let workspace = cwd(exec);
        let path = match target {
            Some(target) => target.display_path().to_owned(),
            None => workspace.unwrap_or(Path::new("/")).join(path).to_str()?.to_owned(),
        };
        let path = path.trim_end_matches('/').to_owned();
        (!path.is_empty() && !path.contains('\0')).then_some(Self { path, workspace })
    }

    /// Names what is alike beside it, and what has its name elsewhere in the workspace.
    pub(crate) async fn hint(&self, walk: &Walk<'_>, op: FsOp) -> Option<String> {
        let mut said = Said::default();
        let mut named = 0;
        let mut name = |path: &str, why: &str| {
            let line = format!("\n\"{path}\" ({why})");
            let first = if named == 0 { "There is no such file, but there is:" } else { "" };
            if named < NAMED && said.add(&format!("{first}{line}")) {
                named += 1;
            }
        };
        let beside = self.beside(walk).await;
        for (why, path) in &beside {
            name(path, why);
        }
        let (elsewhere, is_all) =
            if beside.len() < NAMED { self.elsewhere(walk).await } else { (Vec::new(), false) };
        for path in elsewhere.iter().filter(|path| beside.iter().all(|(_, other)| other != *path)) {
            name(path, "the same name elsewhere");
        }
        if named == 0 && is_all && op == FsOp::Read {
            said.add("No file of that name is in the workspace. Use write if it is to be made.");
        }
        said.into_hint()
    }

    /// What is alike in the deepest folder that there is on the way.
    async fn beside(&self, walk: &Walk<'_>) -> Vec<(&'static str, String)> {
        let mut at = self.path.len();
        while let Some(slash) = self.path[..at].rfind('/') {
            let folder = if slash == 0 { "/" } else { &self.path[..slash] };
            let Some(entries) = walk.list(folder).await else {
                at = slash;
                continue;
            };
            let (wanted, rest) = (&self.path[slash + 1..at], &self.path[at..]);
            let mut alike: Vec<(Likeness, String, FsKind)> = Vec::new();
            for entry in entries {
                if entry.name == wanted && entry.kind == FsKind::File {
                    // The path goes on below it.
                    let file = format!("{}/{wanted}", folder.trim_end_matches('/'));
                    return vec![("a file, not a folder", file)];
                }
                let Some(likeness) = likeness(wanted, &entry.name) else { continue };
                let path = format!("{}/{}{rest}", folder.trim_end_matches('/'), entry.name);
                alike.push((likeness, path, entry.kind));
            }
            alike.sort_by(|(a, a_path, _), (b, b_path, _)| (a, a_path).cmp(&(b, b_path)));
            return files(walk, alike, rest).await;
        }
        Vec::new()
    }

    /// Files of the same name in the workspace, those first whose folders are the same too; and whether all of it was seen.
    async fn elsewhere(&self, walk: &Walk<'_>) -> (Vec<String>, bool) {
        let Some(workspace) = self.workspace.and_then(Path::to_str) else { return (Vec::new(), false) };
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let (mut folders, mut found) = (VecDeque::from([workspace.to_owned()]), Vec::new());
        let mut looked_into = 0;
        while let Some(folder) = folders.pop_front() {
            if walk.deadline.is_over() || looked_into == MOST_FOLDERS || found.len() == COMPARED {
                return (self.nearest_first(found), false);
            }
            looked_into += 1;
            for entry in walk.list(&folder).await.unwrap_or_default() {
                let path = format!("{}/{}", folder.trim_end_matches('/'), entry.name);
                let is_of_interest =
                    !entry.name.starts_with('.') && !PASSED_OVER.contains(&entry.name.as_str());
                match entry.kind {
                    FsKind::Directory if !entry.is_link && is_of_interest => folders.push_back(path),
                    FsKind::File if entry.name == name && found.len() < COMPARED => found.push(path),
                    _ => {}
                }
            }
        }
        // The last listing may have been given up.
        (self.nearest_first(found), !walk.deadline.is_over())
    }

    fn nearest_first(&self, mut found: Vec<String>) -> Vec<String> {
        let shared =
            |path: &str| path.rsplit('/').zip(self.path.rsplit('/')).take_while(|(a, b)| a == b).count();
        found.sort_by_cached_key(|path| (usize::MAX - shared(path), path.matches('/').count(), path.clone()));
        found
    }
}

/// Of the paths, the likest first, as many files as are named; `rest` of each is below the entry that was listed, whose kind
/// it has if there is none.
async fn files(
    walk: &Walk<'_>,
    alike: Vec<(Likeness, String, FsKind)>,
    rest: &str,
) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let looks = if rest.is_empty() { alike.len() } else { LOOKS };
    for (likeness, path, kind) in alike.into_iter().take(looks) {
        if found.len() == NAMED {
            break;
        }
        let is_file = if rest.is_empty() { kind == FsKind::File } else { walk.is_file(&path).await };
        if is_file {
            found.push((likeness.words(), path));
        }
    }
    found
}

impl Walk<'_> {
    /// What is in a folder, but for what may not be read and names that cannot be written; `None` where there is none.
    async fn list(&self, folder: &str) -> Option<Vec<FsDirEntry>> {
        let target = self.within(self.fs.resolve(folder, None, self.call)).await?.ok()?;
        if denied(self.fs, &target, true) {
            return None;
        }
        let mut entries = self.within(self.fs.list_dir(&target, self.call)).await?.ok()?;
        entries.retain(|entry| {
            let is_plain = *shown(entry.name.as_bytes()) == *entry.name && !entry.name.contains('\u{FFFD}');
            is_plain && !denied(self.fs, &entry.target, entry.kind == FsKind::Directory)
        });
        Some(entries)
    }

    /// Is there a file that may be read?
    async fn is_file(&self, path: &str) -> bool {
        let Some(Ok(target)) = self.within(self.fs.resolve(path, None, self.call)).await else {
            return false;
        };
        if denied(self.fs, &target, false) {
            return false;
        }
        let found = self.within(self.fs.stat(&target, self.call)).await;
        found.is_some_and(|found| found.ok().flatten().is_some_and(|found| found.kind == FsKind::File))
    }

    /// The answer, if it comes in time.
    pub(crate) async fn within<T>(&self, answer: impl Future<Output = T>) -> Option<T> {
        let left = self.deadline.left();
        if left.is_zero() {
            return None;
        }
        tokio::time::timeout(left, answer).await.ok()
    }
}

/// Do the read rules of the backend close the target?
pub(crate) fn denied(fs: &dyn FileSystem, target: &FsTarget, is_folder: bool) -> bool {
    let Some(rules) = fs.read_rules() else { return false };
    let place = fs.process_path(target).unwrap_or_else(|| target.display_path().into());
    !rules.permits(&place, is_folder) || !rules.permits_name(Path::new(target.display_path()), is_folder)
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use dsh_fs::MemoryFileSystem;

    use super::*;

    #[tokio::test]
    async fn what_does_not_answer_is_given_up_and_nothing_is_asked_afterwards() {
        let (fs, call) = (MemoryFileSystem::with_files([("/w/a.txt", "a\n")]), FsCall::new());
        let missing = Missing { path: "/w/A.txt".to_owned(), workspace: Some(Path::new("/w")) };
        let walk = |time| Walk { fs: &fs, call: &call, deadline: Deadline::after(time) };
        let hint = missing.hint(&walk(Duration::from_secs(60)), FsOp::Read).await;
        let expected = "There is no such file, but there is:\n\"/w/a.txt\" (other letter case)";
        assert_eq!(hint.as_deref(), Some(expected));
        assert_eq!(walk(Duration::from_micros(1)).within(pending::<()>()).await, None);
        assert_eq!(missing.hint(&walk(Duration::ZERO), FsOp::Read).await, None);
    }
}
