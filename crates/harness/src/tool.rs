//! What a tool is: one trait to implement.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::content::Content;
use crate::error::ToolError;
use crate::execution::Execution;
use crate::meta::Meta;
use crate::result::ToolResult;
use crate::schema::ObjectSchema;

/// Something a model can call.
///
/// Register one with [`ToolRegistry::register`](crate::ToolRegistry::register). What the registry does around
/// it: arguments are checked against [`ToolDefinition::parameters`] and read into [`Args`](Self::Args) before
/// the body runs, the value is kept typed, content and meta are rendered from it once, panics anywhere in
/// here become error results, and a success that comes after cancellation is dropped.
///
/// * **Identity**: the name in the definition, asked for once, at registration.
/// * **Cancellation**: the body gets [`Execution::cancel`] and stops when it can do so cleanly. Nobody abandons
///   it: the pipeline waits until it settles. Its error result is kept; `AbortError` is the pipeline's word.
/// * **Failures**: anything [`Coded`](dsh_plugin::Coded); the model sees `Error: <message>`. Values that no
///   schema can refuse (an empty path) are a [`ToolArgsError`](crate::ToolArgsError) or a plain error.
/// * **Rendering is pure**: `render`, `meta` and the presenters depend on nothing but what they are given; they
///   may run again when a listener replaces the value.
pub trait Tool: Send + Sync + 'static {
    /// The arguments; unknown fields are ignored unless the type denies them.
    type Args: DeserializeOwned + Send + Sync + 'static;
    /// The canonical value of a success, for programs. It must serialise to JSON and read back from it.
    type Value: Serialize + DeserializeOwned + Send + Sync + 'static;

    /// Name, description, schema: what a model is told.
    fn definition(&self) -> ToolDefinition;

    /// May this call overlap with others of the same batch? Never asked with arguments that do not fit.
    fn concurrency(&self, args: &Self::Args) -> Concurrency {
        let _ = args;
        Concurrency::Exclusive
    }

    /// Does the work.
    fn execute(
        &self,
        args: Arc<Self::Args>,
        exec: Arc<Execution>,
    ) -> impl Future<Output = Result<Self::Value, ToolError>> + Send;

    /// What the model sees of a success.
    fn render(&self, args: &Self::Args, value: &Self::Value) -> Vec<Content>;

    /// Data for user interfaces, kept with the result.
    fn meta(&self, args: &Self::Args, value: &Self::Value) -> Option<Meta> {
        let _ = (args, value);
        None
    }

    /// What a success has changed for good, such as `{"committed": true, "path": …}`. Should the success be dropped
    /// after all (cancelled meanwhile, blocked or failed by a listener), this is the metadata of the error result, so
    /// that nobody takes a change for undone.
    fn committed(&self, args: &Self::Args, value: &Self::Value) -> Option<Meta> {
        let _ = (args, value);
        None
    }

    /// The card of a call before it ran.
    fn present_call(&self, args: &Self::Args) -> Option<Json> {
        let _ = args;
        None
    }

    /// The card of a result.
    fn present_result(&self, args: &Self::Args, result: &ToolResult) -> Option<Json> {
        let _ = (args, result);
        None
    }
}

/// What is known of a tool without running it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// Unique in the registry.
    pub name: String,
    /// One or more sentences for the model.
    pub description: String,
    /// The schema of the arguments.
    pub parameters: ObjectSchema,
    /// Hints for clients; never shown to the model.
    pub annotations: Annotations,
    /// The time budget of one call, more than zero; enforced by a policy, never shown to the model.
    pub timeout: Option<Duration>,
}

/// Hints for clients, with the meaning MCP gives them. The default claims nothing: everything `false`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "four independent hints, named as the protocol names them")]
pub struct Annotations {
    /// A name for people.
    pub title: Option<String>,
    /// Changes nothing.
    pub read_only: bool,
    /// May replace or remove what was there.
    pub destructive: bool,
    /// Doing it twice is doing it once.
    pub idempotent: bool,
    /// Reaches beyond a closed set of things, such as the network.
    pub open_world: bool,
}

/// How a call goes along with its neighbours in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// May overlap with other parallel calls.
    Parallel,
    /// Runs alone: everything before it is finished, nothing after it has started.
    Exclusive,
}

impl ToolDefinition {
    /// A definition without hints and without a time budget.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: ObjectSchema) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters,
            annotations: Annotations::default(),
            timeout: None,
        }
    }
}
