use dsh_fs::{FileSystem, FsCall, FsErrorCode, WriteGuard, WriteOperation};

use crate::disk::{Disk, key_of, refused};

#[tokio::test]
async fn a_new_file_is_created_as_given() {
    let disk = Disk::new();
    let outcome = disk.write("a.txt", "\u{FEFF}one\r\ntwo\n").await.unwrap();
    assert_eq!(disk.text("a.txt"), "\u{FEFF}one\r\ntwo\n");
    assert_eq!((outcome.operation, outcome.before.as_deref()), (WriteOperation::Create, None));
    assert_eq!(&*outcome.after, "\u{FEFF}one\ntwo\n");
    assert!(outcome.durable);
    assert_eq!(disk.tree(), ["a.txt"]);
}

#[tokio::test]
async fn an_existing_file_is_replaced_whole() {
    let disk = Disk::new();
    disk.put("a.txt", "old\r\ntext\n");
    let outcome = disk.write("a.txt", "new").await.unwrap();
    assert_eq!(disk.text("a.txt"), "new");
    assert_eq!(outcome.operation, WriteOperation::Update);
    assert_eq!((outcome.before.as_deref(), &*outcome.after), (Some("old\ntext\n"), "new"));
    disk.write("a.txt", "").await.unwrap();
    assert_eq!(disk.text("a.txt"), "");
    assert_eq!(disk.tree(), ["a.txt"]);
}

#[tokio::test]
async fn the_version_of_a_write_licenses_the_next() {
    let disk = Disk::new();
    let created = disk.write("a", "1").await.unwrap();
    let second =
        disk.write_if("a", "2", Some(WriteGuard::ReplaceIfVersion(created.version.clone()))).await.unwrap();
    assert!(disk.edit_if("a", "2", "3", Some(&second.version)).await.is_ok());
    refused(
        disk.write_if("a", "4", Some(WriteGuard::ReplaceIfVersion(created.version))).await,
        FsErrorCode::StaleVersion,
        format!("cannot write \"{}\": file changed since it was read", disk.shown("a")),
    );
    assert_eq!(disk.text("a"), "3");
}

#[tokio::test]
async fn create_if_absent_creates_and_never_replaces() {
    let disk = Disk::new();
    disk.put("have", "mine").link("l", "have");
    assert!(disk.write_if("new", "x", Some(WriteGuard::CreateIfAbsent)).await.is_ok());
    for path in ["have", "l", "new"] {
        refused(
            disk.write_if(path, "y", Some(WriteGuard::CreateIfAbsent)).await,
            FsErrorCode::NotObserved,
            format!("cannot overwrite existing \"{}\" without reading it first", disk.shown(path)),
        );
    }
    assert_eq!((disk.text("have"), disk.text("new")), ("mine".into(), "x".into()));
}

#[tokio::test]
async fn a_file_that_is_gone_is_not_made_again_under_a_guard() {
    let disk = Disk::new();
    disk.put("d/a", "x");
    let version = disk.version("d/a").await;
    std::fs::remove_file(disk.at("d/a")).unwrap();
    let guard = || Some(WriteGuard::ReplaceIfVersion(version.clone()));
    let gone = format!("cannot write \"{}\": file no longer exists", disk.shown("d/a"));
    refused(disk.write_if("d/a", "y", guard()).await, FsErrorCode::StaleVersion, &gone);
    std::fs::remove_dir(disk.at("d")).unwrap();
    refused(disk.write_if("d/a", "y", guard()).await, FsErrorCode::StaleVersion, &gone);
    assert!(disk.tree().is_empty());
}

#[tokio::test]
async fn the_dress_of_the_old_text_is_kept() {
    let disk = Disk::new();
    for (old, content, new) in [
        ("\u{FEFF}a\n", "b\n", "\u{FEFF}b\n"),
        ("\u{FEFF}a\n", "\u{FEFF}b\n", "\u{FEFF}b\n"),
        ("a\r\nb\r\n", "a\nB\n", "a\r\nB\r\n"),
        ("\u{FEFF}a\r\n", "b\n", "\u{FEFF}b\r\n"),
        ("a\r\nb\n", "a\nB\n", "a\nB\n"),
        ("a\n", "a\r\n", "a\r\n"),
        ("a\r\n", "x\ny\r\n", "x\ny\r\n"),
        ("one line", "a\n", "a\n"),
    ] {
        disk.put("a.txt", old);
        let outcome = disk.write("a.txt", content).await.unwrap();
        assert_eq!(disk.text("a.txt"), new, "{old:?} {content:?}");
        assert_eq!(*outcome.after, content.replace("\r\n", "\n"));
        // The version is of the bytes on disk, not of the argument.
        assert!(
            disk.write_if("a.txt", "z", Some(WriteGuard::ReplaceIfVersion(outcome.version))).await.is_ok()
        );
    }
}

