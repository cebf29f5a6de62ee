//! Cancelled calls: they fail with their own sentence and leave nothing behind.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{FileSystem, FsCall, FsErrorCode, WriteGuard};

use crate::disk::{Disk, refused};

#[tokio::test]
async fn a_call_that_was_cancelled_before_it_began_does_nothing() {
    let disk = Disk::new();
    disk.put("a", "x").folder("d");
    let (a, d, new) = (disk.target("a").await, disk.target("d").await, disk.target("n/new").await);
    let call = FsCall::new();
    call.cancel.cancel();
    let code = FsErrorCode::Aborted;
    let edit = LiteralEdit::new("x", "y", false).unwrap();
    refused(disk.fs.resolve("a", None, &call).await, code, "resolve aborted");
    refused(disk.fs.stat(&a, &call).await, code, "stat aborted");
    refused(disk.fs.lstat("a", None, &call).await, code, "lstat aborted");
    refused(disk.fs.read_text(&a, &call).await, code, "read aborted");
    refused(disk.fs.stream_text(&a, None, &call).await, code, "read aborted");
    refused(disk.fs.read_bytes(&a, 10, &call).await, code, "read aborted");
    refused(disk.fs.list_dir(&d, &call).await, code, "list aborted");
    refused(disk.fs.write_text(&new, "x", None, &call).await, code, "write aborted");
    refused(
        disk.fs.write_text(&a, "x", Some(&WriteGuard::CreateIfAbsent), &call).await,
        code,
        "write aborted",
    );
    refused(disk.fs.edit_text(&a, &edit, None, &call).await, code, "edit aborted");
    assert_eq!((disk.text("a"), disk.tree()), ("x".into(), vec!["a".into(), "d".into()]));
}

/// A file of 64 GiB that takes no room: text at its start, so that it is not refused at once.
fn endless(disk: &Disk) {
    disk.put("endless", "x".repeat(9000));
    File::options().write(true).open(disk.at("endless")).unwrap().set_len(64 << 30).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_operation_stops_within_a_block() {
    let disk = Arc::new(Disk::new());
    endless(&disk);
    let target = disk.target("endless").await;
    let guard = {
        // A version with a digest, so that the guard has to read it all.
        let version = disk.write("small", "x").await.unwrap().version;
        WriteGuard::ReplaceIfVersion(version)
    };
    for operation in ["stream", "write"] {
        let call = FsCall::new();
        let cancel = call.cancel.clone();
        let (disk, target, guard) = (disk.clone(), target.clone(), guard.clone());
        let task = tokio::spawn(async move {
            match operation {
                "stream" => {
                    let stream = disk.fs.stream_text(&target, None, &call).await?;
                    crate::disk::drain(stream).await.map(drop)
                }
                _ => disk.fs.write_text(&target, "x", Some(&guard), &call).await.map(drop),
            }
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        let cancelled = Instant::now();
        cancel.cancel();
        assert_eq!(task.await.unwrap().unwrap_err().code(), FsErrorCode::Aborted, "{operation}");
        assert!(cancelled.elapsed() < Duration::from_millis(500), "{operation}");
    }
    assert_eq!(disk.tree(), ["endless", "small"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_for_the_lock_can_be_cancelled() {
    let disk = Arc::new(Disk::new());
    endless(&disk);
    let target = disk.target("endless").await;
    let version = disk.write("small", "x").await.unwrap().version;
    let (first, second) = (FsCall::new(), FsCall::new());
    let holder = tokio::spawn({
        let (disk, target, call) = (disk.clone(), target.clone(), first.clone());
        async move { disk.fs.write_text(&target, "x", Some(&WriteGuard::ReplaceIfVersion(version)), &call).await }
    });
    tokio::time::sleep(Duration::from_millis(20)).await;
    let waiter = tokio::spawn({
        let (disk, target, call) = (disk.clone(), target.clone(), second.clone());
        async move { disk.fs.write_text(&target, "y", None, &call).await }
    });
    tokio::time::sleep(Duration::from_millis(20)).await;
    second.cancel.cancel();
    refused(waiter.await.unwrap(), FsErrorCode::Aborted, "write aborted");
    first.cancel.cancel();
    refused(holder.await.unwrap(), FsErrorCode::Aborted, "write aborted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_future_is_dropped_stops_too() {
    let disk = Arc::new(Disk::new());
    endless(&disk);
    let target = disk.target("endless").await;
    let version = disk.write("small", "x").await.unwrap().version;
    let guard = WriteGuard::ReplaceIfVersion(version);
    let call = FsCall::new();
    let dropped = tokio::time::timeout(
        Duration::from_millis(30),
        disk.fs.write_text(&target, "x", Some(&guard), &call),
    );
    assert!(dropped.await.is_err());
    // The lock is free again long before 64 GiB could be read.
    let start = Instant::now();
    let edited = disk.fs.write_text(&target, "x", Some(&WriteGuard::CreateIfAbsent), &FsCall::new()).await;
    assert_eq!(edited.unwrap_err().code(), FsErrorCode::NotObserved);
    assert!(start.elapsed() < Duration::from_millis(500));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whenever_it_is_cancelled_a_write_is_whole_or_not_at_all() {
    let disk = Arc::new(Disk::new());
    let text = "0123456789abcde\n".repeat(1 << 18);
    let mut aborted = 0;
    for round in 0..60_u64 {
        disk.put("a", "old");
        let call = FsCall::new();
        let cancel = call.cancel.clone();
        let path = if round % 2 == 0 { "a" } else { "new/folder/b" };
        let target = disk.target(path).await;
        let (writer, content) = (disk.clone(), text.clone());
        let task = tokio::spawn(async move { writer.fs.write_text(&target, &content, None, &call).await });
        tokio::time::sleep(Duration::from_micros(round * 300)).await;
        cancel.cancel();
        match task.await.unwrap() {
            Ok(_) => assert!(disk.text(path) == text),
            Err(error) => {
                aborted += 1;
                assert_eq!(error.to_string(), "write aborted");
                assert_eq!(disk.text("a"), "old");
                assert_eq!(disk.tree(), ["a"]);
            }
        }
        if disk.at("new").exists() {
            std::fs::remove_dir_all(disk.at("new")).unwrap();
        }
        assert_eq!(disk.tree(), ["a"]);
    }
    assert!(aborted > 0, "none was cancelled in time");
}
