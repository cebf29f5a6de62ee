//! FIFOs, sockets, devices and folders: refused by type, at once, by every operation.

use std::time::Duration;

use dsh_fs::{FileSystem, FsCall, FsErrorCode, FsKind, WriteGuard};
use rustix::fs::{CWD, Mode, mkfifoat};

use crate::disk::{Disk, refused};

async fn refuses_everything(disk: &Disk, path: &str) {
    let target = disk.target(path).await;
    let shown = target.display_path();
    let call = FsCall::new();
    let everything = async {
        let code = FsErrorCode::NotRegularFile;
        let cannot = |verb: &str| format!("cannot {verb} \"{shown}\": not a regular file");
        refused(disk.fs.read_text(&target, &call).await, code, cannot("read"));
        refused(disk.fs.stream_text(&target, None, &call).await, code, cannot("read"));
        refused(disk.fs.read_bytes(&target, 10, &call).await, code, cannot("read"));
        for guard in [
            None,
            Some(WriteGuard::CreateIfAbsent),
            Some(WriteGuard::ReplaceIfVersion(disk.stat_version(path).await)),
        ] {
            refused(disk.write_if(path, "x", guard).await, code, cannot("write"));
        }
        refused(disk.edit(path, "a", "b").await, code, cannot("edit"));
        refused(
            disk.edit_if(path, "a", "b", Some(&disk.stat_version(path).await)).await,
            code,
            cannot("edit"),
        );
    };
    tokio::time::timeout(Duration::from_secs(5), everything).await.expect("it blocks");
}

#[tokio::test]
async fn a_fifo_is_refused_and_never_opened() {
    let disk = Disk::new();
    mkfifoat(CWD, disk.at("p"), Mode::from_raw_mode(0o644)).unwrap();
    disk.link("l", "p");
    refuses_everything(&disk, "p").await;
    refuses_everything(&disk, "l").await;
    assert_eq!(disk.tree(), ["l", "p"]);
}

#[tokio::test]
async fn a_fifo_that_takes_the_place_of_a_file_is_refused() {
    let disk = Disk::new();
    disk.put("a", "text");
    let target = disk.target("a").await;
    std::fs::remove_file(disk.at("a")).unwrap();
    mkfifoat(CWD, disk.at("a"), Mode::from_raw_mode(0o644)).unwrap();
    let read = disk.fs.read_text(&target, &FsCall::new()).await;
    assert_eq!(read.unwrap_err().code(), FsErrorCode::NotRegularFile);
}

#[tokio::test]
async fn a_socket_is_refused() {
    let disk = Disk::new();
    let _socket = std::os::unix::net::UnixListener::bind(disk.at("s")).unwrap();
    refuses_everything(&disk, "s").await;
}

#[tokio::test]
async fn a_device_is_refused_behind_a_link_too() {
    let disk = Disk::new();
    disk.link("z", "/dev/zero");
    refuses_everything(&disk, "/dev/null").await;
    refuses_everything(&disk, "z").await;
    assert_eq!(
        disk.fs.stat(&disk.target("z").await, &FsCall::new()).await.unwrap().unwrap().kind,
        FsKind::Other
    );
}

#[tokio::test]
async fn a_folder_is_no_file() {
    let disk = Disk::new();
    disk.folder("d");
    refuses_everything(&disk, "d").await;
    refuses_everything(&disk, "/").await;
    refuses_everything(&disk, "/proc").await;
}

#[tokio::test]
async fn a_link_that_took_the_place_of_a_resolved_file_is_not_followed_by_a_mutation() {
    let disk = Disk::new();
    disk.put("a", "mine").put("other", "keep");
    let target = disk.target("a").await;
    std::fs::remove_file(disk.at("a")).unwrap();
    disk.link("a", "other");
    let call = FsCall::new();
    refused(
        disk.fs.write_text(&target, "x", None, &call).await,
        FsErrorCode::NotRegularFile,
        format!("cannot write \"{}\": not a regular file", disk.shown("a")),
    );
    assert_eq!(disk.text("other"), "keep");
}

#[tokio::test]
async fn a_folder_that_became_a_link_leads_no_mutation_astray() {
    let disk = Disk::new();
    disk.put("d/a", "mine").put("outside/a", "keep");
    let (target, new) = (disk.target("d/a").await, disk.target("d/new").await);
    std::fs::rename(disk.at("d"), disk.at("aside")).unwrap();
    disk.link("d", "outside");
    for target in [target, new] {
        refused(
            disk.fs.write_text(&target, "x", None, &FsCall::new()).await,
            FsErrorCode::IoError,
            format!(
                "cannot write \"{}\": a folder on the way has become a symbolic link",
                target.display_path()
            ),
        );
    }
    assert_eq!(disk.tree(), ["aside", "aside/a", "d", "outside", "outside/a"]);
    assert_eq!(disk.text("outside/a"), "keep");
}
