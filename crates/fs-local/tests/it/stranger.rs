//! Another program changes the file between the look at it and the publication.
//!
//! The stranger waits until a stage file appears: by then the file has been judged, and the stage, being large, is
//! still being written. On a busy machine it may come too late; then the round is played again.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dsh_fs::leftovers::is_stage_name;
use dsh_fs::{EditOutcome, FsError, FsErrorCode, FsVersion, WriteGuard, WriteOutcome};

use crate::disk::Disk;

/// As large as it takes for a stranger to have time.
fn large(start: &str) -> String {
    format!("{start}{}", "0123456789abcde\n".repeat(1 << 20))
}

/// Is there a stage file that is still being written? (Once it is published its name is that of the old file for a moment,
/// which has to be as large, or it would pass for one.)
fn staging(folder: &Path) -> bool {
    let mut children = fs::read_dir(folder).unwrap().flatten();
    let stage = children.find(|child| is_stage_name(child.file_name().as_encoded_bytes()));
    stage.and_then(|stage| stage.metadata().ok()).is_some_and(|meta| meta.len() < 16 << 20)
}

/// Runs `mutation` while a stranger acts; did the stranger act before the stage was complete?
async fn while_staged<T>(
    disk: &Arc<Disk>,
    act: impl FnOnce(&Disk) + Send + 'static,
    mutation: impl Future<Output = T>,
) -> (bool, T) {
    let over = Arc::new(AtomicBool::new(false));
    let stranger = std::thread::spawn({
        let (disk, over) = (disk.clone(), over.clone());
        move || {
            while !staging(disk.root()) {
                if over.load(Ordering::Relaxed) {
                    return false;
                }
            }
            act(&disk);
            staging(disk.root())
        }
    });
    let result = mutation.await;
    over.store(true, Ordering::Relaxed);
    (stranger.join().unwrap(), result)
}

const ROUNDS: usize = 20;

async fn edit_while(act: fn(&Disk), guarded: bool) -> (Arc<Disk>, Result<EditOutcome, FsError>) {
    for _ in 0..ROUNDS {
        let disk = Arc::new(Disk::new());
        disk.put("f", large("start "));
        let version = disk.version("f").await;
        let guard: Option<&FsVersion> = guarded.then_some(&version);
        let (in_time, result) = while_staged(&disk, act, disk.edit_if("f", "start", "edited", guard)).await;
        if in_time {
            return (disk, result);
        }
    }
    panic!("the stranger was never in time");
}

async fn write_while(act: fn(&Disk), guarded: bool) -> (Arc<Disk>, Result<WriteOutcome, FsError>) {
    for _ in 0..ROUNDS {
        let disk = Arc::new(Disk::new());
        disk.put("f", large("start "));
        let version = disk.version("f").await;
        let guard = guarded.then_some(WriteGuard::ReplaceIfVersion(version));
        let content = large("written");
        let (in_time, result) = while_staged(&disk, act, disk.write_if("f", &content, guard)).await;
        if in_time {
            return (disk, result);
        }
    }
    panic!("the stranger was never in time");
}

fn rewrites(disk: &Disk) {
    disk.put("f", "start again");
}

fn replaces(disk: &Disk) {
    disk.put("g", "start again");
    fs::rename(disk.at("g"), disk.at("f")).unwrap();
}

fn removes(disk: &Disk) {
    fs::remove_file(disk.at("f")).unwrap();
}

fn chmods(disk: &Disk) {
    disk.mode("f", 0o600);
}

fn replaces_by_a_folder(disk: &Disk) {
    removes(disk);
    disk.folder("f");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guarded_mutation_is_stale_and_the_strangers_bytes_stay() {
    for act in [rewrites as fn(&Disk), replaces] {
        let (disk, edited) = edit_while(act, true).await;
        assert_eq!(edited.unwrap_err().code(), FsErrorCode::StaleVersion);
        assert_eq!((disk.text("f"), disk.tree()), ("start again".into(), vec!["f".into()]));
        let (disk, written) = write_while(act, true).await;
        assert_eq!(written.unwrap_err().code(), FsErrorCode::StaleVersion);
        assert_eq!((disk.text("f"), disk.tree()), ("start again".into(), vec!["f".into()]));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guarded_mutation_of_a_file_removed_meanwhile_is_stale() {
    let (disk, edited) = edit_while(removes, true).await;
    assert_eq!(edited.unwrap_err().code(), FsErrorCode::StaleVersion);
    assert!(disk.tree().is_empty());
    let (disk, written) = write_while(removes, true).await;
    assert!(written.unwrap_err().to_string().ends_with("file no longer exists"));
    assert!(disk.tree().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unguarded_edit_is_made_again_on_what_the_stranger_wrote() {
    for act in [rewrites as fn(&Disk), replaces] {
        let (disk, edited) = edit_while(act, false).await;
        let outcome = edited.unwrap();
        assert_eq!((&*outcome.texts.before, &*outcome.texts.after), ("start again", "edited again"));
        assert_eq!((disk.text("f"), disk.tree()), ("edited again".into(), vec!["f".into()]));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unguarded_write_replaces_whatever_is_there() {
    for act in [rewrites as fn(&Disk), replaces, removes] {
        let (disk, written) = write_while(act, false).await;
        written.unwrap();
        assert!(disk.text("f") == large("written"));
        assert_eq!(disk.tree(), ["f"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_mode_meanwhile_is_no_change_of_the_text_and_is_kept() {
    let (disk, edited) = edit_while(chmods, true).await;
    edited.unwrap();
    assert_eq!(fs::metadata(disk.at("f")).unwrap().mode() & 0o7777, 0o600);
    let (disk, written) = write_while(chmods, false).await;
    written.unwrap();
    assert_eq!(fs::metadata(disk.at("f")).unwrap().mode() & 0o7777, 0o600);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_in_its_place_is_refused() {
    for guarded in [true, false] {
        let (disk, written) = write_while(replaces_by_a_folder, guarded).await;
        assert_eq!(written.unwrap_err().code(), FsErrorCode::NotRegularFile);
        assert_eq!(disk.tree(), ["f"]);
    }
}
