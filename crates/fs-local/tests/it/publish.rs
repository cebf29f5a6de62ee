//! What others see while a mutation is going on, and what is left of it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dsh_fs::{FsError, FsErrorCode};

use crate::disk::Disk;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_sees_the_old_file_or_the_new_one() {
    let disk = Arc::new(Disk::new());
    let (a, b) = ("a".repeat(300_000), "b".repeat(300_000));
    disk.put("f", &a);
    let stop = Arc::new(AtomicBool::new(false));
    let reader = std::thread::spawn({
        let (disk, stop, a, b) = (disk.clone(), stop.clone(), a.clone(), b.clone());
        move || {
            while !stop.load(Ordering::Relaxed) {
                let seen = disk.text("f");
                assert!(seen == a || seen == b);
            }
        }
    });
    for round in 0..40 {
        disk.write("f", if round % 2 == 0 { &b } else { &a }).await.unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    reader.join().unwrap();
    assert_eq!(disk.tree(), ["f"]);
}

#[tokio::test]
async fn a_reader_that_has_it_open_keeps_the_old_file() {
    let disk = Disk::new();
    disk.put("f", "old");
    let open = fs::File::open(disk.at("f")).unwrap();
    disk.edit("f", "old", "new").await.unwrap();
    assert_eq!(std::io::read_to_string(open).unwrap(), "old");
    assert_eq!(fs::metadata(disk.at("f")).unwrap().nlink(), 1);
}

#[tokio::test]
async fn a_new_file_has_one_link() {
    let disk = Disk::new();
    disk.write("f", "x").await.unwrap();
    assert_eq!(fs::metadata(disk.at("f")).unwrap().nlink(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_stranger_who_creates_the_file_first_is_not_overwritten() {
    // A program that does not know our lock makes and removes the same file all the time.
    let disk = Arc::new(Disk::new());
    let stop = Arc::new(AtomicBool::new(false));
    let stranger = std::thread::spawn({
        let (disk, stop) = (disk.clone(), stop.clone());
        move || {
            let mut lost = 0;
            while !stop.load(Ordering::Relaxed) {
                let made = fs::OpenOptions::new().write(true).create_new(true).open(disk.at("f"));
                if let Ok(mut file) = made {
                    std::io::Write::write_all(&mut file, b"stranger").unwrap();
                    // Whoever has made it finds it there.
                    lost += usize::from(fs::read_to_string(disk.at("f")).unwrap() != "stranger");
                }
                std::thread::sleep(Duration::from_micros(200));
                let _ = fs::remove_file(disk.at("f"));
                std::thread::sleep(Duration::from_micros(200));
            }
            lost
        }
    });
    let (mut made, mut refused) = (0, 0);
    let start = Instant::now();
    // Until it has gone either way often enough; seldom more than a second.
    while (made < 20 || refused < 20) && start.elapsed() < Duration::from_secs(30) {
        match disk.write_if("f", "ours", Some(dsh_fs::WriteGuard::CreateIfAbsent)).await {
            Ok(_) => made += 1,
            Err(error) => {
                assert_eq!(error.code(), FsErrorCode::NotObserved);
                refused += 1;
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
    assert_eq!(stranger.join().unwrap(), 0);
    assert!(made > 0 && refused > 0, "{made} {refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_unguarded_write_updates_what_appeared_meanwhile() {
    let disk = Arc::new(Disk::new());
    let stop = Arc::new(AtomicBool::new(false));
    let stranger = std::thread::spawn({
        let (disk, stop) = (disk.clone(), stop.clone());
        move || {
            while !stop.load(Ordering::Relaxed) {
                let _ = fs::write(disk.at("f"), "stranger");
                let _ = fs::remove_file(disk.at("f"));
            }
        }
    });
    for number in 0..300 {
        let written = disk.write("f", "ours").await;
        assert!(written.is_ok(), "{number}: {written:?}");
    }
    stop.store(true, Ordering::Relaxed);
    stranger.join().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_guarded_edit_against_a_busy_stranger_says_stale_or_wins_but_never_invents() {
    let disk = Arc::new(Disk::new());
    disk.put("f", "0 start");
    let stop = Arc::new(AtomicBool::new(false));
    let stranger = std::thread::spawn({
        let (disk, stop) = (disk.clone(), stop.clone());
        move || {
            let mut number = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                number += 1;
                fs::write(disk.at("g"), format!("{number} start")).unwrap();
                fs::rename(disk.at("g"), disk.at("f")).unwrap();
            }
        }
    });
    let mut kept = Vec::new();
    let mut failed = |error: FsError| {
        // What was caught between two of the stranger's files is beside the target, and the error says where.
        let said = error.to_string();
        kept.extend(said.split_once("is kept as \"").map(|(_, path)| path.trim_end_matches('"').to_owned()));
        error.code()
    };
    for _ in 0..200 {
        let read = disk.read("f").await.unwrap();
        match disk.edit_if("f", "start", "edited", Some(&read.version)).await {
            Ok(outcome) => assert_eq!(outcome.texts.before, read.text),
            Err(error) if read.text.contains("start") => assert_eq!(failed(error), FsErrorCode::StaleVersion),
            Err(error) => _ = failed(error),
        }
        // Without a guard the edit is of what was there.
        match disk.edit("f", "start", "edited").await {
            Ok(outcome) => {
                assert!(outcome.texts.before.ends_with(" start") && outcome.texts.after.ends_with(" edited"));
            }
            Err(error) => _ = failed(error),
        }
    }
    stop.store(true, Ordering::Relaxed);
    stranger.join().unwrap();
    kept.sort();
    let mut left: Vec<_> = disk.tree().into_iter().filter(|name| name != "f" && name != "g").collect();
    left.sort_by_key(|name| disk.shown(name));
    assert_eq!(left.iter().map(|name| disk.shown(name)).collect::<Vec<_>>(), kept);
    for name in left {
        assert!(disk.text(&name).ends_with(" start"), "{name} holds what the stranger wrote");
    }
}
