use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dsh_harness::{
    Decision, Execute, PostExecute, PreExecute, ResultPublished, ToolError, ToolResult, Verdict,
};
use dsh_plugin::{Next, PlainError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::toys::{Log, Toy, call, harness, told};

fn before_dispatch() -> (String, Option<&'static str>, Option<&'static str>) {
    (
        "Error: tool call aborted before dispatch".to_owned(),
        Some("AbortError"),
        Some("ABORTED_BEFORE_DISPATCH"),
    )
}

fn aborted() -> (String, Option<&'static str>, Option<&'static str>) {
    ("Error: tool call aborted".to_owned(), Some("AbortError"), Some("ABORTED"))
}

/// A body that cancels its own caller and then ends as it is told.
fn cancels_itself(end: impl Fn() -> Result<String, ToolError> + Send + Sync + 'static) -> Toy {
    Toy::new("toy", move |_, exec| {
        exec.cancel.cancel();
        let end = end();
        async { end }
    })
}

#[tokio::test]
async fn a_call_cancelled_beforehand_runs_no_stage_but_is_published_once() {
    let (root, tools) = harness().await;
    let log = Log::default();
    tools.register(&root, Toy::slow("toy", &log)).unwrap();
    let seen = log.clone();
    root.intercept::<PreExecute, _, _>(move |args, next: Next<PreExecute>| {
        seen.add("pre");
        next.run(args)
    })
    .unwrap();
    let seen = log.clone();
    root.intercept::<PostExecute, _, _>(move |args, next: Next<PostExecute>| {
        seen.add("post");
        next.run(args)
    })
    .unwrap();
    let seen = log.clone();
    root.on::<ResultPublished>(move |_| {
        seen.add("result");
        Ok(())
    })
    .unwrap();
    let call = call("toy", json!({}));
    call.cancel.cancel();
    assert_eq!(told(&tools.execute(call).await), before_dispatch());
    assert_eq!(log.take(), ["result"]);
}

#[tokio::test]
async fn cancelled_during_pre_execute_the_body_does_not_start() {
    let (root, tools) = harness().await;
    let log = Log::default();
    tools.register(&root, Toy::slow("toy", &log)).unwrap();
    root.intercept::<PreExecute, _, _>(|args, next: Next<PreExecute>| {
        args.exec.cancel.cancel();
        next.run(args)
    })
    .unwrap();
    let seen = log.clone();
    root.intercept::<Execute, _, _>(move |exec, next: Next<Execute>| {
        seen.add("execute");
        next.run(exec)
    })
    .unwrap();
    let seen = log.clone();
    root.intercept::<PostExecute, _, _>(move |args, next: Next<PostExecute>| {
        seen.add("post");
        next.run(args)
    })
    .unwrap();
    assert_eq!(told(&tools.execute(call("toy", json!({}))).await), before_dispatch());
    assert_eq!(log.take(), ["post"]);
}

#[tokio::test]
async fn a_refusal_is_kept_after_cancellation() {
    let (root, tools) = harness().await;
    root.intercept::<PreExecute, _, _>(|args, _| async move {
        args.exec.cancel.cancel();
        Ok(Decision::Deny { reason: "no".to_owned() })
    })
    .unwrap();
    let result = tools.execute(call("toy", json!({}))).await;
    assert_eq!(told(&result), ("Error: no".to_owned(), Some("ToolDenied"), Some("DENIED")));
}

#[tokio::test]
async fn a_success_after_cancellation_is_dropped() {
    let (root, tools) = harness().await;
    tools.register(&root, cancels_itself(|| Ok("done".to_owned()))).unwrap();
    let result = tools.execute(call("toy", json!({}))).await;
    assert_eq!(told(&result), aborted());
    assert_eq!((result.value(), result.meta), (None, None));
}

#[tokio::test]
async fn an_error_of_the_body_is_kept_after_cancellation() {
    let (root, tools) = harness().await;
    tools.register(&root, cancels_itself(|| Err(PlainError::new("half way").into()))).unwrap();
    assert_eq!(
        told(&tools.execute(call("toy", json!({}))).await),
        ("Error: half way".to_owned(), None, None)
    );
}

#[tokio::test]
async fn a_body_that_does_not_listen_is_waited_for() {
    let (root, tools) = harness().await;
    let log = Log::default();
    tools.register(&root, Toy::slow("toy", &log)).unwrap();
    let call = call("toy", json!({"text": "20"}));
    let cancel = call.cancel.clone();
    let (result, ()) = tokio::join!(tools.execute(call), async {
        tokio::time::sleep(Duration::from_millis(2)).await;
        cancel.cancel();
    });
    assert_eq!(told(&result), aborted());
    assert_eq!(log.take(), ["+20", "-20"]);
}

#[tokio::test]
async fn a_success_after_cancellation_in_post_execute_is_dropped() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::echo("toy")).unwrap();
    root.intercept::<PostExecute, _, _>(|args, _| async move {
        args.exec.cancel.cancel();
        Ok(Verdict::Accept { content: None, value: None, contexts: vec!["kept".to_owned()] })
    })
    .unwrap();
    let result = tools.execute(call("toy", json!({}))).await;
    assert_eq!(told(&result), aborted());
    assert_eq!(result.contexts, ["kept"]);
}

