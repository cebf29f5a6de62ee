use std::os::unix::ffi::OsStrExt;

use dsh_fs::{FileSystem, FsCall, FsDirEntry, FsError, FsErrorCode, FsKind};

use crate::disk::{Disk, is_root, key_of, refused};

async fn list(disk: &Disk, path: &str) -> Result<Vec<FsDirEntry>, FsError> {
    disk.fs.list_dir(&disk.target(path).await, &FsCall::new()).await
}

#[tokio::test]
async fn children_come_in_byte_order_with_what_they_are() {
    let disk = Disk::new();
    disk.put("d/b", "12").put("d/B", "").put("d/é", "1").folder("d/a").put("d/a/deep", "x");
    disk.link("d/broken", "nope").link("d/lf", "b").link("d/ld", "a").link("d/loop", "loop");
    let entries = list(&disk, "d").await.unwrap();
    let seen: Vec<_> =
        entries.iter().map(|e| (e.name.as_str(), e.kind, e.size, e.version.is_some())).collect();
    assert_eq!(
        seen,
        [
            ("B", FsKind::File, Some(0), true),
            ("a", FsKind::Directory, None, true),
            ("b", FsKind::File, Some(2), true),
            ("broken", FsKind::Other, None, false),
            ("ld", FsKind::Directory, None, true),
            ("lf", FsKind::File, Some(2), true),
            ("loop", FsKind::Other, None, false),
            ("é", FsKind::File, Some(1), true),
        ]
    );
}

#[tokio::test]
async fn children_are_targets_like_any_other() {
    let disk = Disk::new();
    disk.put("d/f", "x").link("d/l", "f").link("d/broken", "nope").link("l", "d");
    for entry in list(&disk, "l").await.unwrap() {
        assert_eq!(entry.target.display_path(), disk.shown(&format!("l/{}", entry.name)));
        assert_eq!(entry.target, disk.target(&format!("l/{}", entry.name)).await, "{}", entry.name);
    }
    let root = list(&disk, "/").await.unwrap();
    let tmp = root.iter().find(|entry| entry.name == "tmp").unwrap();
    assert_eq!((tmp.target.display_path(), key_of(&tmp.target)), ("/tmp", "/tmp".into()));
}

#[tokio::test]
async fn what_is_no_folder_cannot_be_listed() {
    let disk = Disk::new();
    disk.put("f", "x");
    refused(
        list(&disk, "nope").await,
        FsErrorCode::NotFound,
        format!("cannot list \"{}\": not found", disk.shown("nope")),
    );
    refused(
        list(&disk, "f").await,
        FsErrorCode::NotDirectory,
        format!("cannot list \"{}\": not a directory", disk.shown("f")),
    );
    assert_eq!(list(&disk, "/dev/null").await.unwrap_err().code(), FsErrorCode::NotDirectory);
    if !is_root() {
        disk.folder("secret").mode("secret", 0o311);
        refused(
            list(&disk, "secret").await,
            FsErrorCode::PermissionDenied,
            format!("cannot list \"{}\": permission denied", disk.shown("secret")),
        );
        disk.keep_removable("secret");
    }
}

#[tokio::test]
async fn what_publications_leave_behind_is_not_listed_and_look_alikes_are() {
    let disk = Disk::new();
    disk.put(".dsh-0123456789av", "stage").put(".dsh-short", "").put(".dsh-0123456789aw", "").put("x", "");
    disk.put("x.dsh-conflict-12", "")
        .put(".dsh-0123456789avv", "")
        .put("x.dsh-conflict-", "")
        .put("x.dsh-conflict-0", "");
    let names: Vec<_> = list(&disk, ".").await.unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(
        names,
        [".dsh-0123456789avv", ".dsh-0123456789aw", ".dsh-short", "x", "x.dsh-conflict-", "x.dsh-conflict-0"]
    );
    assert!(
        dsh_fs::leftovers::is_conflict_name(b"x.dsh-conflict-12")
            && !dsh_fs::leftovers::is_conflict_name(b"x")
    );
    assert!(
        dsh_fs::leftovers::is_stage_name(b".dsh-0123456789av") && !dsh_fs::leftovers::is_stage_name(b".dsh-")
    );
}

#[tokio::test]
async fn names_that_are_not_utf8_are_shown_with_replacement_and_reached_exactly() {
    let disk = Disk::new();
    let odd = std::ffi::OsStr::from_bytes(b"odd-\xFF");
    std::fs::write(disk.root().join(odd), "odd").unwrap();
    let entries = list(&disk, ".").await.unwrap();
    assert_eq!(entries[0].name, "odd-\u{FFFD}");
    assert_eq!(disk.fs.read_text(&entries[0].target, &FsCall::new()).await.unwrap().text, "odd");
}

#[tokio::test]
async fn a_version_from_a_listing_is_one_by_identity() {
    let disk = Disk::new();
    disk.put("f", "x");
    let entries = list(&disk, ".").await.unwrap();
    assert!(!entries[0].version.as_ref().unwrap().token().contains(';'));
}
