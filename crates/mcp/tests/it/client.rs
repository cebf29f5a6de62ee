//! A client that writes its lines by hand, and the toy that it calls.

use std::sync::Arc;

use dsh_harness::{
    Annotations, Content, Execution, HarnessConfig, HarnessPlugin, ObjectSchema, Schema, Session,
    SessionHeader, TOOLS, Tool, ToolDefinition, ToolError, ToolResult,
};
use dsh_mcp::{McpError, ServeOptions, serve};
use dsh_plugin::{Context, PlainError};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::task::JoinHandle;

/// Says what it is told; fails, with metadata, where that is `fail`, and never ends where it is `wait`.
pub(crate) struct Echo;

#[derive(Deserialize)]
pub(crate) struct Said {
    text: String,
}

impl Tool for Echo {
    type Args = Said;
    type Value = String;

    fn definition(&self) -> ToolDefinition {
        let parameters = ObjectSchema::new().required("text", Schema::string("What to say."));
        ToolDefinition {
            annotations: Annotations {
                title: Some("Echo".into()),
                read_only: true,
                ..Annotations::default()
            },
            ..ToolDefinition::new("echo", "Says it.", parameters)
        }
    }

    async fn execute(&self, args: Arc<Said>, exec: Arc<Execution>) -> Result<String, ToolError> {
        match args.text.as_str() {
            "fail" => {
                Err(ToolError::from(PlainError::new("it failed")).with_meta(json!({"committed": true})))
            }
            "wait" => {
                exec.cancel.cancelled().await;
                Err(PlainError::new("stopped").into())
            }
            text => Ok(format!("{text} in {}", exec.session.as_ref().unwrap().header().id)),
        }
    }

    fn render(&self, _: &Said, value: &String) -> Vec<Content> {
        vec![Content::text(value.as_str())]
    }

    fn present_result(&self, args: &Said, result: &ToolResult) -> Option<Json> {
        (!result.is_error()).then(|| json!({"card": args.text}))
    }
}

pub(crate) struct Client {
    pub(crate) ctx: Context,
    pub(crate) session: Arc<Session>,
    output: Option<DuplexStream>,
    input: Lines<BufReader<DuplexStream>>,
    server: JoinHandle<Result<(), McpError>>,
}

impl Client {
    /// A client of the protocol without handshake.
    pub(crate) async fn start(options: ServeOptions) -> Self {
        let ctx = Context::root();
        ctx.plugin(HarnessPlugin, HarnessConfig::default()).await.unwrap();
        ctx.service(TOOLS).unwrap().register(&ctx, Echo).unwrap();
        Self::connect(ctx, "the session", options)
    }

    /// Another client of the same harness.
    pub(crate) fn connect(ctx: Context, session: &str, options: ServeOptions) -> Self {
        let session = Session::new(SessionHeader { id: session.into(), cwd: "/".into() });
        let (output, server_input) = tokio::io::duplex(1 << 20);
        let (server_output, input) = tokio::io::duplex(1 << 20);
        let server = {
            let ctx = ctx.clone();
            let session = session.clone();
            tokio::spawn(async move { serve(&ctx, session, options, server_input, server_output).await })
        };
        Self { ctx, session, output: Some(output), input: BufReader::new(input).lines(), server }
    }

    pub(crate) async fn say(&mut self, line: &str) {
        let output = self.output.as_mut().unwrap();
        output.write_all(line.as_bytes()).await.unwrap();
        output.write_all(b"\n").await.unwrap();
    }

    pub(crate) async fn hear(&mut self) -> Json {
        let line = self.input.next_line().await.unwrap().expect("the server answers");
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) async fn post(&mut self, id: i64, text: &str) {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": "echo", "arguments": {"text": text}, "_meta": meta});
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string())
            .await;
    }

    /// The result of a call.
    pub(crate) async fn call(&mut self, id: i64, text: &str) -> Json {
        self.post(id, text).await;
        let mut answer = self.hear().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].take()
    }

    /// Nobody listens any more, but the input stays open.
    pub(crate) async fn stop_listening(self) -> Result<(), McpError> {
        let Self { output, input, server, .. } = self;
        drop(input);
        let mut output = output.unwrap();
        output.write_all(b"nonsense\n").await.unwrap();
        server.await.unwrap()
    }

    pub(crate) async fn end(mut self) -> Result<(), McpError> {
        self.output = None;
        self.server.await.unwrap()
    }
}
