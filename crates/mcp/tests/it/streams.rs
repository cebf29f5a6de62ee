use dsh_harness::{Session, SessionHeader};
use dsh_mcp::{McpError, ServeOptions, serve};
use dsh_plugin::{Coded as _, Context};
use serde_json::json;

use crate::client::Client;

#[tokio::test]
async fn a_message_over_the_limit_is_refused_and_the_server_goes_on() {
    let mut client = Client::start(ServeOptions { max_message_bytes: 1000, ..ServeOptions::default() }).await;
    client.post(1, &"x".repeat(1000)).await;
    let message = "message too long: the limit is 1000 bytes; nothing was done";
    let refused = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32600, "message": message}});
    assert_eq!(client.hear().await, refused);
    assert_eq!(client.call(2, "hi").await["isError"], false);
    client.end().await.unwrap();
}

#[tokio::test]
async fn an_exclusive_call_holds_up_the_next_until_it_is_cancelled() {
    let mut client = Client::start(ServeOptions::default()).await;
    client.post(1, "wait").await;
    client.post(2, "hi").await;
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    // The cancelled one is not answered.
    assert_eq!(client.hear().await["id"], 2);
    client.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_end_of_input_cancels_what_does_not_end_by_itself() {
    let mut client = Client::start(ServeOptions::default()).await;
    client.post(1, "wait").await;
    client.end().await.unwrap();
}

#[tokio::test]
async fn a_reader_that_has_gone_ends_the_server() {
    let mut client = Client::start(ServeOptions::default()).await;
    client.call(1, "hi").await;
    client.stop_listening().await.unwrap();
}

#[tokio::test]
async fn without_a_harness_it_does_not_start() {
    let session = Session::new(SessionHeader { id: "s".into(), cwd: "/".into() });
    let failed =
        serve(&Context::root(), session, ServeOptions::default(), tokio::io::empty(), tokio::io::sink())
            .await;
    let Err(error @ McpError::Service(_)) = failed else { panic!("{failed:?}") };
    assert_eq!(error.code(), Some("MCP_SERVICE_MISSING"));
    assert!(
        error.to_string().starts_with("the MCP server cannot start: service \"tools\" is not available"),
        "{error}"
    );
}
