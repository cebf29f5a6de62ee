//! [`FileSystem`]: the contract between tools and whatever holds the files.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_plugin::ServiceKey;

use crate::literal_edit::LiteralEdit;
use crate::{
    BytesRead, EditOutcome, FsCall, FsDirEntry, FsError, FsInfo, FsPathInfo, FsTarget, FsVersion, ReadRules,
    ResumePoint, SandboxMode, TextRead, WriteGuard, WriteOutcome,
};

/// The service under which a backend is mounted.
pub const FS: ServiceKey<dyn FileSystem> = ServiceKey::new("fs");

/// Files that an agent's tools work on: the host disk, a sandbox around it, an object store, memory.
///
/// # Targets
///
/// Every path goes through [`resolve`](Self::resolve) first. The target that comes back says what the path means
/// ([`FsTarget::key`]) and what to call it ([`FsTarget::display_path`]). Two paths to one file (links, `..`) have
/// equal keys; a path that does not exist yet has the key it will have when it does. A target stays usable for any
/// number of calls, and each call looks at the file anew.
///
/// # Versions and guards
///
/// What a read or a mutation returns as version stands for the very bytes that were shown or written. A guard made
/// from it holds when the file has those bytes now, whatever happened to its times, mode or inode in between. A
/// version from `stat` or `list_dir` stands for identity only and holds only where the backend can prove that
/// nothing changed. Tokens are opaque: keep them, hand them back.
///
/// # Mutations
///
/// [`write_text`](Self::write_text) and [`edit_text`](Self::edit_text) check the guard, do their work and publish
/// the result in **one critical section** per target. A reader sees the old file or the new one, never a part. Of
/// two mutations under guards on the same version, one wins and the other fails with
/// [`StaleVersion`](crate::FsErrorCode::StaleVersion). The guard is judged before anything else is said about the content.
///
/// # Cancelling
///
/// Every operation looks at [`FsCall::cancel`] at each step and fails with [`Aborted`](crate::FsErrorCode::Aborted).
/// Once a mutation is published cancelling has no effect: the call reports success. There are no timeouts. Dropping the
/// future of a call cancels it too, but then nobody learns whether a mutation had been published; a mutation of the
/// same target that begins afterwards finds it published, or it never will be.
///
/// # Errors
///
/// Always an [`FsError`]: a code for programs and one sentence for people that names the path as the caller knows
/// it. A file that is absent is `None` from `stat` and `lstat`, an error everywhere else.
///
/// # Not included
///
/// No recursion, no delete, move, copy or watch: tools need none of them, and each would need a policy of its own.
///
/// # Wrapping
///
/// A wrapper forwards every method (put `#[deny(clippy::missing_trait_methods)]` on its `impl`) and gives the inner
/// backend the targets that the inner backend made.
///
/// # Examples
///
/// Reading, then replacing exactly what was read:
///
/// ```
/// use dsh_fs::{FileSystem, FsCall, FsErrorCode, MemoryFileSystem, WriteGuard};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsh_fs::FsError> {
/// let fs = MemoryFileSystem::with_files([("/w/a.txt", "one\r\n")]);
/// let call = FsCall::new();
/// let target = fs.resolve("a.txt", Some("/w".as_ref()), &call).await?;
///
/// let seen = fs.read_text(&target, &call).await?;
/// let guard = WriteGuard::ReplaceIfVersion(seen.version);
/// fs.write_text(&target, "two\n", Some(&guard), &call).await?;
///
/// // The file kept its line endings, and the old version no longer licenses anything.
/// assert_eq!(fs.read_text(&target, &call).await?.text, "two\r\n");
/// let late = fs.write_text(&target, "three\n", Some(&guard), &call).await.unwrap_err();
/// assert_eq!(late.code(), FsErrorCode::StaleVersion);
/// # Ok(())
/// # }
/// ```
///
/// Reading a file of any size without holding it:
///
/// ```
/// use dsh_fs::{FileSystem, FsCall, MemoryFileSystem, TextChunk, TextStream};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsh_fs::FsError> {
/// let fs = MemoryFileSystem::with_files([("/log", "a\nb\nc\n")]);
/// let call = FsCall::new();
/// let target = fs.resolve("/log", None, &call).await?;
/// let TextStream::Open(mut chunks) = fs.stream_text(&target, None, &call).await? else {
///     unreachable!("only a stream with a resume point answers Changed");
/// };
/// let mut lines = 0;
/// let version = loop {
///     match chunks.next().await? {
///         TextChunk::Text { text, .. } => lines += text.matches('\n').count(),
///         TextChunk::End(version) => break version,
///     }
/// };
/// assert_eq!(lines, 3);
/// # let _ = version;
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait FileSystem: Send + Sync + 'static {
    /// What `path` means. Relative paths start at `cwd`, else at the backend's own folder. The file need not exist.
    ///
    /// `.` and `..` are folded on the path as written, before links are followed. Blank paths, paths below a file
    /// and a trailing slash on what is not a folder are [`NotFound`](crate::FsErrorCode::NotFound). Where it would cost
    /// requests to know what is above a path, one below a file may be resolved: it is absent, and refused like that when it is
    /// to be created.
    async fn resolve(&self, path: &str, cwd: Option<&Path>, call: &FsCall) -> Result<FsTarget, FsError>;

    /// The path by which a process of the same world would open the target, absolute and canonical; `None` where
    /// no process can.
    fn process_path(&self, target: &FsTarget) -> Option<std::path::PathBuf>;

    /// The target as a URI (`file:` on the host disk), percent-encoded.
    fn file_url(&self, target: &FsTarget) -> String;

    /// Is `child` the same as `parent` or below it? A test on keys, without IO.
    fn contains(&self, parent: &FsTarget, child: &FsTarget) -> bool;

    /// Type, size and version by identity, links followed; `None` when nothing is there.
    async fn stat(&self, target: &FsTarget, call: &FsCall) -> Result<Option<FsInfo>, FsError>;

    /// The same for a path (rules of [`resolve`](Self::resolve)) whose last link is not followed.
    async fn lstat(
        &self,
        path: &str,
        cwd: Option<&Path>,
        call: &FsCall,
    ) -> Result<Option<FsPathInfo>, FsError>;

    /// A whole regular file as text.
    ///
    /// [`NotText`](crate::FsErrorCode::NotText) carries the version of the bytes it met ([`FsError::met`]).
    async fn read_text(&self, target: &FsTarget, call: &FsCall) -> Result<TextRead, FsError>;

    /// The text of a regular file in chunks, from the start or from a place that an earlier read passed.
    ///
    /// All chunks of a stream from the start, joined, are the text of [`read_text`](Self::read_text). With
    /// `resume`, the stream starts at that byte if the backend can prove that the file is unchanged, and ends with
    /// the version of the resume point; otherwise the answer is [`TextStream::Changed`], which is always permitted. A reader
    /// of such a stream may stop at any chunk and still say that version: each is handed out only while the proof holds.
    /// Errors may come with the stream or with any chunk.
    async fn stream_text(
        &self,
        target: &FsTarget,
        resume: Option<&ResumePoint>,
        call: &FsCall,
    ) -> Result<TextStream, FsError>;

    /// A whole regular file of at most `max` bytes; a larger one is [`TooLarge`](crate::FsErrorCode::TooLarge),
    /// never cut, and never held beyond `max` + 1 bytes even if it grows meanwhile.
    async fn read_bytes(&self, target: &FsTarget, max: u64, call: &FsCall) -> Result<BytesRead, FsError>;

    /// The direct children of a folder, in byte order of their names.
    async fn list_dir(&self, target: &FsTarget, call: &FsCall) -> Result<Vec<FsDirEntry>, FsError>;

    /// Creates a file (and missing folders above it) or replaces it whole, atomically.
    ///
    /// The byte order mark and a uniform CRLF of the replaced text are kept
    /// ([`Dress`](crate::line_endings::Dress)). A guard that does not hold is
    /// [`NotObserved`](crate::FsErrorCode::NotObserved) (create) or
    /// [`StaleVersion`](crate::FsErrorCode::StaleVersion) (replace).
    async fn write_text(
        &self,
        target: &FsTarget,
        content: &str,
        guard: Option<&WriteGuard>,
        call: &FsCall,
    ) -> Result<WriteOutcome, FsError>;

    /// Replaces literal text in a file, atomically; every byte outside the matches stays.
    ///
    /// `guard` is the version the file must still have; it is judged before matching. A file that is absent is
    /// [`StaleVersion`](crate::FsErrorCode::StaleVersion), guarded or not. Without a guard the edit applies to
    /// whatever the file holds when it is published.
    async fn edit_text(
        &self,
        target: &FsTarget,
        edit: &LiteralEdit,
        guard: Option<&FsVersion>,
        call: &FsCall,
    ) -> Result<EditOutcome, FsError>;

    /// The mode that this backend enforces on mutations by default; `None` for one without a fence.
    fn sandbox_mode(&self) -> Option<SandboxMode>;

    /// What may be read, where not everything may. Whoever walks the places that [`process_path`](Self::process_path)
    /// names without asking this backend for each file has to ask these rules.
    fn read_rules(&self) -> Option<Arc<dyn ReadRules>>;
}

/// Answer of [`FileSystem::stream_text`].
pub enum TextStream {
    /// The text follows.
    Open(Box<dyn TextChunks>),
    /// The file may no longer be what the resume point stands for: start over without one.
    Changed,
}

impl std::fmt::Debug for TextStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Open(_) => "TextStream::Open(..)",
            Self::Changed => "TextStream::Changed",
        })
    }
}

/// Text that comes in pieces. Dropping it ends the read.
#[async_trait]
pub trait TextChunks: Send {
    /// The next piece. Where the pieces are cut says nothing, but never inside a character. After the end or an
    /// error the stream must not be asked again.
    async fn next(&mut self) -> Result<TextChunk<'_>, FsError>;
}

/// One piece of a stream, or its end.
#[derive(Debug, PartialEq, Eq)]
pub enum TextChunk<'a> {
    /// The next text; may be empty.
    Text {
        /// Where in the file it begins: bytes from the start, a byte order mark included. With that, the start of any line
        /// in it can become a [`ResumePoint`].
        at: u64,
        /// The text itself, line endings as they are.
        text: &'a str,
    },
    /// Nothing more; all text so far came from this version of the file.
    End(FsVersion),
}
