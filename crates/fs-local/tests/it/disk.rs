//! A folder of its own for each test, and short ways to work in it.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{
    EditOutcome, FileSystem, FsCall, FsError, FsErrorCode, FsTarget, FsVersion, TextChunk, TextRead,
    TextStream, WriteGuard, WriteOutcome,
};
use dsh_fs_local::{Fallbacks, LocalFileSystem, LocalFsConfig, Step};

pub(crate) struct Disk {
    pub(crate) fs: LocalFileSystem,
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl Disk {
    pub(crate) fn new() -> Self {
        Self::basis_below(LocalFsConfig::default().diff_basis_max_bytes)
    }

    /// With this as `diffBasisMaxBytes`; `cwd` is the test's folder.
    pub(crate) fn basis_below(diff_basis_max_bytes: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let config =
            LocalFsConfig { cwd: Some(root.clone()), diff_basis_max_bytes, ..LocalFsConfig::default() };
        Self { fs: LocalFileSystem::with_fallbacks(config, fallbacks()).unwrap(), folder, root }
    }

    /// With `observer` told of each step of a publication in the test's folder.
    pub(crate) fn observed(observer: impl Fn(&Path, Step) + Send + Sync + 'static) -> Self {
        let mut disk = Self::new();
        let root = disk.root.clone();
        disk.fs = disk.fs.observed(move |step| observer(&root, step));
        disk
    }

    /// The same, and without what a file system may not be able to do.
    pub(crate) fn observed_without(
        without: Fallbacks,
        observer: impl Fn(&Path, Step) + Send + Sync + 'static,
    ) -> Self {
        let mut disk = Self::new();
        let root = disk.root.clone();
        let config = LocalFsConfig { cwd: Some(root.clone()), ..LocalFsConfig::default() };
        let fs = LocalFileSystem::with_fallbacks(config, without).unwrap();
        disk.fs = fs.observed(move |step| observer(&root, step));
        disk
    }

    pub(crate) fn block_size(mut self, bytes: usize) -> Self {
        self.fs = self.fs.with_block_size(bytes);
        self
    }

    /// The real path of the test's folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The absolute path as messages show it.
    pub(crate) fn shown(&self, path: &str) -> String {
        self.at(path).to_str().unwrap().to_owned()
    }

    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    pub(crate) fn folder(&self, path: &str) -> &Self {
        fs::create_dir_all(self.at(path)).unwrap();
        self
    }

    pub(crate) fn link(&self, path: &str, destination: impl AsRef<Path>) -> &Self {
        symlink(destination, self.at(path)).unwrap();
        self
    }

    pub(crate) fn mode(&self, path: &str, mode: u32) -> &Self {
        fs::set_permissions(self.at(path), fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.at(path)).unwrap()
    }

    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    /// Everything below the test's folder, sorted; nothing may be left behind unnoticed.
    pub(crate) fn tree(&self) -> Vec<String> {
        fn walk(at: &Path, root: &Path, found: &mut Vec<String>) {
            for child in fs::read_dir(at).unwrap() {
                let child = child.unwrap();
                let path = child.path();
                found.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
                if child.file_type().unwrap().is_dir() {
                    walk(&path, root, found);
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.root, &self.root, &mut found);
        found.sort();
        found
    }

    pub(crate) async fn target(&self, path: &str) -> FsTarget {
        self.fs.resolve(path, None, &FsCall::new()).await.unwrap()
    }

    pub(crate) async fn key(&self, path: &str) -> PathBuf {
        key_of(&self.target(path).await)
    }

    pub(crate) async fn read(&self, path: &str) -> Result<TextRead, FsError> {
        self.fs.read_text(&self.target(path).await, &FsCall::new()).await
    }

    pub(crate) async fn version(&self, path: &str) -> FsVersion {
        self.read(path).await.unwrap().version
    }

    pub(crate) async fn stat_version(&self, path: &str) -> FsVersion {
        self.fs.stat(&self.target(path).await, &FsCall::new()).await.unwrap().unwrap().version
    }

    pub(crate) async fn write(&self, path: &str, content: &str) -> Result<WriteOutcome, FsError> {
        self.write_if(path, content, None).await
    }

    pub(crate) async fn write_if(
        &self,
        path: &str,
        content: &str,
        guard: Option<WriteGuard>,
    ) -> Result<WriteOutcome, FsError> {
        self.fs.write_text(&self.target(path).await, content, guard.as_ref(), &FsCall::new()).await
    }

    pub(crate) async fn edit(&self, path: &str, old: &str, new: &str) -> Result<EditOutcome, FsError> {
        self.edit_if(path, old, new, None).await
    }

    pub(crate) async fn edit_if(
        &self,
        path: &str,
        old: &str,
        new: &str,
        guard: Option<&FsVersion>,
    ) -> Result<EditOutcome, FsError> {
        let edit = LiteralEdit::new(old, new, false).unwrap();
        self.fs.edit_text(&self.target(path).await, &edit, guard, &FsCall::new()).await
    }

    pub(crate) async fn stream(&self, path: &str) -> Result<(String, FsVersion), FsError> {
        drain(self.fs.stream_text(&self.target(path).await, None, &FsCall::new()).await?).await
    }

    /// Lets permissions be changed back, so that the folder can be removed.
    pub(crate) fn keep_removable(&self, path: &str) {
        self.mode(path, 0o755);
        assert!(self.folder.path().exists());
    }
}

pub(crate) async fn drain(stream: TextStream) -> Result<(String, FsVersion), FsError> {
    let TextStream::Open(mut chunks) = stream else { panic!("changed") };
    let mut all = String::new();
    loop {
        match chunks.next().await? {
            TextChunk::Text { text, .. } => all.push_str(text),
            TextChunk::End(version) => return Ok((all, version)),
        }
    }
}

pub(crate) fn key_of(target: &FsTarget) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(target.key().as_bytes()))
}

/// Fails unless `result` is this error with this very sentence.
#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(
    result: Result<T, FsError>,
    code: FsErrorCode,
    message: impl AsRef<str>,
) {
    let error = result.unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), (code, message.as_ref()));
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Was this process started by [`rerun`]?
pub(crate) fn is_rerun() -> bool {
    std::env::var_os(RERUN).is_some()
}

