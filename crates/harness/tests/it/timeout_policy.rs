use std::sync::Arc;
use std::time::Duration;

use dsh_harness::{
    Content, Execute, Execution, Meta, ObjectSchema, TimeoutPolicyPlugin, Tool, ToolDefinition, ToolError,
    ToolRegistry, ToolResult,
};
use dsh_plugin::{Context, Next, NoConfig, PlainError};
use futures_util::future::BoxFuture;
use serde_json::{Value as Json, json};
use tokio::time::{Instant, sleep};

use crate::toys::{call, harness, told};

type Body = fn(Arc<Execution>) -> BoxFuture<'static, Result<String, ToolError>>;

/// A tool that changes something for good and has a time budget.
struct Timed {
    timeout: Option<Duration>,
    body: Body,
}

impl Tool for Timed {
    type Args = Json;
    type Value = String;

    fn definition(&self) -> ToolDefinition {
        let definition = ToolDefinition::new("timed", "A toy.", ObjectSchema::new());
        ToolDefinition { timeout: self.timeout, ..definition }
    }

    async fn execute(&self, _: Arc<Json>, exec: Arc<Execution>) -> Result<String, ToolError> {
        (self.body)(exec).await
    }

    fn render(&self, _: &Json, value: &String) -> Vec<Content> {
        vec![Content::text(value.as_str())]
    }

    fn meta(&self, _: &Json, value: &String) -> Option<Meta> {
        Some(json!({"shown": value}).into())
    }

    fn committed(&self, _: &Json, value: &String) -> Option<Meta> {
        (value == "committed").then(|| json!({"committed": true, "path": "/w/a"}).into())
    }
}

const SECOND: Duration = Duration::from_secs(1);

async fn timed(body: Body) -> (Context, Arc<ToolRegistry>) {
    let (root, tools) = harness().await;
    root.plugin(TimeoutPolicyPlugin, NoConfig {}).await.unwrap();
    tools.register(&root, Timed { timeout: Some(SECOND), body }).unwrap();
    (root, tools)
}

fn timed_out(millis: u32) -> (String, Option<&'static str>, Option<&'static str>) {
    let text = format!("Error: tool call timed out after {millis}ms");
    (text, Some("ToolTimeoutError"), Some("TOOL_TIMEOUT"))
}

/// Stops when it is told to.
fn listening(exec: Arc<Execution>) -> BoxFuture<'static, Result<String, ToolError>> {
    Box::pin(async move {
        exec.cancel.cancelled().await;
        Err(PlainError::new("told to stop").into())
    })
}

