//! The file system contract of dsh: what tools may ask of the place that holds the files, and what they may rely on.
//!
//! Start at [`FileSystem`]: its page is the manual. Around it:
//!
//! * [`FsTarget`], [`FsVersion`]: what a path means, and what a file was when it was seen;
//! * [`WriteGuard`], [`WriteOutcome`], [`EditOutcome`], [`FsError`]: conditions and results;
//! * [`WriteIntent`], [`EditIntent`], [`Observed`]: the events by which a policy takes part without the tools
//!   knowing it;
//! * [`text`], [`line_endings`], [`literal_edit`], [`digest`]: the algorithms, pure and shared by all backends;
//! * [`MemoryFileSystem`]: the reference implementation.

mod call;
pub mod digest;
mod error;
mod events;
mod file_system;
mod info;
pub mod leftovers;
pub mod line_endings;
pub mod literal_edit;
mod memory;
mod sandbox;
pub mod shown_name;
mod target;
pub mod text;
mod turns;
mod version;

/// The attribute that implementations of [`FileSystem`] and [`TextChunks`] carry.
pub use async_trait::async_trait;
pub use call::{CallPolicy, FsCall, SandboxMode};
pub use error::{FsError, FsErrorCode, FsOp, NotText};
pub use events::{Actor, EditIntent, FsObservation, Intent, Observation, Observed, Owner, WriteIntent};
pub use file_system::{FS, FileSystem, TextChunk, TextChunks, TextStream};
pub use info::{
    BytesRead, EditOutcome, FsDirEntry, FsInfo, FsKind, FsPathInfo, FsPathKind, TextRead, WriteGuard,
    WriteOperation, WriteOutcome,
};
pub use memory::MemoryFileSystem;
pub use sandbox::{ReadRules, SANDBOX_POLICY, SandboxPolicy};
pub use target::{FsTarget, TargetKey};
pub use turns::{Turn, Turns};
pub use version::{FsVersion, ResumePoint};

// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
