//! Our other processes.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{FileSystem, FsCall, FsErrorCode};

use crate::disk::{Disk, is_rerun, is_root, refused, rerun};

/// Locks the test's folder as another process would: by a descriptor of its own.
fn locked(disk: &Disk) -> File {
    let folder = File::open(disk.root()).unwrap();
    folder.lock().unwrap();
    folder
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mutation_waits_for_the_folder() {
    let disk = Arc::new(Disk::new());
    disk.put("f", "start");
    let folder = locked(&disk);
    let writer = tokio::spawn({
        let disk = disk.clone();
        async move { disk.edit("f", "start", "edited").await }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!writer.is_finished());
    // Reading and other folders do not wait.
    assert_eq!(disk.text("f"), "start");
    assert!(disk.read("f").await.is_ok());
    disk.write("other/folder/f", "x").await.unwrap();
    drop(folder);
    let released = Instant::now();
    writer.await.unwrap().unwrap();
    assert!(released.elapsed() < Duration::from_secs(1));
    assert_eq!(disk.text("f"), "edited");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_for_another_process_can_be_cancelled() {
    let disk = Arc::new(Disk::new());
    let _folder = locked(&disk);
    let target = disk.target("f").await;
    let call = FsCall::new();
    let writer = tokio::spawn({
        let (disk, call) = (disk.clone(), call.clone());
        async move { disk.fs.write_text(&target, "x", None, &call).await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let cancelled = Instant::now();
    call.cancel.cancel();
    refused(writer.await.unwrap(), FsErrorCode::Aborted, "write aborted");
    assert!(cancelled.elapsed() < Duration::from_millis(300));
    assert!(disk.tree().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_ten_seconds_it_is_an_error_that_says_so() {
    let disk = Disk::new();
    disk.put("f", "start").put("g/f", "start");
    let _folder = locked(&disk);
    let start = Instant::now();
    refused(
        disk.write("f", "x").await,
        FsErrorCode::IoError,
        format!("cannot write \"{}\": the folder is locked by another process", disk.shown("f")),
    );
    let waited = start.elapsed();
    assert!(waited >= Duration::from_secs(10) && waited < Duration::from_secs(12), "{waited:?}");
    assert_eq!((disk.text("f"), disk.tree()), ("start".into(), vec!["f".into(), "g".into(), "g/f".into()]));
}

#[tokio::test]
async fn the_folder_is_locked_from_the_look_to_the_end_and_no_longer() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let disk = Disk::observed({
        let seen = seen.clone();
        move |root, step| {
            let locked = File::open(root).unwrap().try_lock().is_err();
            seen.lock().unwrap().push((step, locked));
        }
    });
    disk.put("f", "start");
    disk.write("f", "x").await.unwrap();
    disk.edit("f", "x", "y").await.unwrap();
    disk.write("new", "x").await.unwrap();
    let seen = seen.lock().unwrap();
    assert!(seen.len() > 12 && seen.iter().all(|(_, locked)| *locked), "{seen:?}");
    assert!(File::open(disk.root()).unwrap().try_lock().is_ok());
}

#[tokio::test]
async fn a_folder_that_cannot_be_read_is_not_locked() {
    if is_rerun() {
        let path = format!("{}/f", std::env::var("FOLDER").unwrap());
        Disk::new().write(&path, "x").await.unwrap();
        return;
    }
    if !is_root() {
        return;
    }
    let disk = Disk::new();
    disk.mode(".", 0o733);
    let _folder = locked(&disk);
    let folder = disk.root().to_str().unwrap().to_owned();
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    rerun(&user, "flock::a_folder_that_cannot_be_read_is_not_locked", &[("FOLDER", &folder)]);
    assert_eq!(disk.text("f"), "x");
}

const EACH: usize = 60;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_processes_every_edit_is_applied() {
    if is_rerun() {
        return edits().await;
    }
    let disk = Disk::new();
    disk.put("f", "|");
    let folder = disk.root().to_str().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                rerun(&["env"], "flock::of_many_processes_every_edit_is_applied", &[("FOLDER", folder)]);
            });
        }
    });
    assert_eq!(disk.text("f"), format!("|{}", "+".repeat(4 * EACH)));
    assert_eq!(disk.tree(), ["f"]);
}

/// By two backends at once, without a guard.
async fn edits() {
    let path = format!("{}/f", std::env::var("FOLDER").unwrap());
    let (one, two) = (Disk::new(), Disk::new());
    let edit = LiteralEdit::new("|", "|+", false).unwrap();
    let call = FsCall::new();
    for _ in 0..EACH / 2 {
        let (target, same) = (one.target(&path).await, two.target(&path).await);
        let (first, second) = tokio::join!(
            one.fs.edit_text(&target, &edit, None, &call),
            two.fs.edit_text(&same, &edit, None, &call)
        );
        first.unwrap();
        second.unwrap();
    }
}
