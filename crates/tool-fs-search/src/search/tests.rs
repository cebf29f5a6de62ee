#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::PathBuf;

use dsh_fs::MemoryFileSystem;
use dsh_harness::{Session, SessionHeader, ToolCall};
use tokio_util::sync::CancellationToken;

use super::*;

fn search(time: Duration) -> Search {
    Search::new(Arc::new(MemoryFileSystem::with_files([("/w/a.txt", "needle\n")])), time, false)
}

fn exec(cancel: CancellationToken) -> Execution {
    let session = Some(Session::new(SessionHeader { id: "s".to_owned(), cwd: PathBuf::from("/w") }));
    let (id, tool) = ("1".to_owned(), "grep".to_owned());
    Execution::new(ToolCall { id, tool, arguments: serde_json::Value::Null, session, cancel })
}

#[tokio::test]
async fn a_search_out_of_time_says_so() {
    let (search, exec) = (search(Duration::ZERO), exec(CancellationToken::new()));
    let notice = |narrow| {
        format!("(The search was stopped after 0 s; what it did not reach is missing. Narrow {narrow}.)")
    };
    let value = search.grep("needle", None, None, &exec).await.unwrap();
    assert!(value.matches.is_empty() && value.incomplete);
    assert_eq!(value.notices, [notice("pattern, path, or include")]);
    let value = search.glob("*", None, &exec).await.unwrap();
    assert!(value.paths.is_empty() && value.incomplete);
    assert_eq!(value.notices, [notice("pattern or path")]);
}

#[tokio::test]
async fn a_cancelled_search_is_aborted() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let (search, exec) = (search(Duration::from_secs(60)), exec(cancel));
    let error = search.grep("needle", None, None, &exec).await.unwrap_err();
    let said = "grep was aborted before completion (tool timeout or caller cancellation)";
    assert_eq!(
        (error.failure().to_string().as_str(), error.failure().code()),
        (said, Some("SEARCH_ABORTED"))
    );
    let error = search.glob("*", None, &exec).await.unwrap_err();
    assert_eq!(error.failure().code(), Some("SEARCH_ABORTED"));
}

#[tokio::test]
async fn who_gives_up_does_not_wait_for_the_work() {
    let cancel = CancellationToken::new();
    let stop = Stop::new(cancel.clone(), Duration::from_secs(60));
    let (release, held) = std::sync::mpsc::channel::<()>();
    let work = move || {
        cancel.cancel();
        // Not before the caller has its answer.
        held.recv()
    };
    let answer = blocking("grep", &stop, work).await;
    assert!(matches!(answer, Err(SearchError::Aborted { tool: "grep" })), "{answer:?}");
    drop(release);
}
