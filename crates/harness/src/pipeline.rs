//! The way of one call: policy, body, judgement. Three steps, so that a batch can overlap the middle one.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use dsh_plugin::Failure;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::approval::{APPROVAL, ApprovalOutcome, ApprovalRequest};
use crate::content::{Content, joined_text};
use crate::error::failures;
use crate::events::{Decision, Execute, PostExecute, PreExecute, ResultPublished, Verdict};
use crate::execution::{Execution, ToolCall};
use crate::progress::Progress;
use crate::recorded;
use crate::registry::Shared;
use crate::report::Reporter;
use crate::result::{ErrorInfo, ToolResult};
use crate::session_log::short;

/// A call that was looked at by policy.
pub(crate) struct Prepared {
    flight: Flight,
    /// The outcome if it must not run.
    refused: Option<Outcome>,
}

/// A call that has an outcome.
pub(crate) struct Dispatched {
    flight: Flight,
    outcome: Outcome,
}

struct Flight {
    exec: Arc<Execution>,
    progress: Arc<Progress>,
    /// The number of its `tool/call` in its session's log.
    began: Option<u64>,
}

enum Outcome {
    /// Post-execute may judge it.
    Open(ToolResult),
    /// Nobody may judge it any more.
    Final(ToolResult),
}

/// Whether the call may run: cancellation, `tools/pre-execute` (which may have a person asked), guards, cancellation again.
/// Every call that comes here is in its session's log; its result follows in [`commit`].
pub(crate) async fn prepare(shared: &Shared, call: ToolCall, report: Reporter) -> Prepared {
    let exec = Arc::new(Execution { report, ..Execution::new(call) });
    let began = exec.session.as_ref().map(|session| {
        let data = json!({ "callId": short(&exec.call_id), "name": short(&exec.tool) });
        session.log().append_whole(recorded::CALL, data, || recorded::call(&exec))
    });
    let refused = refusal(shared, &exec).await;
    Prepared { flight: Flight { exec, progress: Arc::default(), began }, refused }
}

/// `tools/execute` with the body inside; the only step that overlaps with those of other calls.
pub(crate) async fn dispatch(shared: &Arc<Shared>, prepared: Prepared) -> Dispatched {
    let Prepared { flight, refused } = prepared;
    if let Some(outcome) = refused {
        return Dispatched { flight, outcome };
    }
    let Flight { exec, progress, .. } = &flight;
    let body = {
        let (shared, original, progress) = (shared.clone(), exec.clone(), progress.clone());
        move |exec: Arc<Execution>| async move { Ok(run_body(&shared, exec, &original, &progress).await) }
    };
    let outcome = match shared.context.waterfall::<Execute, _, _>(exec.clone(), body).await {
        Ok(result) => Outcome::Open(drop_late_success(result, &flight)),
        Err(failure) => Outcome::Final(failed(&failure)),
    };
    Dispatched { flight, outcome }
}

/// Post-execute, the last word on cancellation, and the announcement.
pub(crate) async fn commit(shared: &Shared, dispatched: Dispatched) -> ToolResult {
    let Dispatched { flight, outcome } = dispatched;
    let result = match outcome {
        Outcome::Open(result) => judge(shared, &flight.exec, result).await,
        Outcome::Final(result) => result,
    };
    let mut result = drop_late_success(result, &flight);
    if result.is_error() && result.meta.is_none() {
        // Whoever turned the success into a failure: what the body changed for good stays said.
        result.meta = flight.progress.committed().cloned();
    }
    if let (Some(session), Some(began)) = (&flight.exec.session, flight.began) {
        let whole = || recorded::result(began, &flight.exec, &result);
        session.log().append_whole(recorded::RESULT, logged(&flight.exec, &result), whole);
    }
    let published = ResultPublished { exec: flight.exec, result: Arc::new(result) };
    if let Err(error) = shared.context.emit::<ResultPublished>(&published) {
        let Execution { tool, call_id, .. } = &*published.exec;
        tracing::warn!("tool \"{tool}\" ({call_id}): tools/result observer failed: {error}");
    }
    Arc::unwrap_or_clone(published.result)
}

