use dsh_harness::{LogEvent, PreExecute, Session, SessionHeader};
use dsh_plugin::PlainError;
use serde_json::{Value as Json, json};

use crate::toys::{Toy, call, harness};

pub(crate) fn session() -> std::sync::Arc<Session> {
    Session::new(SessionHeader { id: "s1".to_owned(), cwd: "/w".into() })
}

/// The events as kinds and data.
pub(crate) fn logged(session: &Session) -> Vec<(String, Json)> {
    session.log().events().into_iter().map(|LogEvent { kind, data, .. }| (kind, data)).collect()
}

#[test]
fn events_are_numbered_and_the_last_of_a_kind_is_found() {
    let session = session();
    let log = session.log();
    assert_eq!((log.events(), log.last("a")), (vec![], None));
    assert_eq!(log.append("a", json!(1)), 1);
    assert_eq!(log.append("b", json!(2)), 2);
    assert_eq!(log.append("a", json!(3)), 3);
    assert_eq!((log.last("a"), log.last("b"), log.last("c")), (Some(json!(3)), Some(json!(2)), None));
    let kept: Vec<_> = log.events().into_iter().map(|event| (event.seq, event.kind, event.data)).collect();
    assert_eq!(kept, [(1, "a".into(), json!(1)), (2, "b".into(), json!(2)), (3, "a".into(), json!(3))]);
}

#[test]
fn old_events_go_but_the_last_of_a_kind_stays_known() {
    let session = session();
    let log = session.log();
    log.append("sandbox/mode", json!({"mode": "read-only"}));
    for number in 0..3000 {
        log.append("tool/call", json!(number));
    }
    let events = log.events();
    assert_eq!((events.len(), events[0].seq, events[1023].seq), (1024, 1978, 3001));
    assert_eq!(log.last("sandbox/mode"), Some(json!({"mode": "read-only"})));
}

#[tokio::test]
async fn every_call_of_a_session_leaves_its_start_and_its_end() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::echo("toy")).unwrap();
    let session = session();
    let mut asked = call("toy", json!({"text": "a secret"}));
    asked.session = Some(session.clone());
    tools.execute(asked.clone()).await;
    asked.tool = "x".repeat(5000);
    asked.id = "c2".to_owned();
    tools.execute(asked.clone()).await;
    asked.cancel.cancel();
    asked.id = "é".repeat(600);
    tools.execute(asked).await;
    let id = "é".repeat(512);
    assert_eq!(
        logged(&session),
        [
            ("tool/call".to_owned(), json!({"callId": "c1", "name": "toy"})),
            ("tool/result".to_owned(), json!({"callId": "c1"})),
            ("tool/call".to_owned(), json!({"callId": "c2", "name": "x".repeat(1024)})),
            (
                "tool/result".to_owned(),
                json!({"callId": "c2", "error": {"name": "ToolNotFoundError", "code": "UNKNOWN_TOOL"}})
            ),
            ("tool/call".to_owned(), json!({"callId": id, "name": "x".repeat(1024)})),
            (
                "tool/result".to_owned(),
                json!({"callId": id, "error": {"name": "AbortError", "code": "ABORTED_BEFORE_DISPATCH"}})
            ),
        ]
    );
}

#[tokio::test]
async fn a_plain_failure_is_an_error_without_a_code() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::echo("toy")).unwrap();
    root.intercept::<PreExecute, _, _>(|_, _| async { Err(PlainError::new("no").into()) }).unwrap();
    let session = session();
    let mut asked = call("toy", json!({}));
    asked.session = Some(session.clone());
    tools.execute(asked).await;
    let result = session.log().last("tool/result");
    assert_eq!(result, Some(json!({"callId": "c1", "error": {"name": "Error"}})));
}
