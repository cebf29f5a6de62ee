//! A fenced backend keeps the whole contract inside its workspace, in every mode that writes, and under read rules.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Permissions};
use std::io::Write;
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use dsh_fs::{FileSystem, MemoryFileSystem, SandboxMode};
use dsh_fs_check::{Capability, Ground, Unsupported, async_trait};
use dsh_fs_local::{LocalFileSystem, LocalFsConfig};
use dsh_fs_sandbox::{Fence, PathRules, StandingPolicy};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

/// How a fence stands around the workspace.
trait Standing: Send + Sync + 'static {
    fn fence<F: FileSystem>(inner: F, root: &Path) -> Fence<F>;
}

struct FullAccess;
struct WorkspaceWrite;
struct UnderRules;

impl Standing for FullAccess {
    fn fence<F: FileSystem>(inner: F, root: &Path) -> Fence<F> {
        let policy = StandingPolicy::new(SandboxMode::DangerFullAccess, root.to_owned());
        Fence::new(inner, Arc::new(policy), vec![])
    }
}

impl Standing for WorkspaceWrite {
    fn fence<F: FileSystem>(inner: F, root: &Path) -> Fence<F> {
        let policy = StandingPolicy::new(SandboxMode::WorkspaceWrite, root.to_owned());
        Fence::new(inner, Arc::new(policy), vec![])
    }
}

impl Standing for UnderRules {
    fn fence<F: FileSystem>(inner: F, root: &Path) -> Fence<F> {
        let rules = PathRules::new([root.to_owned()], &["*.pem".to_owned()]).unwrap();
        WorkspaceWrite::fence(inner, root).reading_by(rules)
    }
}

mod memory_full_access {
    use super::{FullAccess, Memory};
    dsh_fs_check::conformance!(Memory<FullAccess>);
}

mod memory_workspace_write {
    use super::{Memory, WorkspaceWrite};
    dsh_fs_check::conformance!(Memory<WorkspaceWrite>);
}

mod memory_under_rules {
    use super::{Memory, UnderRules};
    dsh_fs_check::conformance!(Memory<UnderRules>);
}

mod local_full_access {
    use super::{FullAccess, Local};
    dsh_fs_check::conformance!(Local<FullAccess>);
}

mod local_workspace_write {
    use super::{Local, WorkspaceWrite};
    dsh_fs_check::conformance!(Local<WorkspaceWrite>);
}

mod local_under_rules {
    use super::{Local, UnderRules};
    dsh_fs_check::conformance!(Local<UnderRules>);
}

struct Memory<S>(Arc<Fence<MemoryFileSystem>>, PhantomData<S>);

fn in_memory(name: &str) -> String {
    format!("/w/{name}")
}

#[async_trait]
impl<S: Standing> Ground for Memory<S> {
    fn capabilities() -> &'static [Capability] {
        &[Capability::EmptyFolders, Capability::ContentGuards, Capability::LooksAbove]
    }

    async fn lay() -> Self {
        let files = MemoryFileSystem::new();
        files.put_folder("/w");
        Self(Arc::new(S::fence(files, Path::new("/w"))), PhantomData)
    }

    fn fs(&self) -> Arc<dyn FileSystem> {
        self.0.clone()
    }

    fn root(&self) -> String {
        "/w".to_owned()
    }

    async fn put(&self, name: &str, bytes: &[u8]) {
        self.0.inner().put(&in_memory(name), bytes);
    }

    async fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        self.0.inner().bytes(&in_memory(name)).map(|bytes| bytes.to_vec())
    }

    async fn remove(&self, name: &str) {
        assert!(self.0.inner().remove(&in_memory(name)), "{name:?} is not there");
    }

    async fn folder(&self, name: &str) -> Result<(), Unsupported> {
        self.0.inner().put_folder(&in_memory(name));
        Ok(())
    }
}

/// A temporary folder, and the disk under it.
struct Local<S> {
    folder: TempDir,
    /// On the same disk, for files that are still being made.
    aside: TempDir,
    fs: Arc<dyn FileSystem>,
    standing: PhantomData<S>,
}

