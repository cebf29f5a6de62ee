//! A backend in memory that notes beneath which folder it is told to stay, and says some number of times that things moved.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{
    BytesRead, EditOutcome, FileSystem, FsCall, FsDirEntry, FsError, FsErrorCode, FsInfo, FsPathInfo,
    FsTarget, FsVersion, MemoryFileSystem, ReadRules, ResumePoint, SandboxMode, TextRead, TextStream,
    WriteGuard, WriteOutcome, async_trait,
};

pub(crate) struct Told {
    pub(crate) files: MemoryFileSystem,
    /// How often it will still say that something moved.
    pub(crate) moves: AtomicUsize,
    beneath: Mutex<Vec<Option<PathBuf>>>,
}

impl Told {
    pub(crate) fn new(files: MemoryFileSystem, moves: usize) -> Self {
        Self { files, moves: moves.into(), beneath: Mutex::default() }
    }

    /// The folders that operations were told since the last time this was asked.
    pub(crate) fn beneath(&self) -> Vec<Option<PathBuf>> {
        std::mem::take(&mut self.beneath.lock().unwrap())
    }

    fn hear(&self, call: &FsCall) -> Result<(), FsError> {
        self.beneath.lock().unwrap().push(call.beneath.as_deref().map(Path::to_owned));
        match self.moves.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
            Ok(_) => Err(FsError::new(FsErrorCode::SandboxDenied, "moved")),
            Err(_) => Ok(()),
        }
    }
}

#[async_trait]
impl FileSystem for Told {
    async fn resolve(&self, path: &str, cwd: Option<&Path>, call: &FsCall) -> Result<FsTarget, FsError> {
        self.files.resolve(path, cwd, call).await
    }

    fn process_path(&self, target: &FsTarget) -> Option<PathBuf> {
        Some(target.display_path().into())
    }

    fn file_url(&self, target: &FsTarget) -> String {
        self.files.file_url(target)
    }

    fn contains(&self, parent: &FsTarget, child: &FsTarget) -> bool {
        self.files.contains(parent, child)
    }

    async fn stat(&self, target: &FsTarget, call: &FsCall) -> Result<Option<FsInfo>, FsError> {
        self.hear(call)?;
        self.files.stat(target, call).await
    }

    async fn lstat(
        &self,
        path: &str,
        cwd: Option<&Path>,
        call: &FsCall,
    ) -> Result<Option<FsPathInfo>, FsError> {
        self.hear(call)?;
        self.files.lstat(path, cwd, call).await
    }

    async fn read_text(&self, target: &FsTarget, call: &FsCall) -> Result<TextRead, FsError> {
        self.hear(call)?;
        self.files.read_text(target, call).await
    }

    async fn stream_text(
        &self,
        target: &FsTarget,
        resume: Option<&ResumePoint>,
        call: &FsCall,
    ) -> Result<TextStream, FsError> {
        self.hear(call)?;
        self.files.stream_text(target, resume, call).await
    }

    async fn read_bytes(&self, target: &FsTarget, max: u64, call: &FsCall) -> Result<BytesRead, FsError> {
        self.hear(call)?;
        self.files.read_bytes(target, max, call).await
    }

    async fn list_dir(&self, target: &FsTarget, call: &FsCall) -> Result<Vec<FsDirEntry>, FsError> {
        // The fence's own look at what Git runs is not what is asked for.
        if !target.display_path().ends_with("/.git") {
            self.hear(call)?;
        }
        self.files.list_dir(target, call).await
    }

    async fn write_text(
        &self,
        target: &FsTarget,
        content: &str,
        guard: Option<&WriteGuard>,
        call: &FsCall,
    ) -> Result<WriteOutcome, FsError> {
        self.hear(call)?;
        self.files.write_text(target, content, guard, call).await
    }

    async fn edit_text(
        &self,
        target: &FsTarget,
        edit: &LiteralEdit,
        guard: Option<&FsVersion>,
        call: &FsCall,
    ) -> Result<EditOutcome, FsError> {
        self.hear(call)?;
        self.files.edit_text(target, edit, guard, call).await
    }

    fn sandbox_mode(&self) -> Option<SandboxMode> {
        None
    }

    fn read_rules(&self) -> Option<std::sync::Arc<dyn ReadRules>> {
        None
    }
}
