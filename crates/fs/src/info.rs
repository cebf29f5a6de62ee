//! What a backend says of files without reading them, and of mutations that it made.

use std::sync::Arc;
use std::time::SystemTime;

use crate::literal_edit::EditedTexts;
use crate::{FsTarget, FsVersion};

/// What a target is, links followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FsKind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
    /// A FIFO, socket, device, or what a dangling link in a listing leads to.
    Other,
}

/// What a path is, its last link not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FsPathKind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A FIFO, socket or device.
    Other,
}

/// Answer of [`stat`](crate::FileSystem::stat).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsInfo {
    /// The version by identity; weaker than one from a read.
    pub version: FsVersion,
    /// What it is.
    pub kind: FsKind,
    /// Size in bytes, where the backend knows it without reading.
    pub size: Option<u64>,
}

/// Answer of [`lstat`](crate::FileSystem::lstat).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsPathInfo {
    /// The version by identity.
    pub version: FsVersion,
    /// What it is.
    pub kind: FsPathKind,
    /// Size in bytes, where the backend knows it without reading.
    pub size: Option<u64>,
}

/// One child in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsDirEntry {
    /// The child's name; where the name is not UTF-8, with replacement characters (the target's key is exact).
    pub name: String,
    /// What it is, links followed; a dangling link is [`FsKind::Other`].
    pub kind: FsKind,
    /// The child itself.
    pub target: FsTarget,
    /// Its version by identity; `None` where there is nothing behind the name.
    pub version: Option<FsVersion>,
    /// Size in bytes, for regular files.
    pub size: Option<u64>,
    /// When its content changed last, where the backend knows.
    pub modified: Option<SystemTime>,
    /// Is the name itself a symbolic link, whose end the rest tells of?
    pub is_link: bool,
}

/// A whole file as text, and what it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRead {
    /// The text without its byte order mark; line endings as they are.
    pub text: String,
    /// The version of the very bytes that `text` came from.
    pub version: FsVersion,
}

/// A whole file as bytes, and what it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BytesRead {
    /// All bytes.
    pub bytes: Vec<u8>,
    /// The version of these bytes.
    pub version: FsVersion,
}

/// The condition under which a whole-file write may happen. (No guard: whatever is there is replaced.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteGuard {
    /// Only if nothing is there.
    CreateIfAbsent,
    /// Only if the file's bytes are still those of this version.
    ReplaceIfVersion(FsVersion),
}

/// Did a write make the file or replace it?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteOperation {
    /// Nothing was there.
    Create,
    /// A file was there.
    Update,
}

/// What a whole-file write did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteOutcome {
    /// Created or replaced.
    pub operation: WriteOperation,
    /// The version of the bytes that were written.
    pub version: FsVersion,
    /// The text that was replaced, every `\r\n` as `\n`. `None` for a new file, and where the old bytes were not
    /// text, or either side was as large as the backend's limit for this.
    pub before: Option<Arc<str>>,
    /// The text as given, every `\r\n` as `\n`.
    pub after: Arc<str>,
    /// Will the change survive a power cut? `false` where the change is in place but was not, or could
    /// not be, synced.
    pub durable: bool,
}

/// What an edit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditOutcome {
    /// The version of the bytes that were written.
    pub version: FsVersion,
    /// The whole old and new text, and the spans that differ.
    pub texts: EditedTexts,
    /// Will the change survive a power cut? `false` where the change is in place but was not, or could
    /// not be, synced.
    pub durable: bool,
}
