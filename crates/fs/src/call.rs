//! What every operation is told beside its own arguments.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::{FsError, FsOp};

/// How far a sandbox lets mutations go. Reads are not its business.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SandboxMode {
    /// No mutation.
    ReadOnly,
    /// Mutations below the workspace root.
    WorkspaceWrite,
    /// Every mutation the operating system allows.
    DangerFullAccess,
}

impl SandboxMode {
    /// The mode as settings and messages write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::DangerFullAccess => "danger-full-access",
        }
    }
}

/// The sandbox policy under which one call runs. A backend without a fence ignores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPolicy {
    /// How far mutations may go.
    pub mode: SandboxMode,
    /// The absolute, canonical folder of the workspace.
    pub workspace_root: PathBuf,
}

/// The circumstances of one call.
#[derive(Clone, Debug, Default)]
pub struct FsCall {
    /// Cancels the call. Honoured up to the moment a mutation is published, without effect after it.
    pub cancel: CancellationToken,
    /// The sandbox policy of this call; `None` leaves it to the backend's standing one.
    pub policy: Option<CallPolicy>,
}

impl FsCall {
    /// A call that nobody cancels, under the standing policy.
    pub fn new() -> Self {
        Self::default()
    }

    /// A call that ends when `cancel` says so.
    pub fn cancelled_by(cancel: CancellationToken) -> Self {
        Self { cancel, policy: None }
    }

    /// Fails with `<op> aborted` once the call is cancelled.
    pub fn check(&self, op: FsOp) -> Result<(), FsError> {
        if self.cancel.is_cancelled() { Err(FsError::aborted(op)) } else { Ok(()) }
    }
}
