//! Changing a part of a file: read, match, put under the condition that the object is still the one that was read.

use bytes::Bytes;
use dsh_fs::literal_edit::{LiteralEdit, Piece};
use dsh_fs::{EditOutcome, FsError, FsErrorCode, FsOp, FsTarget, FsVersion, text};
use tokio_util::sync::CancellationToken;

use crate::address;
use crate::again::Again;
use crate::error::{told, too_large_to};
use crate::publish::{Before, Published};
use crate::store::{Store, unless};
use crate::version;

/// An edit as it was asked for.
pub(crate) struct Edit {
    pub(crate) target: FsTarget,
    pub(crate) change: LiteralEdit,
    pub(crate) guard: Option<FsVersion>,
    pub(crate) cancel: CancellationToken,
}

impl Edit {
    pub(crate) async fn run(self, store: &Store) -> Result<EditOutcome, FsError> {
        let path = address::path(&self.target);
        let _turn =
            unless(&self.cancel, FsOp::Edit, async { Ok(store.turns.of(self.target.key()).await) }).await?;
        let mut again = Again::default();
        loop {
            if let Some(outcome) = self.attempt(store, path).await? {
                return Ok(outcome);
            }
            again.wait(&self.cancel, FsOp::Edit, self.target.display_path()).await?;
        }
    }

    /// `None`: somebody was faster, and the edit is to be tried on what is there now.
    async fn attempt(&self, store: &Store, path: &str) -> Result<Option<EditOutcome>, FsError> {
        let display = self.target.display_path();
        let (before, old) = unless(&self.cancel, FsOp::Edit, self.read(store)).await?;
        let text = text::decode_owned(old.into())
            .map_err(|why| FsError::not_text(FsOp::Edit, display, why).with_met(version::of(&before.meta)))?;
        let mut edited = self.change.apply(text).map_err(|miss| miss.in_file(display))?;
        edited.reserve_texts().map_err(|_| FsError::io(FsOp::Edit, display, "not enough memory"))?;
        let new: Bytes = edited.pieces().map(Piece::text).collect::<String>().into();
        if new.len() as u64 > store.mutation_max {
            return Err(too_large_to(FsOp::Edit, display, new.len() as u64, store.mutation_max));
        }
        if self.cancel.is_cancelled() {
            return Err(FsError::aborted(FsOp::Edit));
        }
        match store.publish(path, new, Some(&before), FsOp::Edit).await? {
            Published::As(version) => {
                Ok(Some(EditOutcome { version, texts: edited.into_texts(), durable: true }))
            }
            Published::Late(_) if self.guard.is_some() => Err(FsError::changed(FsOp::Edit, display)),
            Published::Late(_) => Ok(None),
        }
    }

    async fn read(&self, store: &Store) -> Result<(Before, Bytes), FsError> {
        let display = self.target.display_path();
        let found = match store.must_find(&self.target, FsOp::Edit).await {
            // What is absent is stale for an edit.
            Err(error) if error.code() == FsErrorCode::NotFound => {
                return Err(FsError::changed(FsOp::Edit, display));
            }
            found => found?,
        };
        if self.guard.as_ref().is_some_and(|version| !version::holds(version, &found.meta)) {
            return Err(FsError::changed(FsOp::Edit, display));
        }
        if found.meta.size > store.mutation_max {
            return Err(too_large_to(FsOp::Edit, display, found.meta.size, store.mutation_max));
        }
        let before = Before { meta: found.meta.clone(), attributes: found.attributes.clone() };
        let old = found.bytes().await.map_err(|error| told(FsOp::Edit, display, error))?;
        Ok((before, old))
    }
}
