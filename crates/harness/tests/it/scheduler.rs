use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dsh_harness::{
    HarnessConfig, PostExecute, PreExecute, ResultPublished, ToolCall, ToolRegistry, ToolResult,
};
use dsh_plugin::{Context, Next};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::toys::{Log, Toy, call, harness, harness_with, told};

/// `p` is parallel, `x` exclusive; `p:10a` is a call of `p` with the text `10a`, which takes 10 ms.
async fn scene(log: &Log, at_once: usize) -> (Context, Arc<ToolRegistry>) {
    let max_parallel_tool_calls = at_once.try_into().unwrap();
    let (root, tools) =
        harness_with(HarnessConfig { max_parallel_tool_calls, ..HarnessConfig::default() }).await;
    tools.register(&root, Toy::slow("p", log).parallel()).unwrap();
    tools.register(&root, Toy::slow("x", log)).unwrap();
    (root, tools)
}

fn calls(specs: &[&str]) -> Vec<ToolCall> {
    calls_under(&CancellationToken::new(), specs)
}

fn calls_under(cancel: &CancellationToken, specs: &[&str]) -> Vec<ToolCall> {
    let one = |spec: &&str| {
        let (tool, text) = spec.split_once(':').unwrap();
        ToolCall { id: text.to_owned(), cancel: cancel.clone(), ..call(tool, json!({ "text": text })) }
    };
    specs.iter().map(one).collect()
}

fn texts(results: &[ToolResult]) -> Vec<String> {
    results.iter().map(ToolResult::text).collect()
}

#[tokio::test(start_paused = true)]
async fn parallel_calls_overlap_and_results_are_in_call_order() {
    let log = Log::default();
    let (_root, tools) = scene(&log, 10).await;
    let results = tools.execute_batch(calls(&["p:30a", "p:10b", "p:20c"])).await;
    assert_eq!(texts(&results), ["<30a>", "<10b>", "<20c>"]);
    assert_eq!(log.take(), ["+30a", "+10b", "+20c", "-10b", "-20c", "-30a"]);
}

#[tokio::test(start_paused = true)]
async fn an_exclusive_call_is_a_barrier_on_both_sides() {
    let log = Log::default();
    let (_root, tools) = scene(&log, 10).await;
    let results = tools.execute_batch(calls(&["p:20a", "p:10b", "x:5c", "x:1d", "p:9e", "p:3f"])).await;
    assert_eq!(texts(&results), ["<20a>", "<10b>", "<5c>", "<1d>", "<9e>", "<3f>"]);
    assert_eq!(
        log.take(),
        ["+20a", "+10b", "-10b", "-20a", "+5c", "-5c", "+1d", "-1d", "+9e", "+3f", "-3f", "-9e"]
    );
}

#[tokio::test(start_paused = true)]
async fn no_more_than_the_maximum_are_in_flight() {
    let log = Log::default();
    let (_root, tools) = scene(&log, 2).await;
    tools.execute_batch(calls(&["p:10a", "p:30b", "p:5c", "p:5d"])).await;
    // A slot is free as soon as a body has ended, committed or not.
    assert_eq!(log.take(), ["+10a", "+30b", "-10a", "+5c", "-5c", "+5d", "-5d", "-30b"]);

    let (_root, tools) = scene(&log, 1).await;
    tools.execute_batch(calls(&["p:10a", "p:5b"])).await;
    assert_eq!(log.take(), ["+10a", "-10a", "+5b", "-5b"]);
}

#[tokio::test(start_paused = true)]
async fn a_slot_is_freed_by_a_call_that_cannot_be_committed_yet() {
    let log = Log::default();
    let (_root, tools) = scene(&log, 2).await;
    tools.execute_batch(calls(&["p:30a", "p:10b", "p:5c"])).await;
    assert_eq!(log.take(), ["+30a", "+10b", "-10b", "+5c", "-5c", "-30a"]);
}

