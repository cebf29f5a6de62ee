//! A fenced host disk: a workspace, a temporary folder, and a world outside both.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{CallPolicy, FileSystem, FsCall, FsError, FsErrorCode, FsTarget, SandboxMode};
use dsh_fs_local::{LocalFileSystem, LocalFsConfig};
use dsh_fs_sandbox::{Fence, PathRules, Protected, StandingPolicy};
use tempfile::TempDir;

pub(crate) struct Disk {
    _top: TempDir,
    pub(crate) top: PathBuf,
    pub(crate) fence: Fence<LocalFileSystem>,
}

impl Disk {
    /// `w` is the workspace, `tmp` may be written too; `outside` is neither, and holds `keep.txt`.
    pub(crate) fn new(mode: SandboxMode) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        for folder in ["w", "tmp", "outside"] {
            fs::create_dir(top.join(folder)).unwrap();
        }
        fs::write(top.join("outside/keep.txt"), "keep\n").unwrap();
        let config = LocalFsConfig { cwd: Some(top.join("w")), ..LocalFsConfig::default() };
        let local = LocalFileSystem::new(config).unwrap();
        let policy = Arc::new(StandingPolicy::new(mode, top.join("w")));
        let fence = Fence::new(local, policy, vec![top.join("tmp")]);
        Self { _top: temp, top, fence }
    }

    pub(crate) fn protecting(self, names: &[&str]) -> Self {
        let protected = Protected::new(names.iter().map(|name| self.at(name)).collect::<Vec<_>>());
        Self { fence: self.fence.protecting(protected), ..self }
    }

    pub(crate) fn reading(self, roots: &[&str], deny: &[&str]) -> Self {
        let roots: Vec<_> = roots.iter().map(|root| self.at(root)).collect();
        let deny: Vec<_> = deny.iter().map(|&glob| glob.to_owned()).collect();
        let rules = PathRules::new(roots, &deny).unwrap();
        Self { fence: self.fence.reading_by(rules), ..self }
    }

    /// The absolute path of a name below the top.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn link(&self, name: &str, to: impl AsRef<Path>) {
        symlink(to, self.at(name)).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.at(name)).ok()
    }

    /// A path as the workspace's session would write it.
    pub(crate) async fn target(&self, path: &str) -> FsTarget {
        self.fence.resolve(path, Some(&self.at("w")), &FsCall::new()).await.unwrap()
    }

    pub(crate) async fn read(&self, path: &str) -> Result<String, FsError> {
        let target = self.target(path).await;
        Ok(self.fence.read_text(&target, &FsCall::new()).await?.text)
    }

    pub(crate) async fn write(&self, path: &str) -> Result<(), FsError> {
        let target = self.target(path).await;
        self.fence.write_text(&target, "x", None, &FsCall::new()).await.map(drop)
    }

    pub(crate) async fn edit(&self, path: &str, old: &str, new: &str) -> Result<(), FsError> {
        let (target, edit) = (self.target(path).await, LiteralEdit::new(old, new, false).unwrap());
        self.fence.edit_text(&target, &edit, None, &FsCall::new()).await.map(drop)
    }

    /// Both mutations are refused in the words of the mode.
    pub(crate) async fn refuses(&self, path: &str, shown: &Path, mode: &str) {
        let said = format!("cannot write \"{}\": file access denied under {mode} mode", shown.display());
        denied(self.write(path).await, &said);
        denied(self.edit(path, "keep", "x").await, &said);
    }
}

/// A call under a policy of its own.
pub(crate) fn under(mode: SandboxMode, root: &Path) -> FsCall {
    FsCall { policy: Some(CallPolicy { mode, workspace_root: root.to_owned() }), ..FsCall::new() }
}

#[track_caller]
pub(crate) fn denied<T: std::fmt::Debug>(outcome: Result<T, FsError>, message: &str) {
    let error = outcome.unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), (FsErrorCode::SandboxDenied, message));
}
