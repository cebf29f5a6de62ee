//! Calls that take their time: over HTTP, and what happens to them.

use std::time::Duration;

use dsh_mcp::HttpOptions;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

use crate::http_client::{Answer, Served, Toy, message, newer};

fn call(what: &str) -> (Vec<(&'static str, &'static str)>, String) {
    newer("tools/call", &[], json!({"name": "toy", "arguments": {"do": what}}))
}

#[tokio::test]
async fn who_hangs_up_cancels_the_call() {
    let served = Served::start(HttpOptions::default()).await;
    let (headers, body) = call("wait");
    let stream = served.send("POST /mcp/one", &headers, &body).await;
    served.strings.begun.notified().await;
    drop(stream);
    served.strings.stopped.notified().await;
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn an_older_client_cancels_by_a_message_and_not_by_hanging_up() {
    let served = Served::start(HttpOptions::default()).await;
    let hello = served.hello("/mcp", &[]).await;
    let headers = [("mcp-session-id", hello.header("mcp-session-id").unwrap())];
    let body = message("tools/call", json!({"name": "toy", "arguments": {"do": "wait"}}));
    let stream = served.send("POST /mcp", &headers, &body).await;
    served.strings.begun.notified().await;
    drop(stream);
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(served.ask("POST /mcp", &headers, &cancelled.to_string()).await.status, 202);
    served.strings.stopped.notified().await;
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn progress_comes_before_the_result_in_both_eras() {
    let served = Served::start(HttpOptions::default()).await;
    let progress = |done: f64| {
        let params = json!({"progressToken": "p", "progress": done, "total": 100.0, "message": "counting"});
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
    };
    let expected = [0.0, 50.0, 100.0].map(progress);
    let counted = served.call("/mcp", &[], "count").await;
    let messages = counted.messages();
    assert_eq!((&messages[..3], counted.said().as_str()), (&expected[..], "counted"));

    let hello = served.hello("/mcp", &[]).await;
    let headers = [("mcp-session-id", hello.header("mcp-session-id").unwrap())];
    let params = json!({"name": "toy", "arguments": {"do": "count"}, "_meta": {"progressToken": "p"}});
    let counted = served.ask("POST /mcp", &headers, &message("tools/call", params)).await;
    assert_eq!((&counted.messages()[..3], counted.said().as_str()), (&expected[..], "counted"));
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn more_calls_than_there_may_be_are_refused() {
    let served =
        Served::start(HttpOptions { max_calls: 2, max_session_calls: 1, ..HttpOptions::default() }).await;
    let (headers, body) = call("hold");
    let one = served.send("POST /mcp/one", &headers, &body).await;
    served.strings.begun.notified().await;
    let busy = served.call("/mcp/one", &[], "who").await.answer();
    let data = json!({"code": "BUSY", "retryAfterMs": 1000});
    let message = "too many calls are under way: nothing was done, try again";
    assert_eq!(busy["error"], json!({"code": -32000, "message": message, "data": data}));
    assert_eq!(served.says("/mcp/two", &[], "who").await, "two");
    let two = served.send("POST /mcp/two", &headers, &body).await;
    served.strings.begun.notified().await;
    assert_eq!(served.says("/mcp/three", &[], "who").await, "BUSY");
    served.strings.release.notify_waiters();
    assert_eq!([Answer::of(one).await.said(), Answer::of(two).await.said()], ["held", "held"]);
    assert_eq!(served.says("/mcp/three", &[], "who").await, "three");
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn at_the_end_calls_under_way_are_finished_and_answered() {
    let served = Served::start(HttpOptions::default()).await;
    let strings = served.strings.clone();
    let (headers, body) = call("hold");
    let newer = served.send("POST /mcp/one", &headers, &body).await;
    strings.begun.notified().await;
    let hello = served.hello("/mcp/two", &[]).await;
    let headers = [("mcp-session-id", hello.header("mcp-session-id").unwrap())];
    let body = message("tools/call", json!({"name": "toy", "arguments": {"do": "hold"}}));
    let older = served.send("POST /mcp", &headers, &body).await;
    strings.begun.notified().await;
    // A stream for notices, which never ends by itself.
    let mut listening = BufReader::new(served.send("GET /mcp", &headers, "").await);
    let mut head = String::new();
    listening.read_line(&mut head).await.unwrap();
    assert_eq!(head, "HTTP/1.1 200 OK\r\n");
    let ended = served.stop();
    strings.release.notify_waiters();
    assert_eq!([Answer::of(newer).await.said(), Answer::of(older).await.said()], ["held", "held"]);
    ended.await.unwrap().unwrap();
    let mut rest = String::new();
    listening.read_to_string(&mut rest).await.unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "the stream has come to its end: {rest}");
}

#[tokio::test]
async fn at_the_end_what_goes_on_for_too_long_is_cancelled_and_answered() {
    let served = Served::start(HttpOptions { grace: Duration::ZERO, ..HttpOptions::default() }).await;
    let strings = served.strings.clone();
    let (headers, body) = call("wait");
    let stream = served.send("POST /mcp/one", &headers, &body).await;
    strings.begun.notified().await;
    served.stop().await.unwrap().unwrap();
    assert_eq!(Answer::of(stream).await.said(), "Error: stopped");
}

/// Messages of a stream, as they come.
struct Stream(BufReader<tokio::net::TcpStream>);

impl Stream {
    async fn next(&mut self) -> Json {
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).await.unwrap(), 0, "the stream goes on");
            if let Some(message) =
                line.strip_prefix("data:").and_then(|data| serde_json::from_str(data.trim()).ok())
            {
                return message;
            }
        }
    }
}