#[tokio::test]
async fn a_wrappers_late_success_without_the_body_never_ran() {
    let (root, tools) = harness().await;
    root.intercept::<Execute, _, _>(|exec, _| async move {
        exec.cancel.cancel();
        Ok(ToolResult::success(vec!["cached".into()], ()))
    })
    .unwrap();
    assert_eq!(told(&tools.execute(call("toy", json!({}))).await), before_dispatch());
}

#[tokio::test]
async fn a_wrapper_can_cancel_the_body_alone() {
    let (root, tools) = harness().await;
    let toy = Toy::new("toy", |_, exec| async move {
        exec.cancel.cancelled().await;
        Err(PlainError::new("told to stop").into())
    });
    tools.register(&root, toy).unwrap();
    root.intercept::<Execute, _, _>(|exec, next: Next<Execute>| async move {
        let child = exec.cancel.child_token();
        let body = next.run(exec.with_cancel(child.clone()));
        let (result, ()) = tokio::join!(body, async {
            tokio::time::sleep(Duration::from_millis(2)).await;
            child.cancel();
        });
        assert!(!exec.cancel.is_cancelled());
        result
    })
    .unwrap();
    assert_eq!(
        told(&tools.execute(call("toy", json!({}))).await),
        ("Error: told to stop".to_owned(), None, None)
    );
}

#[tokio::test]
async fn the_body_hears_its_caller_under_a_wrappers_foreign_token() {
    let (root, tools) = harness().await;
    let heard = Arc::new(AtomicBool::new(false));
    let told_body = heard.clone();
    let toy = Toy::new("toy", move |_, exec| {
        let heard = told_body.clone();
        async move {
            exec.cancel.cancelled().await;
            heard.store(true, Ordering::Relaxed);
            Ok(String::new())
        }
    });
    tools.register(&root, toy).unwrap();
    root.intercept::<Execute, _, _>(|exec, next: Next<Execute>| async move {
        next.run(exec.with_cancel(CancellationToken::new())).await
    })
    .unwrap();
    let call = call("toy", json!({}));
    let cancel = call.cancel.clone();
    let (result, ()) = tokio::join!(tools.execute(call), async {
        tokio::time::sleep(Duration::from_millis(2)).await;
        cancel.cancel();
    });
    assert_eq!(told(&result), aborted());
    assert!(heard.load(Ordering::Relaxed));
}

#[tokio::test]
async fn a_wrapper_that_hands_on_a_cancelled_token_stops_the_body_from_starting() {
    let (root, tools) = harness().await;
    let log = Log::default();
    tools.register(&root, Toy::slow("toy", &log)).unwrap();
    root.intercept::<Execute, _, _>(|exec, next: Next<Execute>| async move {
        let child = exec.cancel.child_token();
        child.cancel();
        next.run(exec.with_cancel(child)).await
    })
    .unwrap();
    assert_eq!(told(&tools.execute(call("toy", json!({}))).await), before_dispatch());
    assert!(log.take().is_empty());
}

#[tokio::test]
async fn cancelled_in_a_wrapper_the_body_does_not_start_under_a_foreign_token_either() {
    let (root, tools) = harness().await;
    let log = Log::default();
    tools.register(&root, Toy::slow("toy", &log)).unwrap();
    root.intercept::<Execute, _, _>(|exec, next: Next<Execute>| async move {
        exec.cancel.cancel();
        next.run(exec.with_cancel(CancellationToken::new())).await
    })
    .unwrap();
    assert_eq!(told(&tools.execute(call("toy", json!({}))).await), before_dispatch());
    assert!(log.take().is_empty());
}