/// A result as the session's log keeps it in memory: no arguments and no contents, which may be whole files.
fn logged(exec: &Execution, result: &ToolResult) -> Json {
    let mut data = json!({ "callId": short(&exec.call_id) });
    if let Some(ErrorInfo { name, code, .. }) = result.error() {
        data["error"] = json!({ "name": name.as_deref().unwrap_or("Error") });
        if let Some(code) = code {
            data["error"]["code"] = code.as_str().into();
        }
    }
    data
}

/// The outcome of a call that must not run, `None` if it may.
async fn refusal(shared: &Shared, exec: &Arc<Execution>) -> Option<Outcome> {
    if exec.cancel.is_cancelled() {
        return Some(Outcome::Final(ToolResult::failure(failures::aborted(false))));
    }
    let asked = PreExecute { exec: exec.clone() };
    let answer = shared.context.waterfall::<PreExecute, _, _>(asked, |_| async { Ok(Decision::Allow) });
    let allowed = match answer.await {
        Ok(Decision::Allow) => Ok(()),
        Ok(Decision::Deny { reason }) => Err(reason),
        Ok(Decision::Ask { reason }) => match ask(shared, exec, reason).await {
            // Who withdrew the question is not told that somebody refused.
            Err(_) if exec.cancel.is_cancelled() => Ok(()),
            answered => answered,
        },
        Err(failure) => return Some(Outcome::Final(failed(&failure))),
    };
    let reason = match allowed {
        Err(reason) => Some(reason),
        Ok(()) => match shared.refusal(exec) {
            Ok(reason) => reason,
            Err(text) => {
                return Some(Outcome::Final(ToolResult::failure(failures::panicked("a tool guard", &text))));
            }
        },
    };
    match reason {
        Some(reason) => Some(Outcome::Open(ToolResult::failure(failures::denied(reason)))),
        None if exec.cancel.is_cancelled() => {
            Some(Outcome::Open(ToolResult::failure(failures::aborted(false))))
        }
        None => None,
    }
}

/// Asks a person; the error is the whole message of the refusal.
async fn ask(shared: &Shared, exec: &Execution, reason: Option<String>) -> Result<(), String> {
    let tool = &exec.tool;
    let Some(approval) = shared.context.try_service(APPROVAL) else {
        return Err(
            reason.unwrap_or_else(|| format!("tool \"{tool}\" requires approval (not yet supported)"))
        );
    };
    let Some(session) = exec.session.clone() else {
        return Err(format!(
            "tool \"{tool}\" requires approval, but the call has no agent to route it through"
        ));
    };
    let request = ApprovalRequest {
        session,
        tool: tool.clone(),
        call_id: Some(exec.call_id.clone()),
        reason,
        path: None,
        mode: None,
        justification: None,
        cancel: exec.cancel.clone(),
    };
    match approval.request(request).await {
        ApprovalOutcome::AllowedOnce => Ok(()),
        ApprovalOutcome::Rejected => Err(format!("the user rejected tool \"{tool}\"")),
        ApprovalOutcome::Cancelled => Err(format!("approval for tool \"{tool}\" was cancelled")),
        ApprovalOutcome::Unavailable => {
            Err(format!("tool \"{tool}\" requires approval, but no approval channel is available"))
        }
    }
}

