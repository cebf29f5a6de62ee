//! How an operation on files fails, and every sentence that says so. One place, so that all backends say the same.

use std::fmt;

use dsh_plugin::Coded;

use crate::{FsVersion, SandboxMode};

/// What went wrong, for programs and for the model's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FsErrorCode {
    /// There is no such file, or the path cannot name one.
    NotFound,
    /// A listing was asked of something that is not a folder.
    NotDirectory,
    /// The bytes are not UTF-8 text (or hold a NUL in the first 8192).
    NotText,
    /// A folder, FIFO, socket or device where a file was needed.
    NotRegularFile,
    /// More bytes than the caller asked to hold.
    TooLarge,
    /// The operating system refused.
    PermissionDenied,
    /// The sandbox refused.
    SandboxDenied,
    /// The device, the limits or the network failed.
    IoError,
    /// A guard did not hold: the file is not what it was.
    StaleVersion,
    /// The file exists and nobody has looked at it.
    NotObserved,
    /// `old_string` is in the file more than once.
    AmbiguousEdit,
    /// `old_string` is not in the file.
    EditNotFound,
    /// The caller cancelled.
    Aborted,
}

impl FsErrorCode {
    /// The code as results carry it, such as `FS_NOT_FOUND`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "FS_NOT_FOUND",
            Self::NotDirectory => "FS_NOT_DIRECTORY",
            Self::NotText => "FS_NOT_TEXT",
            Self::NotRegularFile => "FS_NOT_REGULAR_FILE",
            Self::TooLarge => "FS_TOO_LARGE",
            Self::PermissionDenied => "FS_PERMISSION_DENIED",
            Self::SandboxDenied => "FS_SANDBOX_DENIED",
            Self::IoError => "FS_IO_ERROR",
            Self::StaleVersion => "FS_STALE_VERSION",
            Self::NotObserved => "FS_NOT_OBSERVED",
            Self::AmbiguousEdit => "FS_AMBIGUOUS_EDIT",
            Self::EditNotFound => "FS_EDIT_NOT_FOUND",
            Self::Aborted => "FS_ABORTED",
        }
    }
}

/// The operation that failed, as its messages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FsOp {
    /// Finding out what a path means.
    Resolve,
    /// Looking at a file's type, size and version.
    Stat,
    /// The same without following a link.
    Lstat,
    /// Reading text or bytes.
    Read,
    /// Listing a folder.
    List,
    /// Creating or replacing a whole file.
    Write,
    /// Changing a part of a file.
    Edit,
}

impl FsOp {
    /// The verb of `cannot <verb> "<path>": …` and `<verb> aborted`.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Stat => "stat",
            Self::Lstat => "lstat",
            Self::Read => "read",
            Self::List => "list",
            Self::Write => "write",
            Self::Edit => "edit",
        }
    }
}

/// Why bytes are not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotText {
    /// A NUL byte lies in the first [`SNIFF_BYTES`](crate::text::SNIFF_BYTES).
    Binary,
    /// Not valid UTF-8 somewhere.
    InvalidUtf8,
}

impl std::error::Error for NotText {}

impl fmt::Display for NotText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Binary => "binary file",
            Self::InvalidUtf8 => "invalid UTF-8 text",
        })
    }
}

