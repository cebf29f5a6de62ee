//! Cancelling, and dropping: before a call, after it, and while others wait. (During a mutation: `stopping`.)

use std::time::Duration;

use dsh_fs::FsErrorCode::Aborted;
use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{FsCall, FsError, TextChunk, TextStream};

use super::races::{RACERS, places};
use super::read_text::large_text;
use super::stopping::MOST_POLLS;
use crate::case::edit;
use crate::race::{Moment, Rivalry, beside, cancelled, dropped};
use crate::{Case, race, refused};

fn cancelled_call() -> FsCall {
    let call = FsCall::new();
    call.cancel.cancel();
    call
}

/// A call that was cancelled before it began asks nothing of the files.
pub async fn cancelled_looks_are_refused(case: &Case) {
    let (target, call) = (case.file("d/a.txt", "one").await, cancelled_call());
    refused(case.fs.resolve("a.txt", Some(&case.cwd()), &call).await, Aborted);
    refused(case.fs.stat(&target, &call).await, Aborted);
    refused(case.fs.lstat("d/a.txt", Some(&case.cwd()), &call).await, Aborted);
    refused(case.fs.list_dir(&case.target("d").await, &call).await, Aborted);
}

/// A read that was cancelled before it began reads nothing.
pub async fn cancelled_reads_are_refused(case: &Case) {
    let (target, call) = (case.file("a.txt", "one").await, cancelled_call());
    refused(case.fs.read_text(&target, &call).await, Aborted);
    refused(case.fs.read_bytes(&target, 100, &call).await, Aborted);
    match case.fs.stream_text(&target, None, &call).await {
        Ok(TextStream::Open(mut chunks)) => drop(refused(chunks.next().await, Aborted)),
        other => drop(refused(other, Aborted)),
    }
}

/// A mutation that was cancelled before it began changes nothing and makes no folder.
pub async fn cancelled_mutations_change_nothing(case: &Case) {
    let (target, call) = (case.file("a.txt", "one").await, cancelled_call());
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
            Ok(TextChunk::Text { .. }) => {}
            Ok(TextChunk::End(_)) => panic!("the stream went on to its end"),
            Err(error) => return assert_eq!(error.code(), Aborted, "{error}"),
        }
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

/// Of edits that wait for each other, those that were cancelled are not in the file and all others are.
pub async fn cancelling_one_edit_costs_no_other(case: &Case) {
    let start = places();
    for round in 0..20 {
        let target = case.file("a.txt", &start).await;
        let racers = (0..RACERS).map(|n| {
            let (fs, target, call) = (case.fs.clone(), target.clone(), FsCall::new());
            let edit = edit(&format!("<{n}>"), &format!("[{n}]"));
            async move {
                let at = Moment::After(Duration::from_micros((round * n * 20) as u64));
                let edited = fs.edit_text(&target, &edit, None, &call);
                if n % 2 == 0 { edited.await } else { cancelled(at, &call, edited).await.0 }
            }
        });
        let mut expected = start.clone();
        for (n, result) in race(racers).await.into_iter().enumerate() {
            match result {
                Ok(_) => expected = expected.replace(&format!("<{n}>"), &format!("[{n}]")),
                result if n % 2 == 1 => drop(refused(result, Aborted)),
                Err(error) => panic!("nobody cancelled number {n}: {error}"),
            }
        }
        case.holds("a.txt", &expected).await;
        assert_eq!(case.all_names(".").await, ["a.txt"]);
    }
}

/// Edits that are dropped while they wait do not hold up those behind them.
pub async fn dropping_one_edit_costs_no_other(case: &Case) {
    let target = case.file("a.txt", "end").await;
    let (fs, dropper) = (case.fs.clone(), target.clone());
    let dropping = async move |rivalry: Rivalry| {
        let nothing = LiteralEdit::new("never there", "x", false).unwrap();
        while rivalry.goes_on().await {
            let delay = Duration::from_micros(rivalry.rounds() as u64 % 7 * 40);
            let call = FsCall::new();
            dropped(Moment::After(delay), fs.edit_text(&dropper, &nothing, None, &call)).await;
        }
    };
    let ((), ()) = beside(dropping, async |rival| {
        for done in 0..40 {
            let edited = tokio::time::timeout(Duration::from_secs(20), case.edit(&target, "end", "x end"));
            edited.await.unwrap_or_else(|_| panic!("held up by others after {done} edits")).unwrap();
        }
        assert!(rival.rounds() > 0);
    })
    .await;
    case.holds("a.txt", format!("{}end", "x ".repeat(40))).await;
}

/// Cancelled at any step a look or a read is refused, or gives what it would have given.
pub async fn a_read_cancelled_at_any_step_is_right_or_refused(case: &Case) {
    let (file, folder, cwd) = (case.file("d/a.txt", "old\n").await, case.target("d").await, case.cwd());
    for operation in 0..6 {
        for poll in 0.. {
            assert!(poll < MOST_POLLS, "operation {operation} takes more than {MOST_POLLS} steps");
            let call = FsCall::new();
            let (fs, at) = (&case.fs, Moment::Poll(poll));
            let (result, in_time) = match operation {
                0 => right(cancelled(at, &call, fs.resolve("d/a.txt", Some(&cwd), &call)).await, |it| {
                    it == file
                }),
                1 => right(cancelled(at, &call, fs.stat(&file, &call)).await, |it| it.is_some()),
                2 => right(cancelled(at, &call, fs.lstat("d", Some(&cwd), &call)).await, |it| it.is_some()),
                3 => right(cancelled(at, &call, fs.read_text(&file, &call)).await, |it| it.text == "old\n"),
                4 => right(cancelled(at, &call, fs.read_bytes(&file, 9, &call)).await, |it| {
                    it.bytes == *b"old\n"
                }),
                _ => right(cancelled(at, &call, fs.list_dir(&folder, &call)).await, |it| it.len() == 1),
            };
            assert!(result, "operation {operation} at {at:?} gave something else");
            if !in_time {
                break;
            }
        }
    }
}

fn right<T>((result, in_time): (Result<T, FsError>, bool), is: impl FnOnce(T) -> bool) -> (bool, bool) {
    (result.map_or_else(|error| error.code() == Aborted, is), in_time)
}
