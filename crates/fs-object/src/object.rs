//! [`ObjectFileSystem`]: the contract on an object store.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{
    BytesRead, EditOutcome, FileSystem, FsCall, FsDirEntry, FsError, FsInfo, FsKind, FsOp, FsPathInfo,
    FsPathKind, FsTarget, FsVersion, ReadRules, ResumePoint, SandboxMode, TextRead, TextStream, Turns,
    WriteGuard, WriteOutcome,
};
use object_store::ObjectStore;
use object_store::path::Path as Key;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::address::{self, Address};
use crate::config::{ConfigError, ObjectFsConfig, without_secrets};
use crate::connect::connect;
use crate::edit::Edit;
use crate::error::told;
use crate::folders::Seen;
use crate::store::{Store, unless_cancelled};
use crate::write::Write;
use crate::{listing, read, stream};

/// Files as objects of S3, Azure Blob Storage, Google Cloud Storage, or of what speaks like them.
///
/// Needs a tokio runtime. The first call of [`resolve`](FileSystem::resolve) probes the store; no target comes from one that
/// does not keep the conditions of writes.
pub struct ObjectFileSystem {
    store: Arc<Store>,
    probed: OnceCell<()>,
}

impl ObjectFileSystem {
    /// The workspace of these settings, with the credentials of the environment. Sends nothing yet.
    pub fn new(config: &ObjectFsConfig) -> Result<Self, ConfigError> {
        let (objects, prefix) = connect(config)?;
        Ok(Self::over(objects, prefix, config))
    }

    /// The same over a store that is already there, at a prefix of it. Of the settings, those of the client have no effect.
    pub fn over(objects: Arc<dyn ObjectStore>, prefix: Key, config: &ObjectFsConfig) -> Self {
        let store = Store {
            objects,
            address: Address::new(prefix, &without_secrets(&config.url)),
            seen: Seen::default(),
            turns: Turns::default(),
            diff_basis_max: config.diff_basis_max_bytes,
            mutation_max: config.max_edit_bytes,
        };
        let probed = if config.probe { OnceCell::new() } else { OnceCell::new_with(Some(())) };
        Self { store: Arc::new(store), probed }
    }

    /// Tries out once whether the store keeps the conditions of writes; an error says what it does not keep, or why that
    /// could not be tried.
    pub async fn probe(&self) -> Result<(), FsError> {
        self.probed.get_or_try_init(|| self.store.probe()).await.copied()
    }

    async fn resolved(&self, path: &str, cwd: Option<&Path>, op: FsOp) -> Result<FsTarget, FsError> {
        let absolute = address::absolute(path, cwd)?;
        self.probe().await?;
        // Nothing else costs a request: what lies below a file is absent, and is refused when it is written.
        if path.ends_with('/') && absolute != "/" {
            let is_folder = self.store.is_folder(&absolute).await;
            if !is_folder.map_err(|error| told(op, &absolute, error))? {
                return Err(FsError::slash_names_folder(&absolute));
            }
        }
        Ok(address::target(&absolute))
    }
}

/// Makes a mutation that goes on to its end when its caller has gone, unless it has not yet begun to publish.
async fn detached<T, F>(
    call: &FsCall,
    op: FsOp,
    display: &str,
    work: impl FnOnce(CancellationToken) -> F,
) -> Result<T, FsError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, FsError>> + Send + 'static,
{
    call.check(op)?;
    let cancel = call.cancel.child_token();
    let _dropped = cancel.clone().drop_guard();
    let ended = tokio::spawn(work(cancel)).await;
    ended.unwrap_or_else(|error| {
        Err(FsError::io(op, display, "the change ended unexpectedly").with_source(error))
    })
}

#[async_trait]
impl FileSystem for ObjectFileSystem {
    async fn resolve(&self, path: &str, cwd: Option<&Path>, call: &FsCall) -> Result<FsTarget, FsError> {
        unless_cancelled(call, FsOp::Resolve, self.resolved(path, cwd, FsOp::Resolve)).await
    }

