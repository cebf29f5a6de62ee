//! Folders that are made for a write, and removed again when it fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use dsh_fs::{FsErrorCode, WriteGuard};

use crate::disk::{Disk, is_root, refused};

#[tokio::test]
async fn missing_folders_are_made() {
    let disk = Disk::new();
    assert!(disk.write("a/b/c/d.txt", "deep").await.unwrap().durable);
    disk.write_if("a/b/x/y.txt", "deep", Some(WriteGuard::CreateIfAbsent)).await.unwrap();
    assert_eq!(disk.text("a/b/c/d.txt"), "deep");
    assert_eq!(disk.tree(), ["a", "a/b", "a/b/c", "a/b/c/d.txt", "a/b/x", "a/b/x/y.txt"]);
}

#[tokio::test]
async fn folders_made_for_a_write_that_fails_are_removed_again() {
    let disk = Disk::new();
    disk.folder("have");
    let long = "n".repeat(256);
    for path in [format!("have/x/y/{long}"), format!("x/y/{long}/z/a")] {
        refused(
            disk.write(&path, "x").await,
            FsErrorCode::IoError,
            format!("cannot write \"{}\": file name too long", disk.shown(&path)),
        );
        assert_eq!(disk.tree(), ["have"]);
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_a_typed_error() {
    let disk = Disk::new();
    let (target, version) = (disk.target("d/x/a").await, disk.write("v", "v").await.unwrap().version);
    disk.put("d", "a file since");
    let call = dsh_fs::FsCall::new();
    let message =
        format!("cannot resolve \"{}\": a parent path segment is not a directory", disk.shown("d/x/a"));
    let guards = [None, Some(WriteGuard::CreateIfAbsent), Some(WriteGuard::ReplaceIfVersion(version))];
    for guard in &guards {
        let written = dsh_fs::FileSystem::write_text(&disk.fs, &target, "x", guard.as_ref(), &call).await;
        refused(written, FsErrorCode::NotFound, &message);
    }
    if !is_root() {
        disk.folder("ro").mode("ro", 0o555);
        refused(
            disk.write("ro/new/a", "x").await,
            FsErrorCode::PermissionDenied,
            format!("cannot write \"{}\": permission denied", disk.shown("ro/new/a")),
        );
        disk.keep_removable("ro");
    }
    assert_eq!(disk.text("d"), "a file since");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_folder_that_is_removed_meanwhile_is_made_again() {
    let disk = Arc::new(Disk::new());
    // How often the folder may still be taken away; a write gives up only after more than that.
    let left = Arc::new(AtomicI32::new(0));
    let remover = std::thread::spawn({
        let (disk, left) = (disk.clone(), left.clone());
        move || {
            while left.load(Ordering::Acquire) >= 0 {
                if left.load(Ordering::Acquire) > 0 && std::fs::remove_dir(disk.at("d/e")).is_ok() {
                    left.fetch_sub(1, Ordering::AcqRel);
                    let _ = std::fs::remove_dir(disk.at("d"));
                }
            }
        }
    });
    for number in 0..30 {
        left.store(6, Ordering::Release);
        let written = disk.write("d/e/a", "x").await;
        assert!(written.is_ok(), "{number}: {written:?}");
        std::fs::remove_file(disk.at("d/e/a")).unwrap();
    }
    left.store(-1, Ordering::Release);
    remover.join().unwrap();
}
