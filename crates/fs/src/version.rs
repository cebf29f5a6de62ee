//! What a file was when it was seen: the opaque token that guards compare.

use std::fmt;
use std::sync::Arc;

/// The state of a file's content at one moment.
///
/// A version that came from a read or a mutation stands for the very bytes that were shown or written; a version
/// from [`stat`](crate::FileSystem::stat) or [`list_dir`](crate::FileSystem::list_dir) stands for the file's
/// identity at that moment and is the weaker proof. What a token says is known only to the backend that made it:
/// others keep it and hand it back. `==` compares tokens, not files: two reads of the same bytes may give two tokens.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct FsVersion(Arc<str>);

impl FsVersion {
    /// Makes a version from a backend's token; for backends.
    pub fn new(token: impl Into<Arc<str>>) -> Self {
        Self(token.into())
    }

    /// The token as the backend made it; for the backend that made it.
    pub fn token(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for FsVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FsVersion({})", self.0)
    }
}

/// Where a later read of the same file may start: a place that an earlier read passed, and what the file was then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumePoint {
    /// Bytes from the start of the file (a byte order mark included) to the start of a line.
    pub offset: u64,
    /// The version that the earlier read ended with.
    pub version: FsVersion,
}
