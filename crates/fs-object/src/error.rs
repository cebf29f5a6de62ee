//! The one table of what a store answers, and what is said of it.

use std::error::Error as StdError;

use dsh_fs::{FsError, FsErrorCode, FsOp};
use object_store::Error;
use object_store::client::{HttpError, HttpErrorKind};

use crate::address::KeyTooLong;

/// What an operation on `path` failed with. What the store said in its own words is the source, and in the log.
pub(crate) fn told(op: FsOp, path: &str, error: Error) -> FsError {
    let said = match &error {
        Error::NotFound { .. } => FsError::not_found(op, path),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            FsError::permission_denied(op, path)
        }
        Error::Precondition { .. } | Error::NotModified { .. } | Error::AlreadyExists { .. } => {
            FsError::changed(op, path)
        }
        Error::InvalidPath { .. } => FsError::io(op, path, "a key here has no path"),
        Error::NotSupported { source } if source.is::<KeyTooLong>() => {
            FsError::io(op, path, "file name too long")
        }
        other => FsError::io(op, path, why(other)),
    };
    if said.code() == FsErrorCode::IoError || said.code() == FsErrorCode::PermissionDenied {
        tracing::warn!(path, %error, "the object store failed");
    }
    said.with_source(error)
}

/// An object is larger than a mutation may be.
pub(crate) fn too_large_to(op: FsOp, path: &str, size: u64, max: u64) -> FsError {
    let what = format!("cannot {} \"{path}\": {size} bytes exceeds the {max}-byte limit", op.verb());
    FsError::new(FsErrorCode::TooLarge, what)
}

/// Nobody knows whether a mutation was made.
pub(crate) fn in_doubt(op: FsOp, path: &str, error: Error) -> FsError {
    tracing::warn!(path, %error, "the object store failed, and it is not known whether a change was made");
    let what = "the object store failed and does not say whether the change was made; read the file before trying again";
    FsError::io(op, path, what).with_source(error)
}

/// Did no answer come, or not the whole of one?
pub(crate) fn is_connection(error: &Error) -> bool {
    http_kind(error).is_some()
}

fn why(error: &Error) -> &'static str {
    match http_kind(error) {
        Some(HttpErrorKind::Connect) => "the object store cannot be reached",
        Some(HttpErrorKind::Timeout) => "the object store did not answer in time",
        Some(_) => "the connection to the object store broke",
        None => "the object store failed",
    }
}

fn http_kind(error: &Error) -> Option<HttpErrorKind> {
    let mut at: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = at {
        if let Some(http) = error.downcast_ref::<HttpError>() {
            return Some(http.kind());
        }
        at = error.source();
    }
    None
}