/// An operation that failed: a code for programs, one sentence for the model.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct FsError {
    code: FsErrorCode,
    message: String,
    met: Option<FsVersion>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl FsError {
    /// Makes an error with a sentence of its own; the constructors below are preferred wherever they fit.
    pub fn new(code: FsErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), met: None, source: None }
    }

    /// What went wrong.
    pub fn code(&self) -> FsErrorCode {
        self.code
    }

    /// With [`FsErrorCode::NotText`] from a read: the version of the bytes that were not text, so that a caller
    /// may replace what it has seen to be there.
    pub fn met(&self) -> Option<&FsVersion> {
        self.met.as_ref()
    }

    /// Notes the version of the bytes that were met.
    #[must_use]
    pub fn with_met(mut self, version: FsVersion) -> Self {
        self.met = Some(version);
        self
    }

    /// Keeps the failure below this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    fn on(code: FsErrorCode, op: FsOp, path: &str, what: impl fmt::Display) -> Self {
        Self::new(code, format!("cannot {} \"{path}\": {what}", op.verb()))
    }

    /// The caller cancelled: `<op> aborted`.
    pub fn aborted(op: FsOp) -> Self {
        Self::new(FsErrorCode::Aborted, format!("{} aborted", op.verb()))
    }

    /// A path of nothing but white space.
    pub fn blank_path() -> Self {
        Self::new(FsErrorCode::NotFound, "file_path must be a non-empty string")
    }

    /// A path that no file can have, such as one with a NUL.
    pub fn nul_in_path() -> Self {
        Self::new(FsErrorCode::NotFound, "file_path must not contain a NUL character")
    }

    /// A path that goes on below a file.
    pub fn parent_not_directory(path: &str) -> Self {
        Self::on(FsErrorCode::NotFound, FsOp::Resolve, path, "a parent path segment is not a directory")
    }

    /// A trailing slash on what is not a folder.
    pub fn slash_names_folder(path: &str) -> Self {
        Self::on(FsErrorCode::NotFound, FsOp::Resolve, path, "a path that ends in a slash names a folder")
    }

    /// There is no such file.
    pub fn not_found(op: FsOp, path: &str) -> Self {
        Self::on(FsErrorCode::NotFound, op, path, "not found")
    }

    /// A folder, FIFO, socket or device where a file was needed.
    pub fn not_regular_file(op: FsOp, path: &str) -> Self {
        Self::on(FsErrorCode::NotRegularFile, op, path, "not a regular file")
    }

    /// A listing of something that is not a folder.
    pub fn not_directory(path: &str) -> Self {
        Self::on(FsErrorCode::NotDirectory, FsOp::List, path, "not a directory")
    }

    /// The mode of a sandbox forbids it. To this sentence an edit is a write.
    pub fn denied_by_mode(path: &str, mode: SandboxMode) -> Self {
        let why = format!("file access denied under {} mode", mode.as_str());
        Self::on(FsErrorCode::SandboxDenied, FsOp::Write, path, why)
    }

    /// The read rules of a sandbox forbid it, in every mode.
    pub fn denied_by_read_rules(op: FsOp, path: &str) -> Self {
        Self::on(FsErrorCode::SandboxDenied, op, path, "file access denied by the read rules")
    }

    /// Bytes that are not text; the source is the [`NotText`].
    pub fn not_text(op: FsOp, path: &str, why: NotText) -> Self {
        Self::on(FsErrorCode::NotText, op, path, why).with_source(why)
    }

    /// A file known to be larger than the caller's limit, in bytes.
    pub fn too_large(path: &str, size: u64, max: u64) -> Self {
        Self::on(
            FsErrorCode::TooLarge,
            FsOp::Read,
            path,
            format_args!("{size} bytes exceeds the {max}-byte limit"),
        )
    }

    /// A file that turned out to be larger than the caller's limit while it was read.
    pub fn grew_too_large(path: &str, max: u64) -> Self {
        Self::on(
            FsErrorCode::TooLarge,
            FsOp::Read,
            path,
            format_args!("content exceeds the {max}-byte limit"),
        )
    }

    /// The operating system refused.
    pub fn permission_denied(op: FsOp, path: &str) -> Self {
        Self::on(FsErrorCode::PermissionDenied, op, path, "permission denied")
    }

    /// The device, a limit or the network failed; `what` is a plain sentence without internal names.
    pub fn io(op: FsOp, path: &str, what: impl fmt::Display) -> Self {
        Self::on(FsErrorCode::IoError, op, path, what)
    }

    /// A guarded mutation of a file whose bytes are not those of the guard; or an edit of a file that is gone.
    pub fn changed(op: FsOp, path: &str) -> Self {
        Self::on(FsErrorCode::StaleVersion, op, path, "file changed since it was read")
    }

    /// A guarded whole-file write of a file that is gone.
    pub fn gone(path: &str) -> Self {
        Self::on(FsErrorCode::StaleVersion, FsOp::Write, path, "file no longer exists")
    }

    /// A create that met a file.
    pub fn exists(path: &str) -> Self {
        Self::new(
            FsErrorCode::NotObserved,
            format!("cannot overwrite existing \"{path}\" without reading it first"),
        )
    }

    /// `old_string` is not in the file.
    pub fn edit_not_found(path: &str) -> Self {
        Self::new(FsErrorCode::EditNotFound, format!("old_string was not found in \"{path}\""))
    }

    /// `old_string` is in the file `times` times and one was meant.
    pub fn ambiguous_edit(path: &str, times: usize) -> Self {
        Self::new(
            FsErrorCode::AmbiguousEdit,
            format!(
                "old_string matched {times} times in \"{path}\"; provide a more specific old_string or set \
                 replace_all to true"
            ),
        )
    }
}

impl Coded for FsError {
    fn name(&self) -> &'static str {
        "FsError"
    }

    fn code(&self) -> Option<&str> {
        Some(self.code.as_str())
    }
}