#[tokio::test(start_paused = true)]
async fn a_body_is_told_when_its_time_is_up() {
    let (_root, tools) = timed(listening).await;
    let start = Instant::now();
    let call = call("timed", json!({}));
    let caller = call.cancel.clone();
    let result = tools.execute(call).await;
    assert_eq!(told(&result), timed_out(1000));
    assert_eq!((start.elapsed().as_secs(), result.meta), (1, None));
    assert!(!caller.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_listen_is_waited_for() {
    let (_root, tools) = timed(|_| {
        Box::pin(async {
            sleep(5 * SECOND).await;
            Ok("late".to_owned())
        })
    })
    .await;
    let start = Instant::now();
    let result = tools.execute(call("timed", json!({}))).await;
    assert_eq!(told(&result), timed_out(1000));
    assert_eq!((start.elapsed().as_secs(), result.meta, result.contexts), (5, None, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_ends_in_time_is_left_alone() {
    let (_root, tools) = timed(|_| {
        Box::pin(async {
            sleep(SECOND / 2).await;
            Ok("done".to_owned())
        })
    })
    .await;
    let result = tools.execute(call("timed", json!({}))).await;
    assert_eq!((result.text(), result.is_error()), ("done".to_owned(), false));
    assert_eq!(result.meta(), Some(json!({"shown": "done"})));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_ends_at_the_very_moment_was_in_time() {
    let (_root, tools) = timed(|_| {
        Box::pin(async {
            sleep(SECOND).await;
            Ok("done".to_owned())
        })
    })
    .await;
    assert_eq!(tools.execute(call("timed", json!({}))).await.text(), "done");
}

#[tokio::test(start_paused = true)]
async fn a_failure_in_time_stays_what_it_is() {
    let (_root, tools) = timed(|_| Box::pin(async { Err(PlainError::new("no").into()) })).await;
    assert_eq!(told(&tools.execute(call("timed", json!({}))).await), ("Error: no".to_owned(), None, None));
}

#[tokio::test(start_paused = true)]
async fn what_was_changed_for_good_stays_said() {
    let (_root, tools) = timed(|_| {
        Box::pin(async {
            sleep(2 * SECOND).await;
            Ok("committed".to_owned())
        })
    })
    .await;
    let result = tools.execute(call("timed", json!({}))).await;
    assert_eq!(told(&result), timed_out(1000));
    assert_eq!(result.meta(), Some(json!({"committed": true, "path": "/w/a"})));
}

#[tokio::test(start_paused = true)]
async fn what_a_late_failure_says_of_a_change_stays_said() {
    let (_root, tools) = timed(|exec| {
        Box::pin(async move {
            exec.cancel.cancelled().await;
            let error = ToolError::from(PlainError::new("after the change"));
            Err(error.with_meta(json!({"committed": true, "path": "/w/b"})))
        })
    })
    .await;
    let result = tools.execute(call("timed", json!({}))).await;
    assert_eq!(told(&result), timed_out(1000));
    assert_eq!(result.meta(), Some(json!({"committed": true, "path": "/w/b"})));
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_cancels_first_turns_the_clock_off() {
    let (_root, tools) = timed(|exec| {
        Box::pin(async move {
            exec.cancel.cancelled().await;
            sleep(5 * SECOND).await;
            Err(PlainError::new("told to stop").into())
        })
    })
    .await;
    let call = call("timed", json!({}));
    let caller = call.cancel.clone();
    let (result, ()) = tokio::join!(tools.execute(call), async {
        sleep(SECOND / 2).await;
        caller.cancel();
    });
    assert_eq!(told(&result), ("Error: told to stop".to_owned(), None, None));
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_cancels_after_the_timeout_changes_nothing() {
    let (_root, tools) = timed(|_| {
        Box::pin(async {
            sleep(5 * SECOND).await;
            Ok("committed".to_owned())
        })
    })
    .await;
    let call = call("timed", json!({}));
    let caller = call.cancel.clone();
    let (result, ()) = tokio::join!(tools.execute(call), async {
        sleep(2 * SECOND).await;
        caller.cancel();
    });
    assert_eq!(told(&result), timed_out(1000));
    assert_eq!(result.meta(), Some(json!({"committed": true, "path": "/w/a"})));
}

#[tokio::test(start_paused = true)]
async fn tools_without_a_budget_and_unknown_ones_pass() {
    let (root, tools) = harness().await;
    root.plugin(TimeoutPolicyPlugin, NoConfig {}).await.unwrap();
    let body: Body = |_| {
        Box::pin(async {
            sleep(3600 * SECOND).await;
            Ok("done".to_owned())
        })
    };
    tools.register(&root, Timed { timeout: None, body }).unwrap();
    assert_eq!(tools.execute(call("timed", json!({}))).await.text(), "done");
    let unknown = tools.execute(call("nowhere", json!({}))).await;
    assert_eq!(unknown.text(), "Error: unknown tool \"nowhere\"");
}

#[tokio::test(start_paused = true)]
async fn what_wrappers_further_in_do_counts_too() {
    let (root, tools) = timed(listening).await;
    root.intercept::<Execute, _, _>(|exec, next: Next<Execute>| async move {
        let result = next.run(exec).await?;
        Ok(ToolResult { contexts: vec!["seen".to_owned()], ..result })
    })
    .unwrap();
    let result = tools.execute(call("timed", json!({}))).await;
    assert_eq!(told(&result), timed_out(1000));
    assert_eq!(result.contexts, ["seen"]);
}

#[tokio::test(start_paused = true)]
async fn without_the_policy_nobody_watches_the_clock() {
    let (root, tools) = harness().await;
    let policy = root.plugin(TimeoutPolicyPlugin, NoConfig {}).await.unwrap();
    let body: Body = |_| {
        Box::pin(async {
            sleep(5 * SECOND).await;
            Ok("done".to_owned())
        })
    };
    tools.register(&root, Timed { timeout: Some(Duration::from_millis(1)), body }).unwrap();
    assert_eq!(told(&tools.execute(call("timed", json!({}))).await), timed_out(1));
    policy.dispose().await;
    assert_eq!(tools.execute(call("timed", json!({}))).await.text(), "done");
}
