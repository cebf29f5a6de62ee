use dsh_fs::literal_edit::{Change, LiteralEdit};
use dsh_fs::{FileSystem, FsCall, FsErrorCode};

use crate::disk::{Disk, refused};

#[tokio::test]
async fn one_match_is_replaced_and_every_other_byte_stays() {
    let disk = Disk::new();
    disk.put("a.txt", "\u{FEFF}one\r\ntwo\rthree\nfour");
    let outcome = disk.edit("a.txt", "two", "2\n2").await.unwrap();
    // One line ending of each kind: a tie, so a new one is `\n`.
    assert_eq!(disk.text("a.txt"), "\u{FEFF}one\r\n2\n2\rthree\nfour");
    assert_eq!(outcome.texts.before, "one\ntwo\rthree\nfour");
    assert_eq!(outcome.texts.after, "one\n2\n2\rthree\nfour");
    assert_eq!(outcome.texts.changes, [Change { before: 4..7, after: 4..7 }]);
    assert!(outcome.durable);
    assert_eq!(disk.tree(), ["a.txt"]);
}

#[tokio::test]
async fn all_matches_are_replaced_when_asked() {
    let disk = Disk::new();
    disk.put("a", "x y x\r\n");
    let edit = LiteralEdit::new("x", "$&z", true).unwrap();
    disk.fs.edit_text(&disk.target("a").await, &edit, None, &FsCall::new()).await.unwrap();
    assert_eq!(disk.text("a"), "$&z y $&z\r\n");
}

#[tokio::test]
async fn no_match_and_many_matches_change_nothing() {
    let disk = Disk::new();
    disk.put("a", "x y x");
    refused(
        disk.edit("a", "z", "w").await,
        FsErrorCode::EditNotFound,
        format!("old_string was not found in \"{}\"", disk.shown("a")),
    );
    refused(
        disk.edit("a", "x", "w").await,
        FsErrorCode::AmbiguousEdit,
        format!(
            "old_string matched 2 times in \"{}\"; provide a more specific old_string or set replace_all to true",
            disk.shown("a")
        ),
    );
    assert_eq!((disk.text("a"), disk.tree()), ("x y x".into(), vec!["a".into()]));
}

#[tokio::test]
async fn a_file_that_is_absent_is_stale_guarded_or_not_and_no_folder_is_made() {
    let disk = Disk::new();
    disk.put("a", "x");
    let version = disk.version("a").await;
    std::fs::remove_file(disk.at("a")).unwrap();
    for path in ["a", "no/such/folder"] {
        let message = format!("cannot edit \"{}\": file changed since it was read", disk.shown(path));
        refused(disk.edit(path, "x", "y").await, FsErrorCode::StaleVersion, &message);
        refused(disk.edit_if(path, "x", "y", Some(&version)).await, FsErrorCode::StaleVersion, &message);
    }
    assert!(disk.tree().is_empty());
}

#[tokio::test]
async fn stale_is_said_before_anything_about_the_text() {
    let disk = Disk::new();
    disk.put("a", "x x");
    let version = disk.version("a").await;
    for bytes in [&b"x y x"[..], b"nothing", b"\0binary"] {
        disk.put("a", bytes);
        refused(
            disk.edit_if("a", "x", "y", Some(&version)).await,
            FsErrorCode::StaleVersion,
            format!("cannot edit \"{}\": file changed since it was read", disk.shown("a")),
        );
    }
}

#[tokio::test]
async fn what_is_not_text_is_not_edited() {
    let disk = Disk::new();
    let late = [&[b'a'; 9000][..], b"\xFF"].concat();
    for (bytes, why) in
        [(&b"a\0b"[..], "binary file"), (b"a\xFF", "invalid UTF-8 text"), (&late, "invalid UTF-8 text")]
    {
        disk.put("a", bytes);
        refused(
            disk.edit("a", "a", "b").await,
            FsErrorCode::NotText,
            format!("cannot edit \"{}\": {why}", disk.shown("a")),
        );
        assert!(disk.bytes("a") == bytes);
    }
    // A NUL beyond the first 8192 bytes is a character like any other, as it is for a read.
    disk.put("a", [&[b'a'; 8192][..], b"\0end"].concat());
    disk.edit("a", "end", "END").await.unwrap();
    assert!(disk.text("a").ends_with("\0END"));
}

#[tokio::test]
async fn an_edit_goes_through_links() {
    let disk = Disk::new();
    disk.put("real", "one").link("l", "real");
    let version = disk.version("l").await;
    disk.edit_if("real", "one", "two", Some(&version)).await.unwrap();
    disk.edit("l", "two", "three").await.unwrap();
    assert_eq!((disk.text("real"), disk.tree()), ("three".into(), vec!["l".into(), "real".into()]));
}

#[tokio::test]
async fn a_large_file_is_edited_whatever_the_size_of_the_blocks() {
    for block in [1000, 1 << 20] {
        let disk = Disk::new().block_size(block);
        let text = "line of text\r\n".repeat(200_000) + "needle";
        disk.put("a", &text);
        let outcome = disk.edit("a", "needle", "pin").await.unwrap();
        assert!(disk.text("a") == text.replace("needle", "pin"));
        assert!(disk.edit_if("a", "pin", "x", Some(&outcome.version)).await.is_ok());
    }
}
