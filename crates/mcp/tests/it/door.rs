//! Who is let in, and what of theirs is looked at.

use std::sync::Arc;
use std::time::Duration;

use dsh_harness::{HarnessConfig, HarnessPlugin, Session};
use dsh_mcp::{HttpOptions, McpError, Refused, ServeOptions, Tokens, serve_http};
use dsh_plugin::{Coded as _, Context};
use serde_json::json;
use tokio::net::TcpListener;

use crate::http_client::{Answer, Served, message};

#[tokio::test]
async fn a_web_page_of_somebody_else_is_not_let_in() {
    let options = HttpOptions { origins: vec!["https://app.example".to_owned()], ..HttpOptions::default() };
    let served = Served::start(options).await;
    let own = format!("http://localhost:{}", served.port);
    assert_eq!(served.says("/mcp", &[("origin", own.as_str())], "who").await, "nobody");
    for (header, value, code) in [
        ("origin", "https://evil.example", "ORIGIN_FORBIDDEN"),
        ("origin", "null", "ORIGIN_FORBIDDEN"),
        ("host", "evil.example", "HOST_FORBIDDEN"),
    ] {
        for path in ["/mcp", "/mcp/one"] {
            let refused = served.call(path, &[(header, value)], "who").await;
            assert_eq!((refused.status, refused.said().as_str()), (403, code), "{header}: {value}");
            assert_eq!(refused.header("access-control-allow-origin"), None);
        }
        assert_eq!(served.ask("POST /sessions", &[(header, value)], "").await.status, 403);
        assert_eq!(served.ask("GET /health", &[(header, value)], "").await.status, 403);
    }
    let preflight = [("origin", "https://app.example"), ("access-control-request-method", "POST")];
    let allowed = served.ask("OPTIONS /mcp", &preflight, "").await;
    assert_eq!(allowed.status, 204);
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://app.example"));
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn with_tokens_nobody_comes_in_without_one_and_each_is_bound_to_its_sessions() {
    let tokens = Tokens::parse("aaaaaaaaaaaaaaaa\nbbbbbbbbbbbbbbbb session=bob-* workspace=.\n").unwrap();
    let served = Served::start(HttpOptions { tokens: Some(tokens), ..HttpOptions::default() }).await;
    assert_eq!(served.ask("GET /health", &[], "").await.body, "ok");
    let nobody = served.call("/mcp", &[], "who").await;
    assert_eq!((nobody.status, nobody.header("www-authenticate")), (401, Some("bearer")));
    for wrong in ["Bearer aaaaaaaaaaaaaaa", "Basic aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaa", "Bearer "] {
        assert_eq!(served.says("/mcp", &[("authorization", wrong)], "who").await, "UNAUTHORIZED", "{wrong}");
    }
    let all = ("authorization", "Bearer aaaaaaaaaaaaaaaa");
    let bob = ("authorization", "bearer bbbbbbbbbbbbbbbb");
    assert_eq!(served.says("/mcp", &[all], "who").await, "nobody");
    assert_eq!(served.says("/mcp/any", &[all], "who").await, "any");
    assert_eq!(served.says("/mcp/bob-1", &[bob], "who").await, "bob-1");
    assert_eq!(served.says("/mcp/any", &[bob], "who").await, "SESSION_FORBIDDEN");
    assert_eq!(served.says("/mcp", &[bob], "who").await, "SESSION_REQUIRED");
    let mint = |body: &'static str| served.ask_with("POST /sessions", bob, body);
    assert_eq!(mint(r#"{"session": "bob-2"}"#).await.status, 201);
    assert_eq!(mint(r#"{"session": "bob-3", "workspace": "b"}"#).await.said(), "WORKSPACE_FORBIDDEN");
    assert_eq!(mint(r#"{"session": "eve"}"#).await.said(), "SESSION_FORBIDDEN");
    // Not even with the id of somebody else's protocol session.
    let hello = served.hello("/mcp/any", &[all]).await;
    let id = ("mcp-session-id", hello.header("mcp-session-id").unwrap());
    assert_eq!(served.older_says("/mcp", &[all, id], "who").await, "any");
    assert_eq!(served.older_says("/mcp", &[bob, id], "who").await, "SESSION_FORBIDDEN");
    assert_eq!(served.older_says("/mcp/bob-1", &[bob, id], "who").await, "SESSION_CONFLICT");
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn a_token_that_is_bound_to_a_workspace_enters_no_session_in_another() {
    let tokens =
        Tokens::parse("aaaaaaaaaaaaaaaa\nbbbbbbbbbbbbbbbb workspace=b\ncccccccccccccccc session=*\n");
    let options = HttpOptions { tokens: Some(tokens.unwrap()), ..HttpOptions::default() };
    let served = Served::start(options).await;
    let all = ("authorization", "Bearer aaaaaaaaaaaaaaaa");
    let bound = ("authorization", "Bearer bbbbbbbbbbbbbbbb");
    let unbound = ("authorization", "Bearer cccccccccccccccc");
    for workspace in ["a", "b"] {
        let body = json!({"session": workspace, "workspace": workspace}).to_string();
        assert_eq!(served.ask("POST /sessions", &[all], &body).await.status, 201);
    }
    assert_eq!(served.says("/mcp/b", &[bound], "who").await, "b");
    assert_eq!(served.says("/mcp/a", &[bound], "who").await, "WORKSPACE_FORBIDDEN");
    assert_eq!(served.says("/mcp/a", &[unbound], "who").await, "a");
    // Nor does it begin one in the folder of those that name none, or enter it there.
    assert_eq!(served.says("/mcp/new", &[bound], "who").await, "WORKSPACE_FORBIDDEN");
    assert_eq!(served.ask("GET /mcp/new", &[all], "").await.said(), "NO_SUCH_SESSION");
    assert_eq!(served.says("/mcp/new", &[unbound], "who").await, "new");
    assert_eq!(served.says("/mcp/new", &[bound], "who").await, "WORKSPACE_FORBIDDEN");
    // Nor with an older client's id.
    for (session, expected) in [("a", "WORKSPACE_FORBIDDEN"), ("b", "b")] {
        let hello = served.hello(&format!("/mcp/{session}"), &[all]).await;
        let id = ("mcp-session-id", hello.header("mcp-session-id").unwrap());
        assert_eq!(served.older_says("/mcp", &[bound, id], "who").await, expected);
    }
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn what_any_web_page_can_make_a_browser_fetch_begins_no_session() {
    let served = Served::start(HttpOptions { max_sessions: 1, ..HttpOptions::default() }).await;
    for request in ["GET /mcp/a", "DELETE /mcp/b", "PUT /mcp/c", "HEAD /mcp/d", "OPTIONS /mcp/e"] {
        assert_eq!(served.ask(request, &[], "").await.status, 404, "{request}");
    }
    let image = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")];
    let refused = served.ask("GET /mcp/a", &image, "").await;
    assert_eq!((refused.status, refused.said().as_str()), (403, "ORIGIN_FORBIDDEN"));
    assert_eq!(served.says("/mcp/one", &[], "who").await, "one");
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn an_address_of_the_network_is_not_served_without_tokens() {
    let ctx = Context::root();
    ctx.plugin(HarnessPlugin, HarnessConfig::default()).await.unwrap();
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let begin = |_: &str, _: Option<&str>| -> Result<Arc<Session>, Refused> { panic!("nobody is let in") };
    let failed = serve_http(&ctx, begin, HttpOptions::default(), listener, async {}).await;
    let Err(error @ McpError::Unguarded(_)) = failed else { panic!("{failed:?}") };
    assert_eq!(error.code(), Some("MCP_UNGUARDED"));
}

#[tokio::test]
async fn what_is_too_long_or_no_message_is_refused_and_the_server_goes_on() {
    let serve = ServeOptions { max_message_bytes: 1000, ..ServeOptions::default() };
    let served = Served::start(HttpOptions { serve, ..HttpOptions::default() }).await;
    let long = served.ask("POST /mcp", &[], &"x".repeat(100_000)).await;
    assert_eq!(long.status, 413);
    assert_eq!(
        long.answer(),
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000,
            "message": "message too long: the limit is 1000 bytes; nothing was done", "data": {"code": "TOO_LONG"}}})
    );
    for (body, code) in [("nonsense", -32700), ("[]", -32600), (r#"{"jsonrpc":"2.0","id":1}"#, -32600)] {
        let refused = served.ask("POST /mcp", &[], body).await;
        assert_eq!((refused.status, &refused.answer()["error"]["code"]), (400, &json!(code)), "{body}");
    }
    assert_eq!(served.ask("POST /mcp", &[], " ").await.said(), "EMPTY");
    assert_eq!(served.ask("POST /elsewhere", &[], "").await.said(), "NOT_FOUND");
    assert_eq!(served.ask("GET /sessions", &[], "").await.said(), "METHOD_NOT_ALLOWED");
    let unknown = served.ask("POST /mcp", &[], &message("tools/list", json!({}))).await;
    assert!((400..500).contains(&unknown.status), "an older client has to say hello first: {unknown:?}");
    assert_eq!(served.says("/mcp", &[], "who").await, "nobody");
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn a_body_that_is_declared_far_too_long_is_not_waited_for() {
    let served = Served::start(HttpOptions::default()).await;
    let stream = served.send("POST /mcp", &[("content-length", "1000000000000")], "").await;
    let refused = tokio::time::timeout(Duration::from_secs(20), Answer::of(stream)).await.expect("at once");
    assert_eq!((refused.status, refused.said().as_str()), (413, "TOO_LONG"));
    served.stop().await.unwrap().unwrap();
}
