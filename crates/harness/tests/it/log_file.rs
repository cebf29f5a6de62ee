//! The log of a session on disk.

use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;

use dsh_harness::{Content, RecordedEvent, Session, SessionHeader, StateFolder, ToolRegistry, ToolResult};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::toys::{Toy, call, harness};

struct Rig {
    _dir: TempDir,
    state: StateFolder,
    tools: Arc<ToolRegistry>,
    root: dsh_plugin::Context,
}

impl Rig {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let state = StateFolder::new(dir.path().join("a/state"));
        state.make().unwrap();
        let (root, tools) = harness().await;
        tools.register(&root, Toy::echo("toy")).unwrap();
        Self { _dir: dir, state, tools, root }
    }

    fn session(&self, id: &str) -> Arc<Session> {
        Session::recorded(SessionHeader { id: id.to_owned(), cwd: "/w".into() }, &self.state)
    }

    async fn call(&self, session: &Arc<Session>, tool: &str, arguments: Json) -> ToolResult {
        let mut asked = call(tool, arguments);
        asked.session = Some(session.clone());
        self.tools.execute(asked).await
    }

    /// The events, and how many lines were not whole.
    fn read(&self, id: &str) -> (Vec<RecordedEvent>, usize) {
        let mut events = self.state.read(id).unwrap();
        let read = events.by_ref().map(Result::unwrap).collect();
        (read, events.torn())
    }

    fn text(&self, id: &str) -> String {
        std::fs::read_to_string(self.state.log_of(id)).unwrap()
    }
}

#[tokio::test]
async fn every_event_is_a_line_with_all_there_is_to_know() {
    let rig = Rig::new().await;
    let session = rig.session("s1");
    rig.call(&session, "toy", json!({"text": "a"})).await;
    rig.call(&session, "nope", json!([1])).await;
    session.log().append("sandbox/mode", json!({"mode": "read-only"}));
    let (events, torn) = rig.read("s1");
    assert_eq!((events.len(), torn), (6, 0));
    let kept: Vec<_> =
        events.iter().map(|event| (event.seq, event.kind.as_str(), event.data.clone())).collect();
    let unknown = "unknown tool \"nope\"";
    assert_eq!(
        kept,
        [
            (0, "session/start", json!({"id": "s1", "cwd": "/w"})),
            (1, "tool/call", json!({"callId": "c1", "name": "toy", "arguments": {"text": "a"}})),
            (
                2,
                "tool/result",
                json!({"call": 1, "callId": "c1", "content": [{"type": "text", "text": "<a>"}], "meta": {"shown": "a"}})
            ),
            (3, "tool/call", json!({"callId": "c1", "name": "nope", "arguments": [1]})),
            (
                4,
                "tool/result",
                json!({
                    "call": 3,
                    "callId": "c1",
                    "content": [{"type": "text", "text": format!("Error: {unknown}")}],
                    "error": {"message": unknown, "name": "ToolNotFoundError", "code": "UNKNOWN_TOOL"}
                })
            ),
            (5, "sandbox/mode", json!({"mode": "read-only"})),
        ]
    );
    assert!(events.iter().all(|event| event.run == events[0].run && event.time > 1_700_000_000_000));
    // What is in memory stays short.
    assert_eq!(session.log().events()[0].data, json!({"callId": "c1", "name": "toy"}));
}

#[tokio::test]
async fn a_result_comes_back_as_its_card_needs_it() {
    let rig = Rig::new().await;
    let session = rig.session("s1");
    let live = rig.call(&session, "toy", json!({"text": "a"})).await;
    rig.call(&session, "toy", json!({"text": 7})).await;
    let (events, _) = rig.read("s1");
    let began = events[1].call().unwrap();
    assert_eq!(
        (began.name.as_str(), &began.arguments, began.call_id.as_str()),
        ("toy", &json!({"text": "a"}), "c1")
    );
    let (call, result) = events[2].result().unwrap();
    assert_eq!((call, result.text(), result.meta.clone()), (events[1].seq, live.text(), live.meta.clone()));
    let card = |result: &ToolResult| rig.tools.present_result("toy", &began.arguments, result);
    assert_eq!(card(&result), Some(json!({"card": "<a>"})));
    assert_eq!(card(&result), card(&live));
    let (_, failed) = events[4].result().unwrap();
    assert_eq!(failed.error().unwrap().code.as_deref(), Some("INVALID_ARGS"));
    assert!(events[0].call().is_none() && events[1].result().is_none());
    assert_eq!(failed.content, [Content::text("Error: invalid arguments: \"text\" must be a string")]);
}

