//! A client over HTTP that writes its requests by hand, and the toy that it calls.

use std::sync::Arc;
use std::time::Duration;

use dsh_harness::{
    Annotations, Concurrency, Content, Execution, HarnessConfig, HarnessPlugin, ObjectSchema, Schema,
    Session, SessionHeader, TOOLS, Tool, ToolDefinition, ToolError,
};
use dsh_mcp::{HttpOptions, McpError, Refused, serve_http};
use dsh_plugin::{Context, PlainError};
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

/// What a test sees of the toy's calls, and does with them.
#[derive(Default)]
pub(crate) struct Strings {
    pub(crate) begun: Notify,
    pub(crate) stopped: Notify,
    pub(crate) release: Notify,
}

/// Does what it is told.
pub(crate) struct Toy(pub(crate) Arc<Strings>);

impl Tool for Toy {
    type Args = Json;
    type Value = Json;

    fn definition(&self) -> ToolDefinition {
        let parameters = ObjectSchema::new().required("do", Schema::string("What to do."));
        let annotations = Annotations { read_only: false, ..Annotations::default() };
        ToolDefinition { annotations, ..ToolDefinition::new("toy", "Does it.", parameters) }
    }

    fn concurrency(&self, _: &Json) -> Concurrency {
        Concurrency::Parallel
    }

    async fn execute(&self, args: Arc<Json>, exec: Arc<Execution>) -> Result<Json, ToolError> {
        let Self(strings) = self;
        let said = match args["do"].as_str().unwrap() {
            "who" => exec.session.as_ref().map_or("nobody", |session| &session.header().id).to_owned(),
            "hold" => {
                strings.begun.notify_one();
                strings.release.notified().await;
                "held".to_owned()
            }
            "wait" => {
                strings.begun.notify_one();
                exec.cancel.cancelled().await;
                strings.stopped.notify_one();
                return Err(PlainError::new("stopped").into());
            }
            "count" => {
                for done in [0.0, 50.0, 100.0] {
                    exec.report.say(done, Some(100.0), Some("counting"));
                }
                "counted".to_owned()
            }
            "long" => "x".repeat(5000),
            _ => return Err(PlainError::new("no").into()),
        };
        Ok(json!({"said": said}))
    }

    fn render(&self, _: &Json, value: &Json) -> Vec<Content> {
        vec![Content::text(value["said"].as_str().unwrap())]
    }
}

/// A server, and what its test holds of it.
pub(crate) struct Served {
    pub(crate) ctx: Context,
    pub(crate) strings: Arc<Strings>,
    pub(crate) port: u16,
    stop: oneshot::Sender<()>,
    server: JoinHandle<Result<(), McpError>>,
}

