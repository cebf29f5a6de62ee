//! Sessions over HTTP, each in a workspace of its own.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use dsh_harness::{Session, SessionHeader, StateFolder};
use dsh_mcp::{Refused, SessionProvider};

use crate::args::Setup;

/// Where sessions work: in `--cwd`, or in a folder beneath that of `--workspaces`, which they name when they are minted.
#[derive(Debug)]
pub(crate) struct Workspaces {
    cwd: PathBuf,
    state: Option<StateFolder>,
    /// Canonical.
    parent: Option<PathBuf>,
}

impl Workspaces {
    /// Fails where the folder of `--workspaces` is none.
    pub(crate) fn new(setup: &Setup) -> anyhow::Result<Self> {
        let canonical = |folder: &PathBuf| -> anyhow::Result<PathBuf> {
            let found = std::fs::canonicalize(folder)
                .with_context(|| format!("--workspaces {}", folder.display()))?;
            ensure!(found.is_dir(), "--workspaces {}: not a folder", folder.display());
            Ok(found)
        };
        let parent = setup.workspaces.as_ref().map(canonical).transpose()?;
        Ok(Self { cwd: setup.cwd.clone(), state: setup.state.clone(), parent })
    }

    /// The same with another place for sessions that name none, once it is known.
    pub(crate) fn starting_at(self, cwd: PathBuf) -> Self {
        Self { cwd, ..self }
    }

    /// The folder of this name. No link may be on the way: by another name a folder would be open to tokens that are not
    /// for it.
    fn folder(&self, name: &str) -> Result<PathBuf, Refused> {
        let Some(parent) = &self.parent else {
            let message = "this server has no workspaces to choose from: sessions work in its folder";
            return Err(Refused::forbidden("NO_WORKSPACES", message));
        };
        let outside = || {
            let message = format!("the workspace \"{name}\" is not a folder beneath that of the workspaces");
            Refused::forbidden("WORKSPACE_OUTSIDE", message)
        };
        let path = Path::new(name);
        if name.is_empty() || !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(outside());
        }
        let missing = || Refused::missing("NO_SUCH_WORKSPACE", format!("there is no workspace \"{name}\""));
        let found = std::fs::canonicalize(parent.join(path)).map_err(|_| missing())?;
        if found != parent.join(path) {
            return Err(outside());
        }
        if found.is_dir() { Ok(found) } else { Err(missing()) }
    }
}

impl SessionProvider for Workspaces {
    fn begin(&self, id: &str, workspace: Option<&str>) -> Result<Arc<Session>, Refused> {
        let cwd = workspace.map_or_else(|| Ok(self.cwd.clone()), |name| self.folder(name))?;
        let header = SessionHeader { id: id.to_owned(), cwd };
        Ok(match &self.state {
            Some(state) => Session::recorded(header, state),
            None => Session::new(header),
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_is_a_folder_beneath_the_parent_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let parent = place.join("all");
        for folder in ["all/one", "all/team/two", "elsewhere"] {
            std::fs::create_dir_all(place.join(folder)).unwrap();
        }
        std::fs::write(parent.join("file"), "").unwrap();
        for (link, to) in
            [("out", "../elsewhere"), ("up", ".."), ("self", "."), ("again", "one"), ("alias", "team")]
        {
            std::os::unix::fs::symlink(to, parent.join(link)).unwrap();
        }
        let workspaces =
            Workspaces { cwd: place.join("elsewhere"), state: None, parent: Some(parent.clone()) };
        let folder = |name: &str| workspaces.folder(name).map_err(|refused| refused.code());
        assert_eq!(folder("one"), Ok(parent.join("one")));
        assert_eq!(folder("team/two"), Ok(parent.join("team/two")));
        for outside in ["", ".", "..", "../elsewhere", "one/../../elsewhere", "/"] {
            assert_eq!(folder(outside), Err("WORKSPACE_OUTSIDE"), "{outside}");
        }
        for link in ["out", "up", "self", "again", "alias", "alias/two"] {
            assert_eq!(folder(link), Err("WORKSPACE_OUTSIDE"), "{link}");
        }
        assert_eq!(folder(parent.join("one").to_str().unwrap()), Err("WORKSPACE_OUTSIDE"));
        for missing in ["three", "file", "file/x", "one\0"] {
            assert_eq!(folder(missing), Err("NO_SUCH_WORKSPACE"), "{missing}");
        }
    }

    #[test]
    fn without_a_parent_there_is_only_the_servers_folder() {
        let workspaces = Workspaces { cwd: "/w".into(), state: None, parent: None };
        assert_eq!(workspaces.begin("s", None).unwrap().header().cwd, Path::new("/w"));
        assert_eq!(workspaces.begin("s", Some("one")).unwrap_err().code(), "NO_WORKSPACES");
    }
}
