//! Strangers who write without pause, and find again what they wrote.
//!
//! After each completed write the stranger reads the file: it must hold that write, or an edit of it. What is there
//! for the microseconds until a candidate is withdrawn does not count, so it looks twice.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dsh_fs::leftovers::is_conflict_name;
use dsh_fs::{FsError, FsErrorCode};
use dsh_fs_local::{Durability, LocalFileSystem, LocalFsConfig};

use crate::disk::Disk;

type Writes = fn(&Path, &str);

/// How often the stranger wrote, what of it was lost, and how many edits were applied and refused.
#[derive(Debug)]
struct Score {
    writes: u64,
    lost: Vec<String>,
    applied: u64,
    stale: u64,
}

fn holds(path: &Path, number: u64) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.starts_with(&format!("{number} ")))
}

fn found(root: &Path, number: u64) -> bool {
    if holds(&root.join("f"), number) {
        return true;
    }
    std::thread::sleep(Duration::from_millis(60));
    holds(&root.join("f"), number)
        || fs::read_dir(root).unwrap().flatten().any(|child| {
            is_conflict_name(child.file_name().as_encoded_bytes()) && holds(&child.path(), number)
        })
}

async fn play(writes: Writes) -> Score {
    let mut disk = Disk::new();
    // Faster, so that they meet more often.
    let config = LocalFsConfig {
        cwd: Some(disk.root().into()),
        durability: Durability::Rename,
        ..LocalFsConfig::default()
    };
    disk.fs = LocalFileSystem::new(config).unwrap();
    disk.put("f", format!("{:<24}", "0 start"));
    let over = Arc::new(AtomicBool::new(false));
    let stranger = std::thread::spawn({
        let (root, over) = (disk.root().to_owned(), over.clone());
        move || {
            let (mut number, mut lost) = (0, Vec::new());
            while !over.load(Ordering::Relaxed) {
                number += 1;
                writes(&root, &format!("{:<24}", format!("{number} start")));
                if !found(&root, number) {
                    lost.push(format!("{number}: {:?}", fs::read_to_string(root.join("f"))));
                }
            }
            (number, lost)
        }
    });
    let (mut applied, mut stale) = (0, 0);
    let start = Instant::now();
    // On a busy machine until they have met often enough.
    let (enough, most) = (Duration::from_secs(2), Duration::from_secs(30));
    while start.elapsed() < enough || ((applied < 5 || stale < 5) && start.elapsed() < most) {
        let read = disk.read("f").await.unwrap();
        match disk.edit_if("f", "start", "edited", Some(&read.version)).await {
            Ok(outcome) => {
                assert_eq!(outcome.texts.before, read.text);
                applied += 1;
            }
            Err(error) => stale += refusal(&error),
        }
    }
    over.store(true, Ordering::Relaxed);
    let (writes, lost) = stranger.join().unwrap();
    Score { writes, lost, applied, stale }
}

fn refusal(error: &FsError) -> u64 {
    match error.code() {
        FsErrorCode::StaleVersion => 1,
        // The stranger has not written since our last edit, or is in the middle of it.
        FsErrorCode::EditNotFound => 0,
        _ => panic!("{error}"),
    }
}

fn renames(root: &Path, text: &str) {
    fs::write(root.join("g"), text).unwrap();
    fs::rename(root.join("g"), root.join("f")).unwrap();
}

fn truncates(root: &Path, text: &str) {
    fs::write(root.join("f"), text).unwrap();
}

fn overwrites(root: &Path, text: &str) {
    let mut file = File::options().write(true).open(root.join("f")).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.set_len(24).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_completed_write_of_a_stranger_is_lost() {
    for writes in [renames as Writes, truncates, overwrites] {
        let score = play(writes).await;
        assert!(score.lost.is_empty(), "{score:?}");
        assert!(score.writes > 20 && score.applied >= 5 && score.stale >= 5, "{score:?}");
    }
}
