//! [`LocalFileSystem`]: the contract on the host disk. Each method is one way to one file of this crate.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{
    BytesRead, EditOutcome, FileSystem, FsCall, FsDirEntry, FsError, FsInfo, FsOp, FsPathInfo, FsTarget,
    FsVersion, ReadRules, ResumePoint, SandboxMode, TextRead, TextStream, WriteGuard, WriteOutcome,
};
use rustix::fs::{AtFlags, CWD, FileType, statat};

use crate::edit::Edit;
use crate::hop::blocking;
use crate::publish::Manner;
use crate::rooted::Roots;
use crate::scan::{self, BLOCK, LONG_BLOCK, Limits};
use crate::steps::{Step, Steps};
use crate::stream::Chunks;
use crate::work::Work;
use crate::write::Write;
use crate::{ConfigError, Fallbacks, LocalFsConfig, address, list, lock, open, resolve, stat};

/// The files of this machine. See the [crate documentation](crate) for what it promises beyond the contract.
///
/// Cheap to use from many tasks at once. What blocks is done on tokio's threads for that, one hop an operation; outside a
/// tokio runtime, and within [`on_the_spot`](crate::on_the_spot), it is done where it is asked for.
#[derive(Debug)]
pub struct LocalFileSystem {
    cwd: PathBuf,
    limits: Limits,
    basis_max: u64,
    manner: Manner,
    roots: Roots,
}

impl LocalFileSystem {
    /// Fails when a setting is out of range, when `cwd` is not a folder, or when the working directory of the process is
    /// needed and gone.
    pub fn new(config: LocalFsConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let cwd = match config.cwd {
            Some(cwd) if cwd.is_absolute() => cwd,
            Some(cwd) => working_directory()?.join(cwd),
            None => working_directory()?,
        };
        let folder = statat(CWD, &cwd, AtFlags::empty())
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
        if !folder {
            return Err(ConfigError::NoFolder(cwd));
        }
        let basis_max = config.diff_basis_max_bytes;
        let manner = Manner {
            block: BLOCK,
            durability: config.durability,
            without: Fallbacks::default(),
            steps: Steps::default(),
        };
        Ok(Self {
            cwd,
            limits: Limits { block: BLOCK, long_block: LONG_BLOCK, digest_refused: basis_max },
            basis_max,
            manner,
            roots: Roots::default(),
        })
    }

    /// The same without what the file system may be able to do, so that tests and proofs can go the ways of others.
    #[doc(hidden)]
    pub fn with_fallbacks(config: LocalFsConfig, without: Fallbacks) -> Result<Self, ConfigError> {
        let mut fs = Self::new(config)?;
        fs.manner.without = without;
        fs.roots.without_openat2 = without.openat2;
        Ok(fs)
    }

    /// Calls `observer` in each publication when a step is over, on the thread that publishes, so that tests and
    /// proofs can act between two steps.
    #[doc(hidden)]
    #[must_use]
    pub fn observed(mut self, observer: impl Fn(Step) + Send + Sync + 'static) -> Self {
        self.manner.steps = Steps::told_to(observer);
        self
    }

    /// Reads `bytes` at a time instead of 1 MiB, so that tests can put a block's border anywhere.
    #[doc(hidden)]
    #[must_use]
    pub fn with_block_size(mut self, bytes: usize) -> Self {
        self.limits.block = bytes.max(1);
        self.limits.long_block = bytes.max(1);
        self.manner.block = bytes.max(1);
        self
    }

    /// The folder where relative paths of a call start.
    fn base(&self, cwd: Option<&Path>) -> PathBuf {
        cwd.map_or_else(|| self.cwd.clone(), |cwd| self.cwd.join(cwd))
    }

    /// Does an operation within the bounds of its call.
    async fn blocking<T: Send + 'static>(
        &self,
        op: FsOp,
        display: &str,
        call: &FsCall,
        operation: impl FnOnce(&Work) -> Result<T, FsError> + Send + 'static,
    ) -> Result<T, FsError> {
        let (roots, beneath) = (self.roots.clone(), call.beneath.clone());
        blocking(op, display, call, move |work| {
            operation(&work.starting(roots.start(beneath.as_ref(), work)?))
        })
        .await
    }
}