    /// No process can open an object.
    fn process_path(&self, _target: &FsTarget) -> Option<PathBuf> {
        None
    }

    /// The URL of the workspace and the path.
    fn file_url(&self, target: &FsTarget) -> String {
        self.store.address.url(address::path(target))
    }

    fn contains(&self, parent: &FsTarget, child: &FsTarget) -> bool {
        address::contains(address::path(parent), address::path(child))
    }

    async fn stat(&self, target: &FsTarget, call: &FsCall) -> Result<Option<FsInfo>, FsError> {
        unless_cancelled(call, FsOp::Stat, listing::stat(&self.store, target, FsOp::Stat)).await
    }

    async fn lstat(
        &self,
        path: &str,
        cwd: Option<&Path>,
        call: &FsCall,
    ) -> Result<Option<FsPathInfo>, FsError> {
        let look = async {
            let target = self.resolved(path, cwd, FsOp::Lstat).await?;
            listing::stat(&self.store, &target, FsOp::Lstat).await
        };
        let found = unless_cancelled(call, FsOp::Lstat, look).await?;
        Ok(found.map(|FsInfo { version, kind, size }| FsPathInfo {
            version,
            kind: if kind == FsKind::File { FsPathKind::File } else { FsPathKind::Directory },
            size,
        }))
    }

    async fn read_text(&self, target: &FsTarget, call: &FsCall) -> Result<TextRead, FsError> {
        unless_cancelled(call, FsOp::Read, read::text(&self.store, target)).await
    }

    async fn stream_text(
        &self,
        target: &FsTarget,
        resume: Option<&ResumePoint>,
        call: &FsCall,
    ) -> Result<TextStream, FsError> {
        let open = async {
            match resume {
                Some(from) => stream::resume(&self.store, target, from, call).await,
                None => stream::open(&self.store, target, None, call).await,
            }
        };
        unless_cancelled(call, FsOp::Read, open).await
    }

    async fn read_bytes(&self, target: &FsTarget, max: u64, call: &FsCall) -> Result<BytesRead, FsError> {
        unless_cancelled(call, FsOp::Read, read::bytes(&self.store, target, max)).await
    }

    async fn list_dir(&self, target: &FsTarget, call: &FsCall) -> Result<Vec<FsDirEntry>, FsError> {
        unless_cancelled(call, FsOp::List, listing::list(&self.store, target)).await
    }

    async fn write_text(
        &self,
        target: &FsTarget,
        content: &str,
        guard: Option<&WriteGuard>,
        call: &FsCall,
    ) -> Result<WriteOutcome, FsError> {
        let (store, target, guard) = (self.store.clone(), target.clone(), guard.cloned());
        let display = target.display_path().to_owned();
        detached(call, FsOp::Write, &display, |cancel| {
            let write = Write { target, content: content.into(), guard, cancel };
            async move { write.run(&store).await }
        })
        .await
    }

    async fn edit_text(
        &self,
        target: &FsTarget,
        edit: &LiteralEdit,
        guard: Option<&FsVersion>,
        call: &FsCall,
    ) -> Result<EditOutcome, FsError> {
        let (store, target, guard) = (self.store.clone(), target.clone(), guard.cloned());
        let display = target.display_path().to_owned();
        detached(call, FsOp::Edit, &display, |cancel| {
            let edit = Edit { target, change: edit.clone(), guard, cancel };
            async move { edit.run(&store).await }
        })
        .await
    }

    fn sandbox_mode(&self) -> Option<SandboxMode> {
        None
    }

    fn read_rules(&self) -> Option<Arc<dyn ReadRules>> {
        None
    }
}

impl fmt::Debug for ObjectFileSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectFileSystem").field("address", &self.store.address).finish_non_exhaustive()
    }
}
