//! Whose call it is.

use std::time::Duration;

use dsh_mcp::HttpOptions;
use serde_json::json;

use crate::http_client::{Served, message, newer};

#[tokio::test]
async fn a_session_is_named_in_the_url_or_in_a_header() {
    let served = Served::start(HttpOptions::default()).await;
    assert_eq!(served.says("/mcp/one", &[], "who").await, "one");
    assert_eq!(served.says("/mcp", &[("dsh-session", "two")], "who").await, "two");
    assert_eq!(served.says("/mcp/one", &[("dsh-session", "one")], "who").await, "one");
    assert_eq!(served.says("/mcp/one", &[("dsh-session", "two")], "who").await, "SESSION_CONFLICT");
    assert_eq!(served.says("/mcp", &[("dsh-session", "a"), ("dsh-session", "a")], "who").await, "BAD_HEADER");
    for bad in ["/mcp/", "/mcp/a/b", "/mcp/a%20b", &format!("/mcp/{}", "x".repeat(129))] {
        assert_eq!(served.says(bad, &[], "who").await, "BAD_SESSION_NAME", "{bad}");
    }
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn who_names_no_session_is_nobody_and_a_refusal_says_how_to_name_one() {
    let served = Served::start(HttpOptions::default()).await;
    assert_eq!(served.says("/mcp", &[], "who").await, "nobody");
    let refused = served.call("/mcp", &[], "fail").await.answer();
    let hint = "This call belongs to no session, so nothing that was read before it is remembered: files can be read and \
                created, not changed. A session is named in the URL (/mcp/<session>) or in the header Dsh-Session.";
    assert_eq!(
        refused["result"]["content"],
        json!([{"type": "text", "text": "Error: no"}, {"type": "text", "text": hint}])
    );
    let refused = served.call("/mcp/one", &[], "fail").await.answer();
    assert_eq!(refused["result"]["content"], json!([{"type": "text", "text": "Error: no"}]));
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn an_older_client_without_a_name_gets_a_session_of_its_own() {
    let served = Served::start(HttpOptions::default()).await;
    let (one, two) = (served.hello("/mcp", &[]).await, served.hello("/mcp", &[]).await);
    assert_eq!(one.answer()["result"]["protocolVersion"], "2025-06-18");
    let [one, two] = [&one, &two].map(|hello| hello.header("mcp-session-id").unwrap());
    let ids = [
        served.older_says("/mcp", &[("mcp-session-id", one)], "who").await,
        served.older_says("/mcp", &[("mcp-session-id", one)], "who").await,
        served.older_says("/mcp", &[("mcp-session-id", two)], "who").await,
    ];
    assert!(ids[0].starts_with("s-") && ids[0] == ids[1] && ids[0] != ids[2], "{ids:?}");
    // What the protocol calls a session id is not a name for ours.
    assert_ne!(ids[0], one);
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn an_older_client_that_names_a_session_stays_in_it() {
    let served = Served::start(HttpOptions::default()).await;
    let hello = served.hello("/mcp/one", &[]).await;
    let id = ("mcp-session-id", hello.header("mcp-session-id").unwrap());
    assert_eq!(served.older_says("/mcp/one", &[id], "who").await, "one");
    assert_eq!(served.older_says("/mcp", &[id], "who").await, "one");
    assert_eq!(served.older_says("/mcp/two", &[id], "who").await, "SESSION_CONFLICT");
    // The newer protocol knows no such id, and whoever sends it is not believed for it.
    assert_eq!(served.says("/mcp", &[id], "who").await, "nobody");
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn an_id_that_is_not_known_any_more_is_not_taken_for_nobody() {
    let served = Served::start(HttpOptions::default()).await;
    let unknown =
        served.ask("POST /mcp", &[("mcp-session-id", "x")], &message("tools/list", json!({}))).await;
    assert_eq!((unknown.status, unknown.said().as_str()), (404, "NO_SUCH_SESSION"));
    let hello = served.hello("/mcp", &[]).await;
    let id = ("mcp-session-id", hello.header("mcp-session-id").unwrap());
    assert_eq!(served.ask("DELETE /mcp", &[id], "").await.status, 204);
    assert_eq!(served.older_says("/mcp", &[id], "who").await, "NO_SUCH_SESSION");
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn an_id_that_is_not_believed_does_nothing_to_its_owner() {
    let served = Served::start(HttpOptions::default()).await;
    let hello = served.hello("/mcp/one", &[]).await;
    let owner = ("mcp-session-id", hello.header("mcp-session-id").unwrap());
    // Its answer is a 404, and not because the id is unknown.
    let (headers, body) = newer("no/such", &[owner], json!({}));
    assert_eq!(served.ask("POST /mcp", &headers, &body).await.status, 404);
    assert_eq!(served.older_says("/mcp", &[owner], "who").await, "one");
    // Nor does a hello with it come into the session of the owner, or a goodbye end it.
    let params = json!({"protocolVersion": "2026-07-28", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let headers = [owner, ("mcp-protocol-version", "2026-07-28"), ("mcp-method", "initialize")];
    let other = served.ask("POST /mcp/two", &headers, &message("initialize", params)).await;
    assert_eq!(other.status, 200, "{other:?}");
    let other = ("mcp-session-id", other.header("mcp-session-id").expect("an id of its own"));
    assert_ne!(other, owner);
    assert_eq!(served.older_says("/mcp", &[other], "who").await, "two");
    assert_ne!(served.ask("DELETE /mcp", &headers, "").await.status, 204);
    assert_eq!(served.older_says("/mcp", &[owner], "who").await, "one");
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn an_id_with_the_name_of_another_session_begins_none() {
    let served = Served::start(HttpOptions { max_sessions: 2, ..HttpOptions::default() }).await;
    let hello = served.hello("/mcp/one", &[]).await;
    let id = ("mcp-session-id", hello.header("mcp-session-id").unwrap());
    for name in ["/mcp/two", "/mcp/three"] {
        assert_eq!(served.older_says(name, &[id], "who").await, "SESSION_CONFLICT");
    }
    assert_eq!(served.says("/mcp/four", &[], "who").await, "four");
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn sessions_are_minted_with_a_workspace() {
    let served = Served::start(HttpOptions { minted_only: true, ..HttpOptions::default() }).await;
    assert_eq!(served.says("/mcp/one", &[], "who").await, "NO_SUCH_SESSION");
    let minted = served.ask("POST /sessions", &[], r#"{"session": "one", "workspace": "w"}"#).await;
    assert_eq!(minted.status, 201);
    assert_eq!(minted.answer(), json!({"session": "one", "url": "/mcp/one", "workspace": "w"}));
    assert_eq!(served.says("/mcp/one", &[], "who").await, "one");
    let again = served.ask("POST /sessions", &[], r#"{"session": "one"}"#).await;
    assert_eq!((again.status, again.said().as_str()), (409, "SESSION_EXISTS"));
    let random = served.ask("POST /sessions", &[], "").await.answer();
    let id = random["session"].as_str().unwrap();
    assert_eq!(served.says(random["url"].as_str().unwrap(), &[], "who").await, id);
    for (body, status, code) in [
        (r#"{"workspace": "nowhere"}"#, 404, "NO_SUCH_WORKSPACE"),
        (r#"{"session": "a b"}"#, 400, "BAD_SESSION_NAME"),
        (r#"{"sesion": "a"}"#, 400, "BAD_REQUEST"),
        ("[]", 400, "BAD_REQUEST"),
    ] {
        let refused = served.ask("POST /sessions", &[], body).await;
        assert_eq!((refused.status, refused.said().as_str()), (status, code), "{body}");
    }
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn a_session_that_nobody_uses_expires_and_makes_room() {
    let options = HttpOptions { max_sessions: 1, idle: Duration::from_millis(50), ..HttpOptions::default() };
    let served = Served::start(options).await;
    // One that has a call under way does not.
    let (headers, body) = newer("tools/call", &[], json!({"name": "toy", "arguments": {"do": "hold"}}));
    let holding = served.send("POST /mcp/one", &headers, &body).await;
    served.strings.begun.notified().await;
    let refused = served.call("/mcp/two", &[], "who").await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    assert_eq!(refused.said(), "TOO_MANY_SESSIONS");
    served.strings.release.notify_one();
    assert_eq!(crate::http_client::Answer::of(holding).await.said(), "held");
    while served.says("/mcp/two", &[], "who").await != "two" {
        tokio::task::yield_now().await;
    }
    served.stop().await.unwrap().unwrap();
}