#[tokio::test(start_paused = true)]
async fn policy_and_results_happen_in_call_order() {
    let log = Log::default();
    let (root, tools) = scene(&log, 10).await;
    let seen = log.clone();
    root.intercept::<PreExecute, _, _>(move |args, next: Next<PreExecute>| {
        let seen = seen.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            seen.add(format!("pre {}", args.exec.call_id));
            next.run(args).await
        }
    })
    .unwrap();
    let seen = log.clone();
    root.intercept::<PostExecute, _, _>(move |args, next: Next<PostExecute>| {
        seen.add(format!("post {}", args.exec.call_id));
        next.run(args)
    })
    .unwrap();
    let seen = log.clone();
    root.on::<ResultPublished>(move |published| {
        seen.add(format!("result {}", published.exec.call_id));
        Ok(())
    })
    .unwrap();
    tools.execute_batch(calls(&["p:30a", "p:10b", "p:20c"])).await;
    assert_eq!(
        log.take(),
        [
            "pre 30a",
            "+30a",
            "pre 10b",
            "+10b",
            "pre 20c",
            "+20c",
            "-10b",
            "-20c",
            "-30a",
            "post 30a",
            "result 30a",
            "post 10b",
            "result 10b",
            "post 20c",
            "result 20c",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn bodies_make_progress_while_a_policy_thinks() {
    let log = Log::default();
    let (root, tools) = scene(&log, 10).await;
    root.intercept::<PreExecute, _, _>(|args, next: Next<PreExecute>| async move {
        if args.exec.call_id == "1b" {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        next.run(args).await
    })
    .unwrap();
    tools.execute_batch(calls(&["p:10a", "p:1b"])).await;
    assert_eq!(log.take(), ["+10a", "-10a", "+1b", "-1b"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_is_classified_right_before_it_starts() {
    let log = Log::default();
    let (root, tools) = scene(&log, 10).await;
    // Exclusive until the exclusive call before it has run.
    let ran = Arc::new(AtomicUsize::new(0));
    let count = ran.clone();
    let switch = Toy::new("switch", move |_, _| {
        count.fetch_add(1, Ordering::Relaxed);
        async { Ok(String::new()) }
    });
    tools.register(&root, switch).unwrap();
    tools
        .register(&root, Toy::slow("late", &log).parallel_if(move |_| ran.load(Ordering::Relaxed) > 0))
        .unwrap();
    tools.execute_batch(calls(&["late:9a", "late:5b", "switch:0", "late:9c", "late:5d"])).await;
    assert_eq!(log.take(), ["+9a", "-9a", "+5b", "-5b", "+9c", "+5d", "-5d", "-9c"]);
}

#[tokio::test(start_paused = true)]
async fn unknown_tools_and_unfit_arguments_are_exclusive() {
    let log = Log::default();
    let (_root, tools) = scene(&log, 10).await;
    let mut batch = calls(&["p:9a", "nobody:x", "p:9b", "p:1c", "p:5d"]);
    batch[3].arguments = json!({"text": 1});
    let results = tools.execute_batch(batch).await;
    assert_eq!(told(&results[1]).0, "Error: unknown tool \"nobody\"");
    assert_eq!(told(&results[3]).0, "Error: invalid arguments: \"text\" must be a string");
    assert_eq!(log.take(), ["+9a", "-9a", "+9b", "-9b", "+5d", "-5d"]);
}

#[tokio::test(start_paused = true)]
async fn after_cancellation_nothing_starts_and_what_runs_is_drained() {
    let log = Log::default();
    let (root, tools) = scene(&log, 2).await;
    let seen = log.clone();
    root.on::<ResultPublished>(move |published| {
        seen.add(published.exec.call_id.clone());
        Ok(())
    })
    .unwrap();
    let stop = Toy::new("stop", |_, exec| async move {
        tokio::time::sleep(Duration::from_millis(10)).await;
        exec.cancel.cancel();
        Err(dsh_plugin::PlainError::new("stopped").into())
    });
    tools.register(&root, stop.parallel()).unwrap();
    let cancel = CancellationToken::new();
    let batch = calls_under(&cancel, &["p:5a", "stop:b", "p:20c", "p:1d", "x:1e"]);
    let results = tools.execute_batch(batch).await;
    assert_eq!(
        texts(&results),
        [
            "<5a>",
            "Error: stopped",
            "Error: tool call aborted",
            "Error: tool call aborted before dispatch",
            "Error: tool call aborted before dispatch",
        ]
    );
    assert_eq!(log.take(), ["+5a", "-5a", "5a", "+20c", "b", "-20c", "20c", "1d", "1e"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_with_a_token_of_its_own_is_cancelled_alone() {
    let log = Log::default();
    let (_root, tools) = scene(&log, 10).await;
    let mut batch = calls(&["p:1a", "p:1b", "p:1c"]);
    batch[1].cancel = CancellationToken::new();
    batch[1].cancel.cancel();
    let results = tools.execute_batch(batch).await;
    assert_eq!(texts(&results), ["<1a>", "Error: tool call aborted before dispatch", "<1c>"]);
}

#[tokio::test]
async fn an_empty_batch_has_no_results() {
    let (_root, tools) = harness().await;
    assert!(tools.execute_batch(Vec::new()).await.is_empty());
}

#[tokio::test]
async fn a_lone_call_runs_as_it_would_alone() {
    let log = Log::default();
    let (_root, tools) = scene(&log, 1).await;
    assert_eq!(texts(&tools.execute_batch(calls(&["p:1a"])).await), ["<1a>"]);
    assert_eq!(texts(&tools.execute_batch(calls(&["nobody:a"])).await), ["Error: unknown tool \"nobody\""]);
}

#[test]
fn a_batch_needs_no_runtime() {
    futures_util::FutureExt::now_or_never(async {
        let (root, tools) = harness().await;
        tools.register(&root, Toy::echo("e").parallel()).unwrap();
        assert_eq!(texts(&tools.execute_batch(calls(&["e:a", "e:b"])).await), ["<a>", "<b>"]);
    })
    .expect("nothing to wait for");
}

#[tokio::test]
async fn calls_and_batches_can_move_between_threads() {
    fn sendable<F: Future + Send>(future: F) -> F {
        future
    }
    let (_root, tools) = harness().await;
    assert!(sendable(tools.execute(call("nobody", json!({})))).await.is_error());
    assert_eq!(sendable(tools.execute_batch(calls(&["nobody:a", "nobody:b"]))).await.len(), 2);
}
