//! Who calls, as the file system's events see it; and where relative paths of that caller start.

use std::path::Path;
use std::sync::Arc;

use dsh_fs::{Actor, FsCall, Owner};
use dsh_harness::Execution;

/// A tool call as the actor of `fs/*` events. Its owner is the session object.
pub(crate) struct ToolActor(pub(crate) Arc<Execution>);

impl Actor for ToolActor {
    fn owner(&self) -> Option<Owner> {
        self.0.session.as_ref().map(Owner::of)
    }
}

/// The circumstances under which the backend works for this call.
pub(crate) fn fs_call(exec: &Execution) -> FsCall {
    FsCall::cancelled_by(exec.cancel.clone())
}

/// Where relative paths start: the session's workspace; outside a session the backend's own folder.
pub(crate) fn cwd(exec: &Execution) -> Option<&Path> {
    exec.session.as_ref().map(|session| session.header().cwd.as_path())
}
