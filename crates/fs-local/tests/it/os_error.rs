//! What the operating system says, as a model hears it.

use std::error::Error;
use std::process::Command;

use dsh_fs::{FileSystem, FsCall, FsErrorCode, WriteGuard};

use crate::disk::{Disk, is_rerun, is_root, refused, rerun};

/// A small tmpfs over the test's folder `m`, as root; `None` where that is not possible.
fn small_disk(disk: &Disk, options: &str) -> Option<Mounted> {
    disk.folder("m");
    let path = disk.at("m");
    let mount =
        Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&path).status().ok()?;
    mount.success().then_some(Mounted(path))
}

struct Mounted(std::path::PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[tokio::test]
async fn a_full_disk_is_told_and_leaves_the_old_file() {
    let disk = Disk::new();
    let Some(_mounted) = small_disk(&disk, "size=64k") else { return };
    disk.put("m/a", "old");
    let large = "x".repeat(1 << 20);
    for path in ["m/a", "m/new", "m/sub/new"] {
        refused(
            disk.write(path, &large).await,
            FsErrorCode::IoError,
            format!("cannot write \"{}\": no space left on device", disk.shown(path)),
        );
    }
    assert_eq!((disk.text("m/a"), disk.tree()), ("old".into(), vec!["m".into(), "m/a".into()]));
    let failed = disk.write("m/a", &large).await.unwrap_err();
    assert!(failed.source().is_some(), "the system's own error is kept");
}

#[tokio::test]
async fn a_read_only_disk_is_permission_denied() {
    let disk = Disk::new();
    let Some(mounted) = small_disk(&disk, "size=64k") else { return };
    disk.put("m/a", "old");
    assert!(Command::new("mount").args(["-o", "remount,ro"]).arg(&mounted.0).status().unwrap().success());
    let denied =
        |verb: &str, path: &str| format!("cannot {verb} \"{}\": permission denied", disk.shown(path));
    refused(disk.write("m/a", "x").await, FsErrorCode::PermissionDenied, denied("write", "m/a"));
    refused(disk.edit("m/a", "old", "x").await, FsErrorCode::PermissionDenied, denied("edit", "m/a"));
    refused(disk.write("m/new", "x").await, FsErrorCode::PermissionDenied, denied("write", "m/new"));
    refused(disk.write("m/d/new", "x").await, FsErrorCode::PermissionDenied, denied("write", "m/d/new"));
}

#[tokio::test]
async fn a_file_that_is_a_mount_point_is_refused_with_that_reason() {
    let disk = Disk::new();
    disk.put("a", "under").put("b", "over");
    let bound = Command::new("mount").arg("--bind").arg(disk.at("b")).arg(disk.at("a")).status();
    if !bound.is_ok_and(|status| status.success()) {
        return;
    }
    let _mounted = Mounted(disk.at("a"));
    let why = |verb: &str| {
        format!("cannot {verb} \"{}\": the file is a mount point and cannot be replaced", disk.shown("a"))
    };
    refused(disk.write("a", "x").await, FsErrorCode::IoError, why("write"));
    refused(disk.edit("a", "over", "x").await, FsErrorCode::IoError, why("edit"));
    assert_eq!((disk.text("a"), disk.tree()), ("over".into(), vec!["a".into(), "b".into()]));
}

#[tokio::test]
async fn a_file_that_is_pinned_is_permission_denied() {
    let disk = Disk::new();
    disk.put("a", "old");
    if !Command::new("chattr").arg("+i").arg(disk.at("a")).status().is_ok_and(|status| status.success()) {
        return;
    }
    let written = disk.write("a", "x").await;
    let _ = Command::new("chattr").arg("-i").arg(disk.at("a")).status();
    refused(
        written,
        FsErrorCode::PermissionDenied,
        format!("cannot write \"{}\": permission denied", disk.shown("a")),
    );
    assert_eq!((disk.text("a"), disk.tree()), ("old".into(), vec!["a".into()]));
}

#[tokio::test]
async fn running_out_of_descriptors_is_told() {
    if is_rerun() {
        return too_many_open_files().await;
    }
    rerun(
        &["sh", "-c", "ulimit -n 24; exec \"$@\"", "sh"],
        "os_error::running_out_of_descriptors_is_told",
        &[],
    );
}

async fn too_many_open_files() {
    let disk = Disk::new();
    disk.put("a", "x");
    let (target, new) = (disk.target("a").await, disk.target("new").await);
    let mut held = Vec::new();
    while let Ok(file) = std::fs::File::open(disk.at("a")) {
        held.push(file);
    }
    let call = FsCall::new();
    let message =
        |verb: &str, path: &str| format!("cannot {verb} \"{}\": too many open files", disk.shown(path));
    refused(disk.fs.read_text(&target, &call).await, FsErrorCode::IoError, message("read", "a"));
    refused(disk.fs.write_text(&target, "y", None, &call).await, FsErrorCode::IoError, message("write", "a"));
    // Enough for the folder, not for the stage.
    held.truncate(held.len() - 1);
    let create = disk.fs.write_text(&new, "y", Some(&WriteGuard::CreateIfAbsent), &call).await;
    refused(create, FsErrorCode::IoError, message("write", "new"));
    drop(held);
    assert_eq!((disk.text("a"), disk.tree()), ("x".into(), vec!["a".into()]));
}

#[tokio::test]
async fn a_file_larger_than_memory_is_an_error_and_not_the_end() {
    // Where the kernel promises memory that it does not have, it would be the end.
    if std::fs::read_to_string("/proc/sys/vm/overcommit_memory").unwrap().trim() == "1" {
        return;
    }
    let disk = Disk::new();
    disk.put("huge", "x".repeat(9000));
    let file = std::fs::File::options().write(true).open(disk.at("huge")).unwrap();
    assert!((40..=46).rev().any(|bits| file.set_len(1 << bits).is_ok()), "no large files here");
    let message = |verb: &str| format!("cannot {verb} \"{}\": not enough memory", disk.shown("huge"));
    refused(disk.edit("huge", "x", "y").await, FsErrorCode::IoError, message("edit"));
    let bytes = disk.fs.read_bytes(&disk.target("huge").await, u64::MAX, &FsCall::new()).await;
    refused(bytes, FsErrorCode::IoError, message("read"));
}

#[tokio::test]
async fn no_message_names_a_stage_file() {
    if is_root() {
        return;
    }
    let disk = Disk::new();
    disk.put("ro/a", "x").mode("ro", 0o555);
    for path in ["ro/a", "ro/new"] {
        let failed = disk.write(path, "y").await.unwrap_err();
        assert!(!format!("{failed} {failed:?}").contains(".dsh-"));
    }
    disk.keep_removable("ro");
}