async fn run_body(
    shared: &Shared,
    exec: Arc<Execution>,
    original: &Arc<Execution>,
    progress: &Progress,
) -> ToolResult {
    let Some(tool) = shared.tool_for(&original.tool, original.session.as_deref()) else {
        return ToolResult::failure(failures::unknown_tool(&original.tool));
    };
    if exec.cancel.is_cancelled() || original.cancel.is_cancelled() {
        return ToolResult::failure(failures::aborted(false));
    }
    let (result, cancel) = if Arc::ptr_eq(&exec, original) {
        (tool.run(exec.clone(), progress).await, exec.cancel.clone())
    } else {
        // A wrapper's token need not descend from the caller's, so the body gets one that hears both. Of what a
        // wrapper changed only the token counts: policy and guards have judged the original call.
        let fused = exec.cancel.child_token();
        let run = tool.run(original.with_cancel(fused.clone()), progress);
        (forwarding(&original.cancel, &fused, run).await, fused)
    };
    if !result.is_error() && cancel.is_cancelled() { aborted(result, true) } else { result }
}

/// Waits for `run` whatever happens, and passes a cancellation of `from` on to `to` meanwhile.
async fn forwarding<T>(from: &CancellationToken, to: &CancellationToken, run: impl Future<Output = T>) -> T {
    let mut heard = pin!(from.cancelled());
    let mut run = pin!(run);
    poll_fn(|cx| {
        if !to.is_cancelled() && heard.as_mut().poll(cx).is_ready() {
            to.cancel();
        }
        run.as_mut().poll(cx)
    })
    .await
}

async fn judge(shared: &Shared, exec: &Arc<Execution>, result: ToolResult) -> ToolResult {
    let result = Arc::new(result);
    let asked = PostExecute { exec: exec.clone(), result: result.clone() };
    let answer = shared.context.waterfall::<PostExecute, _, _>(asked, |_| async { Ok(Verdict::accept()) });
    let verdict = match answer.await {
        Ok(verdict) => verdict,
        Err(failure) => return failed(&failure),
    };
    let result = Arc::unwrap_or_clone(result);
    match verdict {
        Verdict::Accept { content, value, contexts } => {
            let mut result = match (content, value) {
                (None, None) => result,
                (Some(content), None) => ToolResult { content, ..result },
                (None, Some(value)) => revalued(shared, exec, result, &value),
                (Some(_), Some(_)) => {
                    let message = "tools/post-execute accept decision cannot replace both value and content";
                    return ToolResult::failure(failures::misused_verdict(message));
                }
            };
            result.contexts.extend(contexts);
            result
        }
        Verdict::Block { feedback, contexts } => blocked(feedback, contexts),
    }
}

fn revalued(shared: &Shared, exec: &Execution, result: ToolResult, value: &Json) -> ToolResult {
    if result.is_error() {
        let message = "tools/post-execute cannot replace the value of a failed result";
        return ToolResult::failure(failures::misused_verdict(message));
    }
    match shared.tool_for(&exec.tool, exec.session.as_deref()) {
        Some(tool) => ToolResult { contexts: result.contexts, ..tool.with_value(&exec.arguments, value) },
        None => ToolResult::failure(failures::unknown_tool(&exec.tool)),
    }
}

fn blocked(feedback: Vec<Content>, contexts: Vec<String>) -> ToolResult {
    let message = if feedback.is_empty() {
        "tool result blocked by post-execute policy".to_owned()
    } else {
        joined_text(&feedback)
    };
    ToolResult { content: feedback, contexts, ..ToolResult::failure(failures::denied(message)) }
}

/// A success that the caller no longer waits for is told as an abort; a failure stays what it is.
fn drop_late_success(result: ToolResult, flight: &Flight) -> ToolResult {
    if result.is_error() || !flight.exec.cancel.is_cancelled() {
        return result;
    }
    aborted(result, flight.progress.has_started())
}

fn aborted(result: ToolResult, ran: bool) -> ToolResult {
    ToolResult { contexts: result.contexts, ..ToolResult::failure(failures::aborted(ran)) }
}

/// Panics of listeners are failures already (`PluginError`, `LISTENER_PANICKED`).
fn failed(failure: &Failure) -> ToolResult {
    ToolResult::failure(ErrorInfo::of(&**failure))
}
