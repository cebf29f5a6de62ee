//! [`StandingPolicy`]: under which mode, and around which workspace, the calls of a session run.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use dsh_fs::{CallPolicy, Owner, SandboxMode, SandboxPolicy};
use dsh_harness::Session;
use serde_json::json;

/// The kind of the event by which a session gets a mode of its own: `{"mode": "<mode>"}`.
pub const MODE_EVENT: &str = "sandbox/mode";

/// The service [`SANDBOX_POLICY`](dsh_fs::SANDBOX_POLICY): the mode of the settings unless the session's log says another
/// one, and the session's `cwd`, links followed, as the workspace. They are followed once, when a session makes its first
/// call: a `cwd` that comes to lead elsewhere opens nothing there.
#[derive(Debug)]
pub struct StandingPolicy {
    mode: SandboxMode,
    workspace_root: PathBuf,
    canonical: fn(&Path) -> Option<PathBuf>,
    can_escalate: bool,
    /// The workspaces of the sessions that have made a call.
    workspaces: Mutex<HashMap<Owner, PathBuf>>,
}

impl StandingPolicy {
    /// `mode`, and `workspace_root` (absolute and canonical) for calls outside any session.
    pub fn new(mode: SandboxMode, workspace_root: PathBuf) -> Self {
        Self { mode, workspace_root, canonical: |_| None, can_escalate: true, workspaces: Mutex::default() }
    }

    /// Follows the links of a session's `cwd` by `canonical`; where it answers `None` the `cwd` stays as it is.
    #[must_use]
    pub fn canonical_by(self, canonical: fn(&Path) -> Option<PathBuf>) -> Self {
        Self { canonical, ..self }
    }

    /// No call can be granted more: the kernel confines the process, and that cannot be lifted for one call.
    #[must_use]
    pub fn without_escalation(self) -> Self {
        Self { can_escalate: false, ..self }
    }

    fn mode_of(&self, session: Option<&Session>) -> SandboxMode {
        session.and_then(override_of).unwrap_or(self.mode)
    }

    fn workspace_of(&self, session: &Session) -> PathBuf {
        let cwd = &session.header().cwd;
        (self.canonical)(cwd).unwrap_or_else(|| cwd.clone())
    }

    fn pinned_workspace(&self, owner: &Owner, session: &Session) -> PathBuf {
        let mut workspaces = self.workspaces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(workspace) = workspaces.get(owner) {
            return workspace.clone();
        }
        workspaces.retain(|owner, _| !owner.is_gone());
        let workspace = self.workspace_of(session);
        workspaces.insert(owner.clone(), workspace.clone());
        workspace
    }

    /// What the model is told: the contribution `sandbox:policy` to the runtime context. Nothing outside a session.
    pub(crate) fn sentence(&self, session: Option<&Session>) -> String {
        let Some(session) = session else { return String::new() };
        match self.mode_of(Some(session)) {
            SandboxMode::ReadOnly => READ_ONLY.to_owned(),
            SandboxMode::WorkspaceWrite => {
                let root = json!(self.workspace_of(session).to_string_lossy());
                format!(
                    "Current DSH file policy: workspace-write. Any available operation enforced by the DSH file sandbox may \
                     modify files under the session workspace: {root}. Some platform temporary areas may also be writable."
                )
            }
            SandboxMode::DangerFullAccess => DANGER_FULL_ACCESS.to_owned(),
        }
    }
}

impl SandboxPolicy for StandingPolicy {
    fn standing(&self, owner: Option<&Owner>) -> CallPolicy {
        let session = owner.and_then(|owner| Some((owner, owner.get::<Session>()?)));
        let workspace_root = match &session {
            Some((owner, session)) => self.pinned_workspace(owner, session),
            None => self.workspace_root.clone(),
        };
        CallPolicy { mode: self.mode_of(session.as_ref().map(|(_, session)| &**session)), workspace_root }
    }

    fn can_escalate(&self) -> bool {
        self.can_escalate
    }
}

/// The mode that a session has of its own; `None` where the settings decide.
pub fn override_of(session: &Session) -> Option<SandboxMode> {
    SandboxMode::parse(session.log().last(MODE_EVENT)?.get("mode")?.as_str()?)
}

/// Gives a session a mode of its own, from its next call on. The log keeps it; the transcript does not show it.
pub fn set_sandbox_mode(session: &Session, mode: SandboxMode) {
    session.log().append(MODE_EVENT, json!({ "mode": mode.as_str() }));
}

const READ_ONLY: &str = "Current DSH file policy: read-only. Any available operation enforced by the DSH file sandbox cannot \
    modify files in the standing mode. Do not refuse a required modification from this policy alone: try an available tool \
    normally and follow any denial and escalation guidance it returns.";
const DANGER_FULL_ACCESS: &str = "Current DSH file policy: danger-full-access. The DSH file sandbox does not restrict file \
    modifications by available operations.";