#[async_trait]
impl FileSystem for LocalFileSystem {
    async fn resolve(&self, path: &str, cwd: Option<&Path>, call: &FsCall) -> Result<FsTarget, FsError> {
        call.check(FsOp::Resolve)?;
        let base = self.base(cwd);
        if !self.manner.without.openat2
            && let Some(target) = resolve::from_memory(path, &base)
        {
            return Ok(target);
        }
        let written = path.to_owned();
        blocking(FsOp::Resolve, path, call, move |work| {
            resolve::resolve(&resolve::name(&written, &base)?, work)
        })
        .await
    }

    fn process_path(&self, target: &FsTarget) -> Option<PathBuf> {
        Some(address::path(target))
    }

    fn file_url(&self, target: &FsTarget) -> String {
        address::file_url(target)
    }

    fn contains(&self, parent: &FsTarget, child: &FsTarget) -> bool {
        address::contains(parent, child)
    }

    async fn stat(&self, target: &FsTarget, call: &FsCall) -> Result<Option<FsInfo>, FsError> {
        let file = target.clone();
        self.blocking(FsOp::Stat, target.display_path(), call, move |work| stat::stat(&file, work)).await
    }

    async fn lstat(
        &self,
        path: &str,
        cwd: Option<&Path>,
        call: &FsCall,
    ) -> Result<Option<FsPathInfo>, FsError> {
        let (base, written) = (self.base(cwd), path.to_owned());
        self.blocking(FsOp::Lstat, path, call, move |work| {
            let named = resolve::name(&written, &base)?;
            stat::lstat(&named, &work.named(&named.display))
        })
        .await
    }

    async fn read_text(&self, target: &FsTarget, call: &FsCall) -> Result<TextRead, FsError> {
        let (file, limits) = (target.clone(), self.limits);
        self.blocking(FsOp::Read, target.display_path(), call, move |work| {
            scan::read_text(&open::for_reading(&file, work)?, limits, work)
        })
        .await
    }

    async fn stream_text(
        &self,
        target: &FsTarget,
        resume: Option<&ResumePoint>,
        call: &FsCall,
    ) -> Result<TextStream, FsError> {
        let (file, limits, resume) = (target.clone(), self.limits, resume.cloned());
        let display = target.display_path();
        let stream = self.blocking(FsOp::Read, display, call, move |work| {
            let opened = open::for_reading(&file, work)?;
            match &resume {
                Some(from) => Chunks::resume(opened, from, limits, work),
                None => Ok(Some(Chunks::open(opened, limits, work))),
            }
        });
        Ok(match stream.await? {
            Some(chunks) => TextStream::Open(Box::new(chunks.cancelled_by(call))),
            None => TextStream::Changed,
        })
    }

    async fn read_bytes(&self, target: &FsTarget, max: u64, call: &FsCall) -> Result<BytesRead, FsError> {
        let (file, block) = (target.clone(), self.limits.block);
        self.blocking(FsOp::Read, target.display_path(), call, move |work| {
            scan::read_bytes(&open::for_reading(&file, work)?, max, block, work)
        })
        .await
    }

    async fn list_dir(&self, target: &FsTarget, call: &FsCall) -> Result<Vec<FsDirEntry>, FsError> {
        let folder = target.clone();
        self.blocking(FsOp::List, target.display_path(), call, move |work| list::list(&folder, work)).await
    }

    async fn write_text(
        &self,
        target: &FsTarget,
        content: &str,
        guard: Option<&WriteGuard>,
        call: &FsCall,
    ) -> Result<WriteOutcome, FsError> {
        let turn = lock::for_mutation(target, FsOp::Write, call).await?;
        let write = Write {
            content: content.into(),
            guard: guard.cloned(),
            basis_max: self.basis_max,
            manner: self.manner.clone(),
        };
        let file = target.clone();
        self.blocking(FsOp::Write, target.display_path(), call, move |work| {
            // Held where the work is done, so that it is held to the end even if the caller goes away.
            let _turn = turn;
            write.run(&file, work)
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
        let turn = lock::for_mutation(target, FsOp::Edit, call).await?;
        let edit = Edit { request: edit.clone(), guard: guard.cloned(), manner: self.manner.clone() };
        let file = target.clone();
        self.blocking(FsOp::Edit, target.display_path(), call, move |work| {
            let _turn = turn;
            edit.run(&file, work)
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

fn working_directory() -> Result<PathBuf, ConfigError> {
    let path =
        rustix::process::getcwd(Vec::new()).map_err(|errno| ConfigError::NoWorkingDirectory(errno.into()))?;
    Ok(PathBuf::from(OsStr::from_bytes(path.to_bytes())))
}
