use std::fs::{File, OpenOptions, set_permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use dsh_fs::{FileSystem, FsCall, FsErrorCode, FsVersion, ResumePoint, TextChunk, TextStream};

use crate::disk::{Disk, drain, refused};

/// Long enough that any later change shows in the file's identity.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(2100)).await;
}

async fn resume(disk: &Disk, path: &str, offset: u64, version: &FsVersion) -> TextStream {
    let from = ResumePoint { offset, version: version.clone() };
    disk.fs.stream_text(&disk.target(path).await, Some(&from), &FsCall::new()).await.unwrap()
}

async fn is_changed(disk: &Disk, path: &str, offset: u64, version: &FsVersion) -> bool {
    matches!(resume(disk, path, offset, version).await, TextStream::Changed)
}

#[tokio::test]
async fn a_stream_goes_on_where_a_line_begins() {
    let disk = Disk::new().block_size(1000);
    let text = (0..5000).map(|n| format!("line {n} \u{65e5}\u{672c}\r\n")).collect::<Vec<_>>().concat();
    disk.put("a", format!("\u{feff}{text}"));
    settle().await;
    let (all, version) = disk.stream("a").await.unwrap();
    assert_eq!(all, text);
    assert_eq!(drain(resume(&disk, "a", 0, &version).await).await.unwrap(), (text.clone(), version.clone()));
    for line in [1, 2, 100, 2500, 4999] {
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut chunks = match resume(&disk, "a", start as u64 + 3, &version).await {
            TextStream::Open(chunks) => chunks,
            TextStream::Changed => panic!("the file was left alone for two seconds"),
        };
        let mut at = start;
        loop {
            match chunks.next().await.unwrap() {
                TextChunk::Text { at: told, text: piece } => {
                    assert_eq!(told, at as u64 + 3);
                    assert_eq!(&text[at..at + piece.len()], piece);
                    at += piece.len();
                }
                TextChunk::End(told) => {
                    assert_eq!((at, &told), (text.len(), &version));
                    break;
                }
            }
        }
    }
    assert_eq!(drain(resume(&disk, "a", text.len() as u64 + 3, &version).await).await.unwrap().0, "");
}

#[tokio::test]
async fn only_a_line_of_the_very_file_is_gone_on_from() {
    let disk = Disk::new();
    disk.put("a", "one\ntwo\nthree\n").put("b", "one\ntwo\nthree\n");
    let young = disk.stream("a").await.unwrap().1;
    settle().await;
    let version = disk.stream("a").await.unwrap().1;
    assert!(!is_changed(&disk, "a", 4, &version).await);
    assert!(
        is_changed(&disk, "a", 4, &young).await,
        "the file was too young for its identity to prove anything"
    );
    for offset in [1, 3, 5, 15, 1000, u64::MAX] {
        assert!(is_changed(&disk, "a", offset, &version).await, "no line begins at byte {offset}");
    }
    assert!(is_changed(&disk, "b", 4, &version).await, "another file with the same bytes");
    assert!(is_changed(&disk, "a", 4, &FsVersion::new("strange")).await);

    let file = File::options().write(true).open(disk.at("a")).unwrap();
    let metadata = file.metadata().unwrap();
    (&file).write_all(b"ONE").unwrap();
    file.set_modified(metadata.modified().unwrap()).unwrap();
    assert!(
        is_changed(&disk, "a", 4, &version).await,
        "nobody can set the time of the last change of status"
    );
}

#[tokio::test]
async fn a_mere_change_of_mode_is_reason_enough_to_start_over() {
    let disk = Disk::new();
    disk.put("a", "one\ntwo\n");
    settle().await;
    let version = disk.stream("a").await.unwrap().1;
    set_permissions(disk.at("a"), PermissionsExt::from_mode(0o600)).unwrap();
    assert!(is_changed(&disk, "a", 4, &version).await);
}

#[tokio::test]
async fn a_file_that_is_written_to_under_a_resumed_stream_fails_it() {
    let disk = Disk::new().block_size(1000);
    disk.put("a", "0123456\n".repeat(100_000));
    settle().await;
    let version = disk.stream("a").await.unwrap().1;
    let stream = resume(&disk, "a", 8, &version).await;
    OpenOptions::new().append(true).open(disk.at("a")).unwrap().write_all(b"more\n").unwrap();
    let message = format!("cannot read \"{}\": file changed since it was read", disk.shown("a"));
    refused(drain(stream).await, FsErrorCode::StaleVersion, message);
}
