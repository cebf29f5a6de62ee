use dsh_harness::{PostExecute, Verdict};
use dsh_mcp::ServeOptions;
use serde_json::json;

use crate::client::Client;

#[tokio::test]
async fn a_success_is_text_with_its_card_in_the_given_session() {
    let mut client = Client::start(ServeOptions::default()).await;
    let expected = json!({
        "resultType": "complete",
        "content": [{"type": "text", "text": "hi in the session"}],
        "isError": false,
        "_meta": {"dsh-fs/card": {"card": "hi"}},
    });
    assert_eq!(client.call(1, "hi").await, expected);
    client.end().await.unwrap();
}

#[tokio::test]
async fn a_plain_failure_has_a_message_and_its_metadata_but_no_name() {
    let mut client = Client::start(ServeOptions::default()).await;
    let expected = json!({
        "resultType": "complete",
        "content": [{"type": "text", "text": "Error: it failed"}],
        "isError": true,
        "_meta": {"dsh-fs/error": {"message": "it failed"}, "dsh-fs/meta": {"committed": true}},
    });
    assert_eq!(client.call(1, "fail").await, expected);
    client.end().await.unwrap();
}

#[tokio::test]
async fn what_a_listener_appends_is_shown_after_the_result() {
    let mut client = Client::start(ServeOptions::default()).await;
    client
        .ctx
        .intercept::<PostExecute, _, _>(|_, _| async {
            Ok(Verdict::Accept { content: None, value: None, contexts: vec!["by the way".to_owned()] })
        })
        .unwrap();
    let shown = client.call(1, "hi").await["content"].take();
    assert_eq!(
        shown,
        json!([{"type": "text", "text": "hi in the session"}, {"type": "text", "text": "by the way"}])
    );
    client.end().await.unwrap();
}