fn backend<S: Standing>(folder: &TempDir) -> Arc<dyn FileSystem> {
    let config = LocalFsConfig { cwd: Some(folder.path().to_owned()), ..LocalFsConfig::default() };
    Arc::new(S::fence(LocalFileSystem::new(config).unwrap(), &folder.path().canonicalize().unwrap()))
}

/// The names below a folder, hidden ones too.
fn collect(folder: &Path, above: &str, names: &mut Vec<String>) {
    for child in fs::read_dir(folder).unwrap() {
        let child = child.unwrap();
        let name = format!("{above}{}", child.file_name().display());
        if child.file_type().unwrap().is_dir() {
            let name = format!("{name}/");
            collect(&child.path(), &name, names);
            names.push(name);
        } else {
            names.push(name);
        }
    }
}

impl<S> Local<S> {
    /// The path of a name, the folders above it made.
    fn path(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }
}

#[async_trait]
impl<S: Standing> Ground for Local<S> {
    fn capabilities() -> &'static [Capability] {
        Capability::ALL
    }

    async fn lay() -> Self {
        let (folder, aside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        Self { fs: backend::<S>(&folder), folder, aside, standing: PhantomData }
    }

    fn fs(&self) -> Arc<dyn FileSystem> {
        self.fs.clone()
    }

    fn root(&self) -> String {
        self.folder.path().canonicalize().unwrap().into_os_string().into_string().unwrap()
    }

    async fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    async fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.folder.path().join(name)).ok()
    }

    async fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    async fn append(&self, name: &str, bytes: &[u8]) {
        File::options().append(true).open(self.path(name)).unwrap().write_all(bytes).unwrap();
    }

    async fn replace(&self, name: &str, bytes: &[u8]) {
        // Not in the folder itself, where a rule may be counting.
        let new = self.aside.path().join("new");
        fs::write(&new, bytes).unwrap();
        fs::rename(new, self.path(name)).unwrap();
    }

    async fn folder(&self, name: &str) -> Result<(), Unsupported> {
        fs::create_dir(self.path(name)).unwrap();
        Ok(())
    }

    async fn link(&self, name: &str, to: &str) -> Result<(), Unsupported> {
        symlink(self.folder.path().join(to), self.path(name)).unwrap();
        Ok(())
    }

    async fn is_link(&self, name: &str) -> Result<bool, Unsupported> {
        Ok(self.path(name).is_symlink())
    }

    async fn special(&self, name: &str) -> Result<(), Unsupported> {
        mknodat(CWD, self.path(name), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        Ok(())
    }

    async fn touch(&self, name: &str) -> Result<(), Unsupported> {
        let file = File::options().write(true).open(self.path(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
        file.set_permissions(Permissions::from_mode(0o640)).unwrap();
        Ok(())
    }

    async fn put_with_old_times(&self, name: &str, bytes: &[u8]) -> Result<(), Unsupported> {
        let path = self.path(name);
        let old = fs::metadata(&path).unwrap();
        fs::write(&path, bytes).unwrap();
        let times =
            FileTimes::new().set_modified(old.modified().unwrap()).set_accessed(old.accessed().unwrap());
        File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
        Ok(())
    }

    async fn another(&self) -> Result<Arc<dyn FileSystem>, Unsupported> {
        Ok(backend::<S>(&self.folder))
    }

    async fn put_raw(&self, folder: &str, name: &[u8], bytes: &[u8]) -> Result<(), Unsupported> {
        fs::write(self.path(&format!("{folder}/x")).with_file_name(OsStr::from_bytes(name)), bytes).unwrap();
        Ok(())
    }

    async fn names(&self, folder: &str) -> Result<Vec<String>, Unsupported> {
        let mut names = Vec::new();
        collect(&self.folder.path().join(folder), "", &mut names);
        Ok(names)
    }

    async fn settle(&self) {
        tokio::time::sleep(Duration::from_millis(2100)).await;
    }
}
