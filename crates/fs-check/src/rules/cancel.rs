//! Cancelling: before a call nothing happens, during it the file is the old one or the new one, after it nothing more.

use dsh_fs::FsErrorCode::Aborted;
use dsh_fs::{FsCall, TextChunk, TextStream};

use super::read_text::large_text;
use crate::case::edit;
use crate::race::cancelled_at_poll;
use crate::{Case, race, refused};

fn cancelled() -> FsCall {
    let call = FsCall::new();
    call.cancel.cancel();
    call
}

/// A call that was cancelled before it began asks nothing of the files.
pub async fn cancelled_looks_are_refused(case: &Case) {
    let (target, call) = (case.file("d/a.txt", "one").await, cancelled());
    refused(case.fs.resolve("a.txt", Some(&case.cwd()), &call).await, Aborted);
    refused(case.fs.stat(&target, &call).await, Aborted);
    refused(case.fs.lstat("d/a.txt", Some(&case.cwd()), &call).await, Aborted);
    refused(case.fs.list_dir(&case.target("d").await, &call).await, Aborted);
}

/// A read that was cancelled before it began reads nothing.
pub async fn cancelled_reads_are_refused(case: &Case) {
    let (target, call) = (case.file("a.txt", "one").await, cancelled());
    refused(case.fs.read_text(&target, &call).await, Aborted);
    refused(case.fs.read_bytes(&target, 100, &call).await, Aborted);
    match case.fs.stream_text(&target, None, &call).await {
        Ok(TextStream::Open(mut chunks)) => drop(refused(chunks.next().await, Aborted)),
        other => drop(refused(other, Aborted)),
    }
}

/// A mutation that was cancelled before it began changes nothing and makes no folder.
pub async fn cancelled_mutations_change_nothing(case: &Case) {
    let (target, call) = (case.file("a.txt", "one").await, cancelled());
    refused(case.fs.write_text(&target, "two", None, &call).await, Aborted);
    refused(case.fs.edit_text(&target, &edit("one", "two"), None, &call).await, Aborted);
    let new = case.target("no/such/new.txt").await;
    refused(case.fs.write_text(&new, "two", None, &call).await, Aborted);
    case.holds("a.txt", "one").await;
    assert_eq!(case.names(".").await, ["a.txt"]);
}

/// A stream that is cancelled between two pieces ends with that.
pub async fn a_stream_can_be_cancelled(case: &Case) {
    let target = case.file("a.txt", large_text()).await;
    let call = FsCall::new();
    let TextStream::Open(mut chunks) = case.fs.stream_text(&target, None, &call).await.unwrap() else {
        panic!("a stream from the start must not answer Changed")
    };
    chunks.next().await.unwrap();
    call.cancel.cancel();
    // A piece that was already read may still come; the end may not.
    loop {
        match chunks.next().await {
            Ok(TextChunk::Text(_)) => {}
            Ok(TextChunk::End(_)) => panic!("the stream went on to its end"),
            Err(error) => return assert_eq!(error.code(), Aborted, "{error}"),
        }
    }
}

/// Cancelling at every step of a write: refused and the old bytes, or done and the new ones.
pub async fn a_write_cancelled_at_any_step_is_whole(case: &Case) {
    for poll in 0..1000 {
        case.put("a.txt", "old").await;
        let (target, call) = (case.target("a.txt").await, FsCall::new());
        let (result, in_time) =
            cancelled_at_poll(poll, &call, case.fs.write_text(&target, "new", None, &call)).await;
        old_or_new(case, result.map(drop)).await;
        if !in_time {
            return;
        }
    }
    panic!("a write took more than 1000 steps");
}

/// Cancelling at every step of an edit: refused and the old bytes, or done and the new ones.
pub async fn an_edit_cancelled_at_any_step_is_whole(case: &Case) {
    for poll in 0..1000 {
        case.put("a.txt", "old").await;
        let (target, call) = (case.target("a.txt").await, FsCall::new());
        let edit = edit("old", "new");
        let (result, in_time) =
            cancelled_at_poll(poll, &call, case.fs.edit_text(&target, &edit, None, &call)).await;
        old_or_new(case, result.map(drop)).await;
        if !in_time {
            return;
        }
    }
    panic!("an edit took more than 1000 steps");
}

/// Cancelling from another thread while a write runs: refused and the old bytes, or done and the new ones.
pub async fn a_write_cancelled_while_it_runs_is_whole(case: &Case) {
    for round in 0..50_u32 {
        case.put("a.txt", "old").await;
        let (fs, target, call) = (case.fs.clone(), case.target("a.txt").await, FsCall::new());
        let cancel = call.cancel.clone();
        let write = async move { Some(fs.write_text(&target, "new", None, &call).await.map(drop)) };
        let cancelling = async move {
            for _ in 0..round * 100 {
                std::hint::spin_loop();
            }
            cancel.cancel();
            None
        };
        let racers: [std::pin::Pin<Box<dyn Future<Output = _> + Send>>; 2] =
            [Box::pin(write), Box::pin(cancelling)];
        let result = race(racers).await.into_iter().flatten().next().unwrap();
        old_or_new(case, result).await;
    }
}

/// Cancelling after a mutation has no effect on it.
pub async fn cancelling_afterwards_has_no_effect(case: &Case) {
    let (target, call) = (case.target("a.txt").await, FsCall::new());
    let version = case.fs.write_text(&target, "one", None, &call).await.unwrap().version;
    call.cancel.cancel();
    case.holds("a.txt", "one").await;
    case.edit_if(&target, "one", "two", &version).await.unwrap();
}

async fn old_or_new(case: &Case, result: Result<(), dsh_fs::FsError>) {
    match result {
        Ok(()) => case.holds("a.txt", "new").await,
        Err(error) => {
            assert_eq!(error.code(), Aborted, "{error}");
            case.holds("a.txt", "old").await;
        }
    }
    assert_eq!(case.names(".").await, ["a.txt"]);
}
