//! A backend of somebody else's: it wraps another one and counts what goes through. That it still keeps the contract
//! is shown by one line, at the end: `cargo test -p dsh-fs-check --example third_party`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{
    BytesRead, EditOutcome, FileSystem, FsCall, FsDirEntry, FsError, FsInfo, FsPathInfo, FsTarget, FsVersion,
    MemoryFileSystem, ReadRules, ResumePoint, SandboxMode, TextRead, TextStream, WriteGuard, WriteOutcome,
};
use dsh_fs_check::async_trait;

/// Counts the mutations that succeeded.
struct Counting<F> {
    inner: Arc<F>,
    mutations: AtomicUsize,
}

impl<F> Counting<F> {
    fn new(inner: Arc<F>) -> Self {
        Self { inner, mutations: AtomicUsize::new(0) }
    }

    fn mutations(&self) -> usize {
        self.mutations.load(Ordering::Relaxed)
    }

    fn count<T>(&self, outcome: Result<T, FsError>) -> Result<T, FsError> {
        if outcome.is_ok() {
            self.mutations.fetch_add(1, Ordering::Relaxed);
        }
        outcome
    }
}

// Every method is forwarded: one that the contract gets later is an error here, not a hole. Targets are those of the
// inner backend, which alone understands them.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<F: FileSystem> FileSystem for Counting<F> {
    async fn resolve(&self, path: &str, cwd: Option<&Path>, call: &FsCall) -> Result<FsTarget, FsError> {
        self.inner.resolve(path, cwd, call).await
    }

    fn process_path(&self, target: &FsTarget) -> Option<PathBuf> {
        self.inner.process_path(target)
    }

    fn file_url(&self, target: &FsTarget) -> String {
        self.inner.file_url(target)
    }

    fn contains(&self, parent: &FsTarget, child: &FsTarget) -> bool {
        self.inner.contains(parent, child)
    }

    async fn stat(&self, target: &FsTarget, call: &FsCall) -> Result<Option<FsInfo>, FsError> {
        self.inner.stat(target, call).await
    }

    async fn lstat(
        &self,
        path: &str,
        cwd: Option<&Path>,
        call: &FsCall,
    ) -> Result<Option<FsPathInfo>, FsError> {
        self.inner.lstat(path, cwd, call).await
    }

    async fn read_text(&self, target: &FsTarget, call: &FsCall) -> Result<TextRead, FsError> {
        self.inner.read_text(target, call).await
    }

    async fn stream_text(
        &self,
        target: &FsTarget,
        resume: Option<&ResumePoint>,
        call: &FsCall,
    ) -> Result<TextStream, FsError> {
        self.inner.stream_text(target, resume, call).await
    }

    async fn read_bytes(&self, target: &FsTarget, max: u64, call: &FsCall) -> Result<BytesRead, FsError> {
        self.inner.read_bytes(target, max, call).await
    }

    async fn list_dir(&self, target: &FsTarget, call: &FsCall) -> Result<Vec<FsDirEntry>, FsError> {
        self.inner.list_dir(target, call).await
    }

    async fn write_text(
        &self,
        target: &FsTarget,
        content: &str,
        guard: Option<&WriteGuard>,
        call: &FsCall,
    ) -> Result<WriteOutcome, FsError> {
        self.count(self.inner.write_text(target, content, guard, call).await)
    }

    async fn edit_text(
        &self,
        target: &FsTarget,
        edit: &LiteralEdit,
        guard: Option<&FsVersion>,
        call: &FsCall,
    ) -> Result<EditOutcome, FsError> {
        self.count(self.inner.edit_text(target, edit, guard, call).await)
    }

    fn sandbox_mode(&self) -> Option<SandboxMode> {
        self.inner.sandbox_mode()
    }

    fn read_rules(&self) -> Option<Arc<dyn ReadRules>> {
        self.inner.read_rules()
    }
}

#[expect(clippy::print_stdout, reason = "it is an example")]
#[tokio::main]
async fn main() -> Result<(), FsError> {
    let fs = Counting::new(Arc::new(MemoryFileSystem::new()));
    let call = FsCall::new();
    let notes = fs.resolve("/notes.md", None, &call).await?;
    let written = fs.write_text(&notes, "- tea\n", Some(&WriteGuard::CreateIfAbsent), &call).await?;
    fs.write_text(&notes, "- milk\n", Some(&WriteGuard::ReplaceIfVersion(written.version)), &call).await?;
    println!("{} mutations", fs.mutations());
    Ok(())
}

#[cfg(test)]
mod conformance {
    use dsh_fs_check::{Capability, Ground};

    use super::{Arc, Counting, FileSystem, MemoryFileSystem, async_trait};

    struct CountingGround {
        fs: Arc<Counting<MemoryFileSystem>>,
    }

    #[async_trait]
    impl Ground for CountingGround {
        fn capabilities() -> &'static [Capability] {
            &[Capability::ContentGuards, Capability::LooksAbove]
        }

        async fn lay() -> Self {
            Self { fs: Arc::new(Counting::new(Arc::default())) }
        }

        fn fs(&self) -> Arc<dyn FileSystem> {
            self.fs.clone()
        }

        fn root(&self) -> String {
            "/".to_owned()
        }

        // The hands of another program go around what is tested.
        async fn put(&self, name: &str, bytes: &[u8]) {
            self.fs.inner.put(name, bytes);
        }

        async fn bytes(&self, name: &str) -> Option<Vec<u8>> {
            self.fs.inner.bytes(name).map(|bytes| bytes.to_vec())
        }

        async fn remove(&self, name: &str) {
            self.fs.inner.remove(name);
        }
    }

    dsh_fs_check::conformance!(CountingGround);
}