#[tokio::test]
async fn no_old_text_is_kept_from_the_limit_on_and_then_no_dress() {
    let disk = Disk::basis_below(8);
    for (old, content, before) in [
        ("1234567", "new", Some("1234567")),
        ("12345678", "new", None),
        ("old", "12345678", None),
        ("old", "1234567", Some("old")),
        ("old", "漢漢漢", None),
        ("old", "漢漢", Some("old")),
    ] {
        disk.put("a", old);
        assert_eq!(disk.write("a", content).await.unwrap().before.as_deref(), before, "{old} {content}");
        assert_eq!(disk.text("a"), content);
        // The same under a guard, where the bytes are read for the digest anyway.
        disk.put("a", old);
        let guard = WriteGuard::ReplaceIfVersion(disk.version("a").await);
        assert_eq!(disk.write_if("a", content, Some(guard)).await.unwrap().before.as_deref(), before);
    }
    disk.put("a", "a\r\nb\r\nc\r\n");
    disk.write("a", "x\n").await.unwrap();
    assert_eq!(disk.text("a"), "x\n");
}

#[tokio::test]
async fn bytes_that_were_not_text_have_no_before() {
    let disk = Disk::new();
    for old in [&b"a\0b"[..], b"\xFF", b"\xEF\xBB\xBFa\xFF\r\n"] {
        disk.put("a", old);
        assert_eq!(disk.write("a", "x\n").await.unwrap().before, None);
        assert_eq!(disk.text("a"), "x\n");
    }
}

#[tokio::test]
async fn links_stay_links_and_their_target_changes() {
    let disk = Disk::new();
    disk.put("real/a", "old").link("l", "real/a").link("chain", "l");
    disk.write("chain", "new").await.unwrap();
    assert_eq!(disk.text("real/a"), "new");
    assert_eq!(std::fs::read_link(disk.at("chain")).unwrap(), std::path::Path::new("l"));
    assert_eq!(disk.tree(), ["chain", "l", "real", "real/a"]);
}

#[tokio::test]
async fn a_dangling_link_creates_its_destination() {
    let disk = Disk::new();
    disk.link("one", "two").link("two", "new/folder/x");
    let target = disk.target("one").await;
    for guard in [Some(WriteGuard::CreateIfAbsent), None] {
        disk.fs.write_text(&target, "made", guard.as_ref(), &FsCall::new()).await.unwrap();
    }
    assert_eq!(disk.text("new/folder/x"), "made");
    assert_eq!(disk.tree(), ["new", "new/folder", "new/folder/x", "one", "two"]);
    assert_eq!(key_of(&disk.target("one").await), key_of(&target));
}

#[tokio::test]
async fn a_hard_link_keeps_its_text_under_the_other_name() {
    let disk = Disk::new();
    disk.put("a", "v1");
    std::fs::hard_link(disk.at("a"), disk.at("b")).unwrap();
    disk.write("a", "v2").await.unwrap();
    assert_eq!((disk.text("a"), disk.text("b")), ("v2".into(), "v1".into()));
}

#[tokio::test]
async fn the_longest_name_works_and_a_longer_one_is_a_typed_error() {
    let disk = Disk::new();
    let name = "n".repeat(255);
    disk.write(&name, "a").await.unwrap();
    disk.write(&name, "b").await.unwrap();
    disk.edit(&name, "b", "c").await.unwrap();
    assert_eq!(disk.text(&name), "c");
    // Below a folder that is not there, only the kernel can tell when it is made.
    let long = format!("d/{}/x", "n".repeat(256));
    refused(
        disk.write(&long, "x").await,
        FsErrorCode::IoError,
        format!("cannot write \"{}\": file name too long", disk.shown(&long)),
    );
    assert_eq!(disk.tree(), [name]);
}

#[tokio::test]
async fn a_large_text_is_written_whole() {
    let disk = Disk::new();
    let text = "0123456789abcde\n".repeat(200_000);
    disk.write("a", &text).await.unwrap();
    disk.write("a", &text).await.unwrap();
    assert!(disk.text("a") == text);
}
