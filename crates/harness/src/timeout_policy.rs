//! The time budget of a call, kept as a policy around `tools/execute`.

use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;

use dsh_plugin::{Context, Failure, Next, NoConfig, Plugin};

use crate::error::failures;
use crate::events::Execute;
use crate::execution::Execution;
use crate::registry::TOOLS;
use crate::result::ToolResult;

/// Holds every tool to its [`timeout`](crate::ToolDefinition::timeout); a tool without one passes.
///
/// When the time is up, the body's token is cancelled and the body is waited for: nobody abandons it, so a body that does
/// not listen takes as long as it takes. Whatever it then came to, the result is
/// `Error: tool call timed out after <ms>ms`, name `ToolTimeoutError`, code `TOOL_TIMEOUT`; what it has changed for good is
/// still said in the metadata. A caller who cancels before that turns the clock off.
///
/// Calls of tools with a timeout must run in a Tokio runtime that has its clock enabled.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeoutPolicyPlugin;

impl Plugin for TimeoutPolicyPlugin {
    type Config = NoConfig;

    fn name(&self) -> &'static str {
        "timeout-policy"
    }

    fn inject(&self) -> &'static [&'static str] {
        &["tools"]
    }

    async fn apply(&self, ctx: Context, _: NoConfig) -> Result<(), Failure> {
        let tools = ctx.service(TOOLS)?;
        ctx.intercept::<Execute, _, _>(move |exec, next: Next<Execute>| {
            let timeout = tools.get(&exec.tool).and_then(|tool| tool.definition().timeout);
            async move {
                match timeout {
                    Some(timeout) => within(timeout, &exec, next).await,
                    None => next.run(exec).await,
                }
            }
        })?;
        Ok(())
    }
}

async fn within(timeout: Duration, exec: &Execution, next: Next<Execute>) -> Result<ToolResult, Failure> {
    let deadline = exec.cancel.child_token();
    let mut body = pin!(next.run(exec.with_cancel(deadline.clone())));
    let mut caller = pin!(exec.cancel.cancelled());
    let mut clock = pin!(tokio::time::sleep(timeout));
    let (mut watching, mut timed_out) = (true, false);
    // The body comes first: one that ends at the very moment its time is up was in time.
    let result = poll_fn(|cx| {
        let settled = body.as_mut().poll(cx);
        if settled.is_pending() && watching {
            if caller.as_mut().poll(cx).is_ready() {
                watching = false;
            } else if clock.as_mut().poll(cx).is_ready() {
                (watching, timed_out) = (false, true);
                deadline.cancel();
            }
        }
        settled
    })
    .await?;
    Ok(if timed_out { overdue(timeout, result) } else { result })
}

fn overdue(timeout: Duration, result: ToolResult) -> ToolResult {
    // A failure's metadata may tell of a change that was made all the same; a success's only shows it.
    let meta = if result.is_error() { result.meta } else { None };
    let error = failures::timed_out(timeout.as_millis());
    ToolResult { meta, contexts: result.contexts, ..ToolResult::failure(error) }
}
