//! The host disk keeps the whole contract, with every capability that the suite knows.

use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use dsh_fs::FileSystem;
use dsh_fs_check::{Capability, Ground, Unsupported, async_trait};
use dsh_fs_local::{LocalFileSystem, LocalFsConfig};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

dsh_fs_check::conformance!(LocalGround);

/// A temporary folder, and the disk under it.
struct LocalGround {
    folder: TempDir,
    fs: Arc<LocalFileSystem>,
}

impl LocalGround {
    /// The path of a name, the folders above it made.
    fn path(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }
}

#[async_trait]
impl Ground for LocalGround {
    fn capabilities() -> &'static [Capability] {
        Capability::ALL
    }

    async fn lay() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = LocalFsConfig { cwd: Some(folder.path().to_owned()), ..LocalFsConfig::default() };
        Self { fs: Arc::new(LocalFileSystem::new(config).unwrap()), folder }
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

    async fn settle(&self) {
        tokio::time::sleep(Duration::from_millis(2100)).await;
    }
}
