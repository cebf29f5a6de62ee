//! `write_text`: creating and replacing whole files. (Guards: `guards`.)

use dsh_fs::FsErrorCode::{NotRegularFile, SandboxDenied};
use dsh_fs::{CallPolicy, FsCall, SandboxMode, WriteGuard, WriteOperation};

use crate::case::edit;

use super::read_text::{NOT_TEXT, TEXTS, large_text};
use crate::{Case, refused};

/// A new file holds what was written, byte for byte.
pub async fn a_new_file_is_written_as_given(case: &Case) {
    for (n, text) in TEXTS.iter().copied().chain(["\u{feff}marked\r\n", "$& $1 \\n ${x}"]).enumerate() {
        let name = format!("{n}.txt");
        let target = case.target(&name).await;
        let outcome = case.write(&target, text).await.unwrap();
        assert_eq!(outcome.operation, WriteOperation::Create, "{name}");
        assert_eq!(outcome.before, None, "{name}");
        assert_eq!(*outcome.after, text.replace("\r\n", "\n"), "{name}");
        case.holds(&name, text).await;
    }
}

/// A replaced file holds what was written; the outcome shows both texts with `\n`.
pub async fn a_replaced_file_shows_before_and_after(case: &Case) {
    let target = case.file("a.txt", "one\r\nand\nmixed\r").await;
    let outcome = case.write(&target, "two\r\n\rthree\n").await.unwrap();
    assert_eq!(outcome.operation, WriteOperation::Update);
    assert_eq!(outcome.before.as_deref(), Some("one\nand\nmixed\r"));
    assert_eq!(*outcome.after, *"two\n\rthree\n");
    case.holds("a.txt", "two\r\n\rthree\n").await;
    let outcome = case.write(&target, "").await.unwrap();
    assert_eq!((outcome.operation, &*outcome.after), (WriteOperation::Update, ""));
    case.holds("a.txt", "").await;
    let outcome = case.write(&target, "again").await.unwrap();
    assert_eq!(outcome.before.as_deref(), Some(""), "an empty file is a text");
}

/// Where the old bytes were not text there is no `before`, and they have no dress.
pub async fn what_was_not_text_is_replaced_without_before(case: &Case) {
    for (what, bytes) in NOT_TEXT {
        let target = case.file("a.bin", bytes).await;
        let outcome = case.write(&target, "text\n").await.unwrap();
        assert_eq!((outcome.operation, outcome.before), (WriteOperation::Update, None), "{what}");
        case.holds("a.bin", "text\n").await;
    }
}

/// The byte order mark of a file stays, and there are never two.
pub async fn the_byte_order_mark_stays(case: &Case) {
    for (old, new, bytes) in [
        ("\u{feff}old\n", "new\n", "\u{feff}new\n"),
        ("\u{feff}old\n", "\u{feff}new\n", "\u{feff}new\n"),
        ("\u{feff}", "", "\u{feff}"),
        ("\u{feff}old", "\r\n", "\u{feff}\r\n"),
        ("old\n", "\u{feff}new\n", "\u{feff}new\n"),
    ] {
        let target = case.file("a.txt", old).await;
        case.write(&target, new).await.unwrap();
        case.holds("a.txt", bytes).await;
    }
}

/// Where every line ending was `\r\n` and the new text has only `\n`, the file keeps its endings; else it is written
/// as given.
pub async fn uniform_crlf_stays(case: &Case) {
    for (old, new, bytes) in [
        ("a\r\n", "x\ny\n", "x\r\ny\r\n"),
        ("a\r\nb", "x\n\n", "x\r\n\r\n"),
        ("\u{feff}a\r\n", "x\n", "\u{feff}x\r\n"),
        ("a\rb\r\n", "x\n", "x\r\n"),
        ("a\r\n", "x\r\ny\n", "x\r\ny\n"),
        ("a\r\n", "x\ry\n", "x\ry\n"),
        ("a\r\n", "x", "x"),
        ("a\r\nb\n", "x\n", "x\n"),
        ("a\n", "x\r\n", "x\r\n"),
        ("a", "x\n", "x\n"),
        ("a\r", "x\n", "x\n"),
        ("", "x\n", "x\n"),
    ] {
        let target = case.file("a.txt", old).await;
        let outcome = case.write(&target, new).await.unwrap();
        case.holds("a.txt", bytes).await;
        assert_eq!(*outcome.after, new.replace("\r\n", "\n"), "after {old:?} was replaced by {new:?}");
    }
}

