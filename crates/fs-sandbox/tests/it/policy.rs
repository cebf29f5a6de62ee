use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_fs::SandboxMode::{DangerFullAccess, ReadOnly, WorkspaceWrite};
use dsh_fs::{CallPolicy, Owner, SandboxMode, SandboxPolicy};
use dsh_fs_sandbox::{StandingPolicy, override_of, set_sandbox_mode};
use dsh_harness::{Session, SessionHeader};
use serde_json::json;

fn session(cwd: &str) -> Arc<Session> {
    Session::new(SessionHeader { id: "s1".into(), cwd: cwd.into() })
}

fn policy(mode: SandboxMode, root: &str) -> CallPolicy {
    CallPolicy { mode, workspace_root: root.into() }
}

#[test]
fn without_a_session_the_settings_decide() {
    let standing = StandingPolicy::new(ReadOnly, "/configured".into());
    assert_eq!(standing.standing(None), policy(ReadOnly, "/configured"));
    let stranger = Owner::of(&Arc::new(7));
    assert_eq!(standing.standing(Some(&stranger)), policy(ReadOnly, "/configured"));
    assert!(standing.can_escalate());
    assert!(!standing.without_escalation().can_escalate());
}

#[test]
fn a_session_has_its_own_workspace_links_followed() {
    let follow: fn(&Path) -> Option<PathBuf> =
        |path| path.strip_prefix("/link").ok().map(|rest| Path::new("/real").join(rest));
    let standing = StandingPolicy::new(WorkspaceWrite, "/configured".into()).canonical_by(follow);
    for (cwd, root) in [("/link/w", "/real/w"), ("/gone", "/gone")] {
        let session = session(cwd);
        assert_eq!(standing.standing(Some(&Owner::of(&session))), policy(WorkspaceWrite, root));
    }
}

#[test]
fn the_last_event_of_a_session_decides_its_mode() {
    let standing = StandingPolicy::new(WorkspaceWrite, "/configured".into());
    let (one, other) = (session("/w"), session("/w"));
    assert_eq!(override_of(&one), None);
    set_sandbox_mode(&one, DangerFullAccess);
    set_sandbox_mode(&one, ReadOnly);
    assert_eq!(override_of(&one), Some(ReadOnly));
    assert_eq!(standing.standing(Some(&Owner::of(&one))), policy(ReadOnly, "/w"));
    assert_eq!(standing.standing(Some(&Owner::of(&other))), policy(WorkspaceWrite, "/w"));
    let events: Vec<_> = one.log().events().into_iter().map(|event| (event.kind, event.data)).collect();
    let event = |mode: &str| ("sandbox/mode".to_owned(), json!({ "mode": mode }));
    assert_eq!(events, [event("danger-full-access"), event("read-only")]);
}

#[test]
fn an_event_that_says_nothing_leaves_it_to_the_settings() {
    let session = session("/w");
    for data in [json!(null), json!({}), json!({ "mode": 7 }), json!({ "mode": "open" })] {
        session.log().append("sandbox/mode", data);
        assert_eq!(override_of(&session), None);
    }
}