#[tokio::test]
async fn clients_of_both_eras_are_told_when_the_tools_change() {
    let served = Served::start(HttpOptions::default()).await;
    let hello = served.hello("/mcp", &[]).await;
    assert_eq!(hello.answer()["result"]["capabilities"]["tools"], json!({"listChanged": true}));
    let headers = [("mcp-session-id", hello.header("mcp-session-id").unwrap())];
    let mut older = Stream(BufReader::new(served.send("GET /mcp", &headers, "").await));
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    // Who says it twice is told once all the same.
    for _ in 0..2 {
        assert_eq!(served.ask("POST /mcp", &headers, &initialized).await.status, 202);
    }
    // Its answer comes after the message before it was taken.
    assert_eq!(served.older_says("/mcp", &headers, "long").await.len(), 5000);
    let (headers, body) =
        newer("subscriptions/listen", &[], json!({"notifications": {"toolsListChanged": true}}));
    let mut newer = Stream(BufReader::new(served.send("POST /mcp", &headers, &body).await));
    assert_eq!(newer.next().await["method"], "notifications/subscriptions/acknowledged");

    let plugin = served.ctx.service(dsh_harness::TOOLS).unwrap();
    plugin.register(&served.ctx, Renamed(Toy(served.strings.clone()))).unwrap();
    for stream in [&mut older, &mut newer] {
        assert_eq!(stream.next().await["method"], "notifications/tools/list_changed");
    }
    drop(newer);
    served.stop().await.unwrap().unwrap();
    let mut rest = String::new();
    older.0.read_to_string(&mut rest).await.unwrap();
    assert!(!rest.contains("list_changed"), "{rest}");
}

struct Renamed(Toy);

impl dsh_harness::Tool for Renamed {
    type Args = Json;
    type Value = Json;

    fn definition(&self) -> dsh_harness::ToolDefinition {
        dsh_harness::ToolDefinition { name: "another".to_owned(), ..self.0.definition() }
    }

    async fn execute(
        &self,
        args: std::sync::Arc<Json>,
        exec: std::sync::Arc<dsh_harness::Execution>,
    ) -> Result<Json, dsh_harness::ToolError> {
        self.0.execute(args, exec).await
    }

    fn render(&self, args: &Json, value: &Json) -> Vec<dsh_harness::Content> {
        self.0.render(args, value)
    }
}
