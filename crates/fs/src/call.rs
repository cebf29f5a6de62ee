//! What every operation is told beside its own arguments.

use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    /// All of them, the narrowest first.
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::WorkspaceWrite, Self::DangerFullAccess];

    /// The mode that settings and messages write like this.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text)
    }

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
    /// The folder, absolute and canonical, that this call must not leave. A fence sets it when it has judged a target; a
    /// backend on a disk opens everything beneath a descriptor of that folder and follows no link on the way. Where
    /// something has moved since the target was resolved, the answer is
    /// [`SandboxDenied`](crate::FsErrorCode::SandboxDenied), and the target is to be resolved and judged anew. Backends without
    /// links ignore it.
    pub beneath: Option<Arc<Path>>,
}

impl FsCall {
    /// A call that nobody cancels, under the standing policy.
    pub fn new() -> Self {
        Self::default()
    }

    /// A call that ends when `cancel` says so.
    pub fn cancelled_by(cancel: CancellationToken) -> Self {
        Self { cancel, ..Self::default() }
    }

    /// The same call, kept beneath a folder.
    #[must_use]
    pub fn beneath(&self, folder: Arc<Path>) -> Self {
        Self { beneath: Some(folder), ..self.clone() }
    }

    /// Fails with `<op> aborted` once the call is cancelled.
    pub fn check(&self, op: FsOp) -> Result<(), FsError> {
        if self.cancel.is_cancelled() { Err(FsError::aborted(op)) } else { Ok(()) }
    }
}
