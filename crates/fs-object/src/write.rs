//! Creating a file, or replacing it whole.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use dsh_fs::line_endings::{Dress, to_lf};
use dsh_fs::{FsError, FsOp, FsTarget, FsVersion, WriteGuard, WriteOperation, WriteOutcome, text};
use object_store::{GetOptions, GetResult};
use tokio_util::sync::CancellationToken;

use crate::address;
use crate::again::Again;
use crate::error::{told, too_large_to};
use crate::publish::{Before, Now, Published};
use crate::store::{Store, unless};
use crate::version;

/// A whole-file write as it was asked for.
pub(crate) struct Write {
    pub(crate) target: FsTarget,
    pub(crate) content: Arc<str>,
    pub(crate) guard: Option<WriteGuard>,
    pub(crate) cancel: CancellationToken,
}

/// What a write made.
struct Made {
    operation: WriteOperation,
    version: FsVersion,
    before: Option<Arc<str>>,
}

impl Write {
    pub(crate) async fn run(self, store: &Store) -> Result<WriteOutcome, FsError> {
        let (display, size) = (self.target.display_path(), self.content.len() as u64);
        if size > store.mutation_max {
            return Err(too_large_to(FsOp::Write, display, size, store.mutation_max));
        }
        let path = address::path(&self.target);
        let _turn =
            unless(&self.cancel, FsOp::Write, async { Ok(store.turns.of(self.target.key()).await) }).await?;
        let mut again = Again::default();
        loop {
            if let Some(Made { operation, version, before }) = self.attempt(store, path).await? {
                let after = match to_lf(&self.content) {
                    Cow::Borrowed(_) => self.content.clone(),
                    Cow::Owned(text) => text.into(),
                };
                return Ok(WriteOutcome { operation, version, before, after, durable: true });
            }
            again.wait(&self.cancel, FsOp::Write, display).await?;
        }
    }

    /// `None`: somebody was faster, and the write is to be tried on what is there now.
    async fn attempt(&self, store: &Store, path: &str) -> Result<Option<Made>, FsError> {
        let found = match self.guard {
            // The store itself will tell whether something is there.
            Some(WriteGuard::CreateIfAbsent) => None,
            _ => unless(&self.cancel, FsOp::Write, self.find(store, path)).await?,
        };
        match found {
            Some(found) => self.replace(store, path, found).await,
            None => self.create(store, path).await,
        }
    }

    async fn find(&self, store: &Store, path: &str) -> Result<Option<GetResult>, FsError> {
        let display = self.target.display_path();
        let failed = |error| told(FsOp::Write, display, error);
        let found = store.find(path, GetOptions::default()).await.map_err(failed)?;
        if found.is_none() && matches!(self.guard, Some(WriteGuard::ReplaceIfVersion(_))) {
            let is_folder = store.is_folder(path).await.map_err(failed)?;
            return Err(if is_folder {
                FsError::not_regular_file(FsOp::Write, display)
            } else {
                FsError::gone(display)
            });
        }
        Ok(found)
    }

    async fn create(&self, store: &Store, path: &str) -> Result<Option<Made>, FsError> {
        unless(&self.cancel, FsOp::Write, store.must_be_free(path, FsOp::Write)).await?;
        self.check()?;
        let bytes = Bytes::copy_from_slice(self.content.as_bytes());
        match store.publish(path, bytes, None, FsOp::Write).await? {
            Published::As(version) => {
                Ok(Some(Made { operation: WriteOperation::Create, version, before: None }))
            }
            Published::Late(_) if self.guard.is_some() => Err(FsError::exists(self.target.display_path())),
            Published::Late(_) => Ok(None),
        }
    }

    async fn replace(&self, store: &Store, path: &str, found: GetResult) -> Result<Option<Made>, FsError> {
        let display = self.target.display_path();
        if let Some(WriteGuard::ReplaceIfVersion(version)) = &self.guard
            && !version::holds(version, &found.meta)
        {
            return Err(FsError::changed(FsOp::Write, display));
        }
        let old = Before { meta: found.meta.clone(), attributes: found.attributes.clone() };
        let largest = old.meta.size.max(self.content.len() as u64);
        let bytes = if largest < store.diff_basis_max {
            let read = async { found.bytes().await.map_err(|error| told(FsOp::Write, display, error)) };
            Some(unless(&self.cancel, FsOp::Write, read).await?)
        } else {
            None
        };
        let basis = bytes.as_deref().and_then(|bytes| Some((bytes, text::decode(bytes).ok()?)));
        let dress = basis.map_or_else(Dress::default, |(bytes, text)| Dress::of(bytes, text));
        let before = basis.map(|(_, text)| Arc::from(to_lf(text)));
        let new = Bytes::from(dress.put_on(&self.content).into_owned());
        self.check()?;
        match (store.publish(path, new, Some(&old), FsOp::Write).await?, &self.guard) {
            (Published::As(version), _) => {
                Ok(Some(Made { operation: WriteOperation::Update, version, before }))
            }
            (Published::Late(_), None) => Ok(None),
            (Published::Late(Now::Nothing), Some(_)) => Err(FsError::gone(display)),
            (Published::Late(Now::Something), Some(_)) => Err(FsError::changed(FsOp::Write, display)),
        }
    }

    fn check(&self) -> Result<(), FsError> {
        if self.cancel.is_cancelled() { Err(FsError::aborted(FsOp::Write)) } else { Ok(()) }
    }
}