/// Missing folders above a new file are made.
pub async fn folders_are_made_for_new_files(case: &Case) {
    let target = case.target("no/such/folder/a.txt").await;
    case.create(&target, "x").await.unwrap();
    case.holds("no/such/folder/a.txt", "x").await;
    assert_eq!(case.names("no/such").await, ["folder"]);
}

/// A write that was refused leaves no folder behind.
pub async fn a_refused_write_makes_no_folders(case: &Case) {
    case.put("here.txt", "x").await;
    let version = case.read(&case.target("here.txt").await).await.version;
    let target = case.target("no/such/folder/a.txt").await;
    case.replace(&target, "x", &version).await.unwrap_err();
    case.edit(&target, "x", "y").await.unwrap_err();
    assert_eq!(case.names(".").await, ["here.txt"]);
}

/// A file below what has become a file is not written, and that file is not touched.
pub async fn nothing_is_written_below_a_file(case: &Case) {
    let target = case.target("d/a.txt").await;
    case.put("d", "a file now").await;
    case.write(&target, "x").await.unwrap_err();
    case.create(&target, "x").await.unwrap_err();
    case.holds("d", "a file now").await;
    assert_eq!(case.names(".").await, ["d"]);
}

/// A folder is not written to, whatever the guard.
pub async fn a_folder_is_not_written_to(case: &Case) {
    case.put("d/a.txt", "x").await;
    let version = case.read(&case.target("d/a.txt").await).await.version;
    let folder = case.target("d").await;
    for guard in [None, Some(WriteGuard::CreateIfAbsent), Some(WriteGuard::ReplaceIfVersion(version))] {
        refused(case.fs.write_text(&folder, "x", guard.as_ref(), &case.call).await, NotRegularFile);
    }
    case.holds("d/a.txt", "x").await;
}

/// A FIFO, socket or device is not written to, whatever the guard, and not waited for.
pub async fn a_special_file_is_not_written_to(case: &Case) {
    case.able(case.ground.special("special").await);
    let target = case.target("special").await;
    for guard in [None, Some(WriteGuard::CreateIfAbsent)] {
        refused(case.fs.write_text(&target, "x", guard.as_ref(), &case.call).await, NotRegularFile);
    }
    assert_eq!(case.names(".").await, ["special"]);
}

/// A large text is written whole.
pub async fn a_large_text_is_written_whole(case: &Case) {
    let text = large_text();
    let target = case.target("a.txt").await;
    case.write(&target, &text).await.unwrap();
    assert!(case.ground.bytes("a.txt").await.unwrap() == text.as_bytes(), "the bytes differ");
}

/// A write through a link changes the file behind it; the link stays.
pub async fn links_stay_links(case: &Case) {
    case.put("d/a.txt", "one").await;
    case.able(case.ground.link("link", "d/a.txt").await);
    let outcome = case.write(&case.target("link").await, "two").await.unwrap();
    assert_eq!(outcome.before.as_deref(), Some("one"));
    case.holds("d/a.txt", "two").await;
    assert_eq!(case.ground.is_link("link").await, Ok(true));
}

/// A write to a dangling link creates its destination; the link stays.
pub async fn a_dangling_link_creates_its_destination(case: &Case) {
    for (link, to) in [("one", "new.txt"), ("two", "no/such/folder/new.txt")] {
        case.able(case.ground.link(link, to).await);
        let outcome = case.create(&case.target(link).await, "x").await.unwrap();
        assert_eq!(outcome.operation, WriteOperation::Create);
        case.holds(to, "x").await;
        assert_eq!(case.ground.is_link(link).await, Ok(true));
    }
}

/// A backend that names no mode ignores the policy of a call; one that has a fence keeps to it.
pub async fn the_policy_of_a_call_binds_those_with_a_fence(case: &Case) {
    let target = case.file("a.txt", "one").await;
    let policy = CallPolicy { mode: SandboxMode::ReadOnly, workspace_root: case.cwd() };
    let call = FsCall { policy: Some(policy), ..FsCall::new() };
    let edited = case.fs.edit_text(&target, &edit("one", "two"), None, &call).await.map(drop);
    let written = case.fs.write_text(&target, "three", None, &call).await.map(drop);
    if case.fs.sandbox_mode().is_none() {
        edited.unwrap();
        written.unwrap();
        case.holds("a.txt", "three").await;
    } else {
        refused(edited, SandboxDenied);
        refused(written, SandboxDenied);
        case.holds("a.txt", "one").await;
    }
}
