//! [`Work`]: the circumstances of a call that every blocking step of it needs.

use std::sync::Arc;

use dsh_fs::{FsCall, FsError, FsErrorCode, FsOp};
use rustix::io::Errno;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

use crate::os_error;
use crate::rooted::Start;

/// The circumstances of one call where it blocks: what is done, to what, where it may go, and whether it
/// should stop.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) op: FsOp,
    pub(crate) display: Arc<str>,
    pub(crate) cancel: CancellationToken,
    pub(crate) start: Start,
}

impl Work {
    pub(crate) fn new(op: FsOp, display: &str, call: &FsCall) -> Self {
        Self { op, display: display.into(), cancel: call.cancel.clone(), start: Start::Disk }
    }

    /// The same call, bounded.
    pub(crate) fn starting(&self, start: Start) -> Self {
        Self { start, ..self.clone() }
    }

    /// The same call with the name that messages use, once it is known.
    pub(crate) fn named(&self, display: &str) -> Self {
        Self { display: display.into(), ..self.clone() }
    }

    /// The same call, past the point where cancelling has an effect.
    pub(crate) fn uncancelled(&self) -> Self {
        Self { cancel: CancellationToken::new(), ..self.clone() }
    }

    pub(crate) fn check(&self) -> Result<(), FsError> {
        if self.cancel.is_cancelled() { Err(FsError::aborted(self.op)) } else { Ok(()) }
    }

    pub(crate) fn os(&self, errno: Errno) -> FsError {
        os_error::failure(self.op, &self.display, errno)
    }

    /// The failure to open or look at something by its path. Beneath a root, what says that something is not where it
    /// was when the path was resolved is a refusal.
    pub(crate) fn on_the_way(&self, errno: Errno) -> FsError {
        match errno {
            Errno::LOOP | Errno::XDEV | Errno::AGAIN if self.start.is_bounded() => {
                self.denied("something on the way has moved or become a link").with_source(errno)
            }
            other => self.os(other),
        }
    }

    /// The call would leave its bounds.
    pub(crate) fn denied(&self, why: &str) -> FsError {
        let message = format!("cannot {} \"{}\": {why}", self.op.verb(), self.display);
        FsError::new(FsErrorCode::SandboxDenied, message)
    }

    pub(crate) fn not_regular_file(&self) -> FsError {
        FsError::not_regular_file(self.op, &self.display)
    }

    /// A task that died is a failure of this call, never a panic of the caller.
    pub(crate) fn died(&self, error: JoinError) -> FsError {
        FsError::io(self.op, &self.display, "the operation ended unexpectedly").with_source(error)
    }
}
