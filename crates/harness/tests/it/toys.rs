//! Tools to test with, and a harness to put them in.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dsh_harness::{
    Concurrency, Content, Execution, HarnessConfig, HarnessPlugin, Meta, ObjectSchema, Schema, TOOLS, Tool,
    ToolCall, ToolDefinition, ToolError, ToolRegistry, ToolResult,
};
use dsh_plugin::Context;
use futures_util::future::BoxFuture;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

/// A root with a harness in it.
pub(crate) async fn harness() -> (Context, Arc<ToolRegistry>) {
    harness_with(HarnessConfig::default()).await
}

pub(crate) async fn harness_with(config: HarnessConfig) -> (Context, Arc<ToolRegistry>) {
    let root = Context::root();
    root.plugin(HarnessPlugin, config).await.unwrap();
    let tools = root.service(TOOLS).unwrap();
    (root, tools)
}

pub(crate) fn call(tool: &str, arguments: Json) -> ToolCall {
    ToolCall {
        id: "c1".to_owned(),
        tool: tool.to_owned(),
        arguments,
        session: None,
        cancel: CancellationToken::new(),
    }
}

/// Text, name and code of an error result.
pub(crate) fn told(result: &ToolResult) -> (String, Option<&str>, Option<&str>) {
    let error = result.error().expect("an error result");
    (result.text(), error.name.as_deref(), error.code.as_deref())
}

/// What happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, entry: impl Into<String>) {
        self.0.lock().unwrap().push(entry.into());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[derive(serde::Deserialize)]
pub(crate) struct ToyArgs {
    #[serde(default)]
    pub(crate) text: String,
}

type Body =
    Box<dyn Fn(Arc<ToyArgs>, Arc<Execution>) -> BoxFuture<'static, Result<String, ToolError>> + Send + Sync>;

/// A tool whose value is a text, shown as `<value>`.
pub(crate) struct Toy {
    name: String,
    body: Body,
    /// Which calls are parallel.
    parallel: Box<dyn Fn(&ToyArgs) -> bool + Send + Sync>,
}

impl Toy {
    pub(crate) fn new<F, Fut>(name: &str, body: F) -> Self
    where
        F: Fn(Arc<ToyArgs>, Arc<Execution>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String, ToolError>> + Send + 'static,
    {
        let body: Body = Box::new(move |args, exec| Box::pin(body(args, exec)));
        Self { name: name.to_owned(), body, parallel: Box::new(|_| false) }
    }

    /// Gives its text back.
    pub(crate) fn echo(name: &str) -> Self {
        Self::new(name, |args, _| async move { Ok(args.text.clone()) })
    }

    /// Adds `+text`, waits the milliseconds that the text begins with, adds `-text`.
    pub(crate) fn slow(name: &str, log: &Log) -> Self {
        let log = log.clone();
        Self::new(name, move |args, _| {
            let log = log.clone();
            async move {
                log.add(format!("+{}", args.text));
                let millis = args.text.trim_end_matches(char::is_alphabetic).parse().unwrap_or(0);
                tokio::time::sleep(Duration::from_millis(millis)).await;
                log.add(format!("-{}", args.text));
                Ok(args.text.clone())
            }
        })
    }

    pub(crate) fn parallel(self) -> Self {
        self.parallel_if(|_| true)
    }

    pub(crate) fn parallel_if(self, parallel: impl Fn(&ToyArgs) -> bool + Send + Sync + 'static) -> Self {
        Self { parallel: Box::new(parallel), ..self }
    }
}

impl Tool for Toy {
    type Args = ToyArgs;
    type Value = String;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(
            &self.name,
            "A toy.",
            ObjectSchema::new().optional("text", Schema::string("Anything.")),
        )
    }

    fn concurrency(&self, args: &ToyArgs) -> Concurrency {
        if (self.parallel)(args) { Concurrency::Parallel } else { Concurrency::Exclusive }
    }

    async fn execute(&self, args: Arc<ToyArgs>, exec: Arc<Execution>) -> Result<String, ToolError> {
        (self.body)(args, exec).await
    }

    fn render(&self, _: &ToyArgs, value: &String) -> Vec<Content> {
        assert_ne!(value, "unrenderable", "cannot show this");
        vec![Content::Text(format!("<{value}>"))]
    }

    fn meta(&self, _: &ToyArgs, value: &String) -> Option<Meta> {
        assert_ne!(value, "metaless", "no meta for this");
        Some(json!({"shown": value}).into())
    }

    fn present_call(&self, args: &ToyArgs) -> Option<Json> {
        assert_ne!(args.text, "unpresentable", "cannot present this");
        Some(json!({"title": format!("Toy {}", args.text)}))
    }

    fn present_result(&self, _: &ToyArgs, result: &ToolResult) -> Option<Json> {
        (!result.is_error()).then(|| json!({"card": result.text()}))
    }
}
