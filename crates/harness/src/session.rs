//! Who a call belongs to: one conversation with its workspace.

use std::path::PathBuf;
use std::sync::Arc;

use crate::log_file::{LogFile, StateFolder};
use crate::session_log::SessionLog;

/// What a session is from its first moment on; it never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHeader {
    /// The name callers know it by. Two sessions may carry the same id: identity is the [`Arc`].
    pub id: String,
    /// The workspace of all file tools of this session, an absolute path.
    pub cwd: PathBuf,
}

/// One conversation whose calls belong together.
///
/// State kept for a session (what a policy has seen, line indexes) is keyed by the identity of the `Arc`
/// ([`Arc::ptr_eq`], `Weak`), never by the id: a resumed session with the same id starts empty.
#[derive(Debug)]
pub struct Session {
    header: SessionHeader,
    log: SessionLog,
}

impl Session {
    /// Begins a session; every call makes another one, whatever the header says.
    #[must_use]
    pub fn new(header: SessionHeader) -> Arc<Self> {
        Arc::new(Self { header, log: SessionLog::default() })
    }

    /// Begins a session whose log is kept on disk too, in `state`: see [`SessionLog`]. One that was there before under the
    /// same id shares its file with this one and nothing else.
    #[must_use]
    pub fn recorded(header: SessionHeader, state: &StateFolder) -> Arc<Self> {
        let log = SessionLog::kept_in(LogFile::new(state, &header));
        Arc::new(Self { header, log })
    }

    /// The immutable header.
    pub fn header(&self) -> &SessionHeader {
        &self.header
    }

    /// What has happened in it so far.
    pub fn log(&self) -> &SessionLog {
        &self.log
    }
}
