//! Calls are held back while what they run on is exchanged.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use crate::toys::{Log, Toy, call, harness, told};

const LONG: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(50);

#[tokio::test(start_paused = true)]
async fn a_pause_waits_for_calls_under_way_and_holds_back_those_that_come() {
    let (root, tools) = harness().await;
    let log = Log::default();
    tools.register(&root, Toy::slow("slow", &log)).unwrap();
    let run = |text: &'static str| {
        let tools = tools.clone();
        tokio::spawn(async move { tools.execute(call("slow", json!({"text": text}))).await.text() })
    };
    let under_way = run("100a");
    tokio::task::yield_now().await;
    let (registry, said) = (tools.clone(), log.clone());
    let pausing = tokio::spawn(async move {
        let pause = registry.pause(LONG).await.unwrap();
        said.add("paused");
        tokio::time::sleep(Duration::from_secs(60)).await;
        said.add("over");
        drop(pause);
    });
    tokio::task::yield_now().await;
    let later = run("0b");
    let batch = {
        let tools = tools.clone();
        tokio::spawn(
            async move { tools.execute_batch(vec![call("slow", json!({"text": "0c"}))]).await.len() },
        )
    };
    pausing.await.unwrap();
    assert_eq!((under_way.await.unwrap(), later.await.unwrap()), ("<100a>".to_owned(), "<0b>".to_owned()));
    assert_eq!(batch.await.unwrap(), 1);
    assert_eq!(log.take(), ["+100a", "-100a", "paused", "over", "+0b", "-0b", "+0c", "-0c"]);
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_has_waited_long_enough_gives_up_and_calls_go_on() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::slow("slow", &Log::default())).unwrap();
    let registry = tools.clone();
    let long =
        tokio::spawn(async move { registry.execute(call("slow", json!({"text": "1000"}))).await.text() });
    tokio::task::yield_now().await;
    assert!(tools.pause(SHORT).await.is_none());
    let other = timeout(SHORT, tools.execute(call("slow", json!({"text": "0"})))).await.unwrap();
    assert_eq!(other.text(), "<0>");
    assert_eq!(long.await.unwrap(), "<1000>");
    assert!(tools.pause(SHORT).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_while_it_is_held_back_is_answered_at_once() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::echo("toy")).unwrap();
    let pause = tools.pause(LONG).await.unwrap();
    let (single, one, two) = (call("toy", json!({})), call("toy", json!({})), call("toy", json!({})));
    for cancelled in [&single, &one, &two] {
        cancelled.cancel.cancel();
    }
    let aborted = Some("ABORTED_BEFORE_DISPATCH");
    let result = timeout(SHORT, tools.execute(single)).await.unwrap();
    assert_eq!(told(&result).2, aborted);
    let results = timeout(SHORT, tools.execute_batch(vec![one, two])).await.unwrap();
    assert!(results.iter().all(|result| told(result).2 == aborted));
    let held = timeout(SHORT, tools.execute(call("toy", json!({})))).await;
    assert!(held.is_err(), "{held:?}");
    drop(pause);
    assert_eq!(tools.execute(call("toy", json!({"text": "x"}))).await.text(), "<x>");
}
