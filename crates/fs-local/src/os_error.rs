//! The one table from operating system errors to failures that a model can act on.

use std::borrow::Cow;

use dsh_fs::{FsError, FsOp};
use rustix::io::Errno;

/// The failure of `op` on the file that the caller knows as `display`. Internal names never appear in it; the
/// system's own error is its source.
pub(crate) fn failure(op: FsOp, display: &str, errno: Errno) -> FsError {
    let failure = match errno {
        Errno::ACCESS | Errno::PERM | Errno::ROFS => FsError::permission_denied(op, display),
        Errno::NOENT => FsError::not_found(op, display),
        Errno::NOTDIR => FsError::parent_not_directory(display),
        // What opening a folder for writing, or a socket, answers.
        Errno::ISDIR | Errno::NXIO => FsError::not_regular_file(op, display),
        other => FsError::io(op, display, sentence(other)),
    };
    failure.with_source(std::io::Error::from(errno))
}

fn sentence(errno: Errno) -> Cow<'static, str> {
    Cow::Borrowed(match errno {
        Errno::NOSPC => "no space left on device",
        Errno::DQUOT => "disk quota exceeded",
        Errno::FBIG => "file too large for this file system",
        Errno::IO => "input/output error",
        Errno::LOOP => "too many levels of symbolic links",
        Errno::NAMETOOLONG => "file name too long",
        Errno::MFILE | Errno::NFILE => "too many open files",
        Errno::NOMEM => "not enough memory",
        Errno::BUSY => "the file is busy",
        Errno::TXTBSY => "the file is a program that is running",
        Errno::STALE => "the network file system has lost the file",
        Errno::TIMEDOUT => "the file system did not answer in time",
        Errno::XDEV => "the path crosses into another file system",
        Errno::MLINK => "too many links",
        Errno::AGAIN => "the file has nothing to read now, or is locked by another process",
        Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL => "the file system does not support this",
        other => return from_system(other),
    })
}

/// The system's own words in our form: `Broken pipe (os error 32)` is `broken pipe`.
fn from_system(errno: Errno) -> Cow<'static, str> {
    let text = std::io::Error::from(errno).to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => Cow::Owned(first.to_lowercase().chain(letters).collect()),
        None => Cow::Borrowed("unknown error of the operating system"),
    }
}