impl Served {
    pub(crate) async fn start(options: HttpOptions) -> Self {
        let ctx = Context::root();
        ctx.plugin(HarnessPlugin, HarnessConfig::default()).await.unwrap();
        let strings = Arc::new(Strings::default());
        ctx.service(TOOLS).unwrap().register(&ctx, Toy(strings.clone())).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stop, stopped) = oneshot::channel();
        let server = {
            let ctx = ctx.clone();
            tokio::spawn(async move {
                let stop = async {
                    let _ = stopped.await;
                };
                serve_http(&ctx, begin, options, listener, stop).await
            })
        };
        Self { ctx, strings, port, stop, server }
    }

    /// Tells the server to end; its end is the handle's.
    pub(crate) fn stop(self) -> JoinHandle<Result<(), McpError>> {
        self.stop.send(()).unwrap();
        self.server
    }

    /// Sends a request and goes away without waiting when the stream is dropped.
    pub(crate) async fn send(&self, head: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let (host, length) = (format!("127.0.0.1:{}", self.port), body.len().to_string());
        let usual = [("host", host.as_str()), ("content-length", length.as_str())];
        let given = |name: &str| headers.iter().any(|(other, _)| *other == name);
        let usual = usual.into_iter().filter(|(name, _)| !given(name));
        let lines = headers.iter().copied().chain(usual).map(|(name, value)| format!("{name}: {value}\r\n"));
        let request = format!(
            "{head} HTTP/1.1\r\nconnection: close\r\n{}content-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n\r\n{body}",
            lines.collect::<String>(),
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    pub(crate) async fn ask(&self, head: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        Answer::of(self.send(head, headers, body).await).await
    }

    /// The same with one header.
    pub(crate) async fn ask_with(&self, head: &str, header: (&str, &str), body: &str) -> Answer {
        self.ask(head, &[header], body).await
    }

    /// A call of the toy by the newer protocol.
    pub(crate) async fn call(&self, path: &str, headers: &[(&str, &str)], what: &str) -> Answer {
        let (headers, body) = newer("tools/call", headers, json!({"name": "toy", "arguments": {"do": what}}));
        self.ask(&format!("POST {path}"), &headers, &body).await
    }

    /// What the toy says to a call, or the code of the refusal.
    pub(crate) async fn says(&self, path: &str, headers: &[(&str, &str)], what: &str) -> String {
        self.call(path, headers, what).await.said()
    }

    /// An older client says hello, and gets its `Mcp-Session-Id`.
    pub(crate) async fn hello(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        self.ask(&format!("POST {path}"), headers, &message("initialize", params)).await
    }

    /// A call of the toy by the older protocol.
    pub(crate) async fn older_says(&self, path: &str, headers: &[(&str, &str)], what: &str) -> String {
        let params = json!({"name": "toy", "arguments": {"do": what}});
        self.ask(&format!("POST {path}"), headers, &message("tools/call", params)).await.said()
    }
}

fn begin(id: &str, workspace: Option<&str>) -> Result<Arc<Session>, Refused> {
    match workspace {
        Some("nowhere") => Err(Refused::missing("NO_SUCH_WORKSPACE", "it is not there")),
        other => {
            let cwd = other.map_or("/".into(), |name| format!("/{name}").into());
            Ok(Session::new(SessionHeader { id: id.to_owned(), cwd }))
        }
    }
}

pub(crate) fn message(method: &str, params: Json) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

/// Headers and body of a request by the protocol without handshake.
pub(crate) fn newer<'a>(
    method: &'a str,
    headers: &[(&'a str, &'a str)],
    mut params: Json,
) -> (Vec<(&'a str, &'a str)>, String) {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    if method == "tools/call" {
        meta["progressToken"] = "p".into();
    }
    params["_meta"] = meta;
    let mut headers = headers.to_vec();
    headers.extend([("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)]);
    if method == "tools/call" {
        headers.push(("mcp-name", "toy"));
    }
    (headers, message(method, params))
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) async fn of(mut stream: TcpStream) -> Self {
        let mut read = Vec::new();
        let end = stream.read_to_end(&mut read);
        tokio::time::timeout(Duration::from_secs(30), end).await.expect("the answer ends").unwrap();
        let read = String::from_utf8(read).unwrap();
        let (head, rest) = read.split_once("\r\n\r\n").expect("an answer has a head");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let head = head.to_ascii_lowercase();
        let body =
            if head.contains("transfer-encoding: chunked") { unchunked(rest) } else { rest.to_owned() };
        Self { status, head, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// The messages, whether they came as one or as a stream.
    pub(crate) fn messages(&self) -> Vec<Json> {
        if self.header("content-type") != Some("text/event-stream") {
            return vec![serde_json::from_str(&self.body).unwrap_or(Json::Null)];
        }
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
    }

    /// The one message that answers.
    pub(crate) fn answer(&self) -> Json {
        self.messages().pop().unwrap_or_else(|| panic!("no answer: {self:?}"))
    }

    /// The code of a refusal, or the text of a result.
    pub(crate) fn said(&self) -> String {
        let answer = self.answer();
        let mut blocks = answer["result"]["content"].as_array().into_iter().flatten();
        let text = blocks.find_map(|block| block["text"].as_str());
        let said = answer["error"]["data"]["code"].as_str().or(text);
        said.unwrap_or_else(|| panic!("neither a result nor a refusal: {self:?}")).to_owned()
    }
}

fn unchunked(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let Ok(size @ 1..) = usize::from_str_radix(size, 16) else { break };
        whole += &after[..size];
        rest = &after[size + 2..];
    }
    whole
}