#[tokio::test]
async fn nothing_is_there_before_the_first_event_and_it_is_private() {
    let rig = Rig::new().await;
    let session = rig.session("s1");
    assert_eq!(rig.state.sessions().unwrap(), [""; 0]);
    session.log().append("x", json!(null));
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(rig.state.path()), 0o700);
    assert_eq!(mode(&rig.state.log_of("s1")), 0o600);
}

#[tokio::test]
async fn any_id_is_one_file_and_is_found_again() {
    let rig = Rig::new().await;
    let ids = ["", "..", "../up", "a/b", "A.b_c-1", "~", "é\u{1f600}", "s1"];
    for id in ids {
        rig.session(id).log().append("x", json!(id));
    }
    let mut sorted = ids.map(str::to_owned);
    sorted.sort();
    assert_eq!(rig.state.sessions().unwrap(), sorted);
    for id in ids {
        assert_eq!(rig.read(id).0[1].data, json!(id));
        assert_eq!(rig.state.log_of(id).parent(), Some(rig.state.path()));
    }
}

#[tokio::test]
async fn a_session_that_begins_anew_writes_behind_what_was_there() {
    let rig = Rig::new().await;
    for word in ["one", "two"] {
        rig.session("s1").log().append("word", json!(word));
    }
    let (events, _) = rig.read("s1");
    let kinds: Vec<_> = events.iter().map(|event| (event.seq, event.kind.as_str())).collect();
    assert_eq!(kinds, [(0, "session/start"), (1, "word"), (0, "session/start"), (1, "word")]);
    assert_ne!(events[0].run, events[2].run);
    assert_eq!(events[2].run, events[3].run);
}

#[tokio::test]
async fn a_line_that_is_not_whole_is_passed_over_and_closed_before_the_next() {
    let rig = Rig::new().await;
    rig.session("s1").log().append("word", json!("one"));
    let whole = rig.text("s1");
    let torn = &whole.lines().last().unwrap()[..40];
    let mut file = std::fs::OpenOptions::new().append(true).open(rig.state.log_of("s1")).unwrap();
    file.write_all(torn.as_bytes()).unwrap();
    let (events, skipped) = rig.read("s1");
    assert_eq!((events.len(), skipped), (2, 1));
    rig.session("s1").log().append("word", json!("two"));
    assert!(rig.text("s1").starts_with(&format!("{whole}{torn}\n{{\"run\":")), "{}", rig.text("s1"));
    let (events, skipped) = rig.read("s1");
    assert_eq!((events.len(), skipped, events[3].data.clone()), (4, 1, json!("two")));
    // Whole but for its newline is not whole: what was to come is not known.
    std::fs::write(rig.state.log_of("s2"), whole.trim_end()).unwrap();
    let (events, skipped) = rig.read("s2");
    assert_eq!((events.len(), skipped), (1, 1));
}

#[tokio::test]
async fn a_log_that_cannot_be_written_fails_no_call() {
    let rig = Rig::new().await;
    symlink("/dev/null", rig.state.log_of("link")).unwrap();
    std::fs::create_dir(rig.state.log_of("folder")).unwrap();
    for id in ["link", "folder"] {
        let result = rig.call(&rig.session(id), "toy", json!({"text": "a"})).await;
        assert_eq!(result.text(), "<a>", "{id}");
    }
    // And is written again as soon as it can be.
    let session = rig.session("folder");
    session.log().append("word", json!("lost"));
    std::fs::remove_dir(rig.state.log_of("folder")).unwrap();
    session.log().append("word", json!("kept"));
    let (events, _) = rig.read("folder");
    assert_eq!((events.len(), events[1].seq, events[1].data.clone()), (2, 2, json!("kept")));
    rig.root.dispose().await;
}
