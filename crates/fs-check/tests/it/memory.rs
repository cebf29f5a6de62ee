//! The reference backend keeps the whole contract.

use std::sync::Arc;

use dsh_fs::{FileSystem, MemoryFileSystem};
use dsh_fs_check::{Capability, Ground, Unsupported, async_trait};

/// Files in memory: no links, no metadata, no processes.
struct MemoryGround(Arc<MemoryFileSystem>);

fn path(name: &str) -> String {
    format!("/w/{name}")
}

#[async_trait]
impl Ground for MemoryGround {
    fn capabilities() -> &'static [Capability] {
        &[Capability::EmptyFolders, Capability::ContentGuards, Capability::LooksAbove]
    }

    async fn lay() -> Self {
        let fs = MemoryFileSystem::new();
        fs.put_folder("/w");
        Self(Arc::new(fs))
    }

    fn fs(&self) -> Arc<dyn FileSystem> {
        self.0.clone()
    }

    fn root(&self) -> String {
        "/w".to_owned()
    }

    async fn put(&self, name: &str, bytes: &[u8]) {
        self.0.put(&path(name), bytes);
    }

    async fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        self.0.bytes(&path(name)).map(|bytes| bytes.to_vec())
    }

    async fn remove(&self, name: &str) {
        assert!(self.0.remove(&path(name)), "{name:?} is not there");
    }

    async fn folder(&self, name: &str) -> Result<(), Unsupported> {
        self.0.put_folder(&path(name));
        Ok(())
    }
}

dsh_fs_check::conformance!(MemoryGround);
