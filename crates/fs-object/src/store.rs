//! [`Store`]: what all operations share.

use std::sync::Arc;

use dsh_fs::{FsCall, FsError, FsOp, FsTarget, Turns};
use object_store::{Error, GetOptions, GetResult, ObjectStore};
use tokio_util::sync::CancellationToken;

use crate::address::{self, Address};
use crate::error::told;
use crate::folders::Seen;

/// The objects, and what is known of them.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) objects: Arc<dyn ObjectStore>,
    pub(crate) address: Address,
    pub(crate) seen: Seen,
    /// Mutations of one object that begin in this process are made one after another. The store's conditions alone would be
    /// enough for the result, but one that its caller has dropped may still be on its way: the next has to find it published or
    /// gone.
    pub(crate) turns: Turns,
    /// From this many bytes on, on either side, a whole-file write does not keep the old text.
    pub(crate) diff_basis_max: u64,
    /// Larger objects are not edited, longer texts not written.
    pub(crate) mutation_max: u64,
}

impl Store {
    /// An object, or its metadata alone; `None` where there is none.
    pub(crate) async fn find(&self, path: &str, options: GetOptions) -> Result<Option<GetResult>, Error> {
        // The top is no object, and where the prefix is empty it has no key either.
        if path == "/" {
            return Ok(None);
        }
        match self.objects.get_opts(&self.address.key(path)?, options).await {
            Ok(found) => {
                self.seen.something_at(path);
                Ok(Some(found))
            }
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// An object that has to be there: else the error says what is there instead.
    pub(crate) async fn must_find(&self, target: &FsTarget, op: FsOp) -> Result<GetResult, FsError> {
        let path = address::path(target);
        let failed = |error| told(op, target.display_path(), error);
        match self.find(path, GetOptions::default()).await.map_err(failed)? {
            Some(found) => Ok(found),
            None if self.is_folder(path).await.map_err(failed)? => {
                Err(FsError::not_regular_file(op, target.display_path()))
            }
            None => Err(FsError::not_found(op, target.display_path())),
        }
    }
}

/// Waits for a look or a read, but not longer than the caller does.
pub(crate) async fn unless_cancelled<T>(
    call: &FsCall,
    op: FsOp,
    work: impl Future<Output = Result<T, FsError>>,
) -> Result<T, FsError> {
    unless(&call.cancel, op, work).await
}

/// The same for a token.
pub(crate) async fn unless<T>(
    cancel: &CancellationToken,
    op: FsOp,
    work: impl Future<Output = Result<T, FsError>>,
) -> Result<T, FsError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(FsError::aborted(op)),
        done = work => done,
    }
}
