//! A tool with its types erased: arguments in as JSON, a rendered result out.

use std::sync::Arc;

use dsh_plugin::panics::{catch, catch_async};
use futures_util::future::BoxFuture;
use serde::Deserialize as _;
use serde_json::Value as Json;

use crate::error::{ToolArgsError, failures};
use crate::execution::Execution;
use crate::progress::Progress;
use crate::result::{CanonicalValue, ErrorInfo, Outcome, ToolResult};
use crate::tool::{Concurrency, Tool, ToolDefinition};

/// A registered tool with its types erased. Only the registry makes one, out of a [`Tool`]; nothing here panics or fails,
/// whatever the tool does. Running it is the pipeline's: [`ToolRegistry::execute`](crate::ToolRegistry::execute).
pub trait AnyTool: sealed::Runs {
    /// The definition as it was at registration.
    fn definition(&self) -> &ToolDefinition;

    /// Parallel only if the arguments fit and the tool says so.
    fn concurrency(&self, arguments: &Json) -> Concurrency;

    /// The call card; none if the arguments do not fit.
    fn present_call(&self, arguments: &Json) -> Option<Json>;

    /// The result card; none if the arguments do not fit.
    fn present_result(&self, arguments: &Json, result: &ToolResult) -> Option<Json>;
}

pub(crate) mod sealed {
    use super::{Arc, BoxFuture, Execution, Json, Progress, ToolResult};

    /// What only the pipeline does with a tool.
    pub trait Runs: Send + Sync {
        /// Validates, runs, renders.
        fn run<'a>(&'a self, exec: Arc<Execution>, progress: &'a Progress) -> BoxFuture<'a, ToolResult>;

        /// A success with another value, rendered anew; an error result if the value is not one of this tool's.
        fn with_value(&self, arguments: &Json, value: &Json) -> ToolResult;
    }
}

/// The one implementation of [`AnyTool`].
pub(crate) struct TypedTool<T> {
    tool: T,
    definition: ToolDefinition,
}

impl<T: Tool> TypedTool<T> {
    pub(crate) fn new(tool: T) -> Self {
        let definition = tool.definition();
        Self { tool, definition }
    }

    fn args(&self, arguments: &Json) -> Result<T::Args, ToolArgsError> {
        self.definition.parameters.validate(arguments)?;
        // From a reference: the JSON stays with the execution, only the text is copied.
        T::Args::deserialize(arguments)
            .map_err(|error| ToolArgsError::new(format!("invalid arguments: {error}")))
    }

    fn rendered(&self, args: &T::Args, value: T::Value) -> ToolResult {
        let rendered = catch(|| self.tool.render(args, &value))
            .map_err(|text| format!("output.render failed: {text}"))
            .and_then(|content| {
                let meta = catch(|| self.tool.meta(args, &value))
                    .map_err(|text| format!("output.presentationMeta failed: {text}"))?;
                Ok((content, meta))
            });
        match rendered {
            Ok((content, meta)) => {
                let value: Arc<dyn CanonicalValue> = Arc::new(value);
                ToolResult { content, outcome: Outcome::Success(value), meta, contexts: Vec::new() }
            }
            Err(violation) => {
                ToolResult::failure(failures::invalid_output(&self.definition.name, &violation))
            }
        }
    }
}

impl<T: Tool> sealed::Runs for TypedTool<T> {
    fn run<'a>(&'a self, exec: Arc<Execution>, progress: &'a Progress) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let args = match self.args(&exec.arguments) {
                Ok(args) => Arc::new(args),
                Err(error) => return ToolResult::failure(ErrorInfo::of(&error)),
            };
            progress.start();
            match catch_async(|| Box::pin(self.tool.execute(args.clone(), exec))).await {
                Ok(Ok(value)) => {
                    if let Ok(Some(committed)) = catch(|| self.tool.committed(&args, &value)) {
                        progress.commit(committed);
                    }
                    self.rendered(&args, value)
                }
                Ok(Err(error)) => error.into_result(),
                Err(text) => {
                    let what = format!("tool \"{}\"", self.definition.name);
                    ToolResult::failure(failures::panicked(&what, &text))
                }
            }
        })
    }

    fn with_value(&self, arguments: &Json, value: &Json) -> ToolResult {
        let args = match self.args(arguments) {
            Ok(args) => args,
            Err(error) => return ToolResult::failure(ErrorInfo::of(&error)),
        };
        match T::Value::deserialize(value) {
            Ok(value) => self.rendered(&args, value),
            Err(error) => {
                ToolResult::failure(failures::invalid_output(&self.definition.name, &error.to_string()))
            }
        }
    }
}

impl<T: Tool> AnyTool for TypedTool<T> {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn concurrency(&self, arguments: &Json) -> Concurrency {
        let Ok(args) = self.args(arguments) else { return Concurrency::Exclusive };
        catch(|| self.tool.concurrency(&args)).unwrap_or(Concurrency::Exclusive)
    }

    fn present_call(&self, arguments: &Json) -> Option<Json> {
        let args = self.args(arguments).ok()?;
        catch(|| self.tool.present_call(&args)).ok().flatten()
    }

    fn present_result(&self, arguments: &Json, result: &ToolResult) -> Option<Json> {
        let args = self.args(arguments).ok()?;
        catch(|| self.tool.present_result(&args, result)).ok().flatten()
    }
}
