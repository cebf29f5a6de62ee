//! What a path means: the target that a backend resolved it to.

use std::fmt;
use std::sync::Arc;

/// The identity of a file for guards, locks and look-ups.
///
/// Two paths that lead to the same file resolve to equal keys, also while the file does not exist yet. The bytes
/// are the backend's own: nobody else parses, shortens or builds one. (Bytes, not text, because a host path need
/// not be UTF-8.)
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetKey(Arc<[u8]>);

impl TargetKey {
    /// Makes a key; for backends.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self(bytes.into())
    }

    /// The key as the backend made it; for the backend that made it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for TargetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TargetKey({:?})", String::from_utf8_lossy(&self.0))
    }
}

/// A path after [`resolve`](crate::FileSystem::resolve): what it stands for, and what to call it.
///
/// Only a backend makes targets, and only that backend understands their keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FsTarget {
    key: TargetKey,
    display_path: Arc<str>,
}

impl FsTarget {
    /// Makes a target; for backends.
    pub fn new(key: TargetKey, display_path: impl Into<Arc<str>>) -> Self {
        Self { key, display_path: display_path.into() }
    }

    /// The identity of the file.
    pub fn key(&self) -> &TargetKey {
        &self.key
    }

    /// What a model or a person sees in results and messages: the path as written, made absolute, links not
    /// followed.
    pub fn display_path(&self) -> &str {
        &self.display_path
    }
}