const FALLBACKS: &str = "DSH_TEST_FALLBACKS";

/// What the tests of this run go without: some of the letters of [`rerun_without`].
pub(crate) fn fallbacks() -> Fallbacks {
    let letters = std::env::var(FALLBACKS).unwrap_or_default();
    let without = |letter| letters.contains(letter);
    Fallbacks {
        exchange: without('x'),
        tmpfile: without('t'),
        no_replace: without('n'),
        hard_links: without('h'),
        openat2: false,
    }
}

/// Runs the tests of these files once more without what the letters stand for: e`x`change, `t`mpfile,
/// `n`o-replace, `h`ard links.
pub(crate) fn rerun_without(letters: &str, files: &[&str]) {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let output = command.args(files).env(FALLBACKS, letters).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "without {letters}: {said}");
    assert!(!said.contains(" 0 passed"), "{said}");
}

const RERUN: &str = "DSH_RERUN";

/// Runs a test of this binary once more, as another user or in another environment: `prefix` is a command that runs
/// its arguments. The test asks [`is_rerun`] which part of it is meant.
pub(crate) fn rerun(prefix: &[&str], test: &str, variables: &[(&str, &str)]) {
    let binary = std::env::current_exe().unwrap();
    let mut command = std::process::Command::new(prefix[0]);
    command.args(&prefix[1..]).arg(binary).args(["--exact", test, "--nocapture"]);
    command.env(RERUN, "1").envs(variables.iter().copied());
    let output = command.output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}
