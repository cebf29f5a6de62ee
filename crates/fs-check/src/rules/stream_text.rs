//! `stream_text`: the same text as a whole read, in pieces, from the start or from a resume point.

use dsh_fs::FsErrorCode::{NotFound, NotRegularFile, NotText, StaleVersion};
use dsh_fs::{FsVersion, ResumePoint, TextChunk, TextStream};

use super::read_text::{NOT_TEXT, TEXTS, large_text};
use crate::{Case, refused};

/// The pieces, joined, are the text of a whole read.
pub async fn a_stream_equals_a_read(case: &Case) {
    for text in TEXTS.iter().copied().chain(["\u{feff}", "\u{feff}a\r\n", "\u{feff}\u{feff}b"]) {
        let target = case.file("a.txt", text).await;
        assert_eq!(case.stream(&target).await.unwrap().text, case.read(&target).await.text);
    }
}

/// A large text streams whole, characters across every block boundary.
pub async fn a_large_stream_equals_a_read(case: &Case) {
    let text = large_text();
    let target = case.file("a.txt", format!("\u{feff}{text}")).await;
    assert!(case.stream(&target).await.unwrap().text == text, "the text differs");
}

/// A stream refuses what a read refuses, and says what it met.
pub async fn a_stream_refuses_what_is_not_text(case: &Case) {
    for (what, bytes) in NOT_TEXT {
        let target = case.file("a.bin", bytes).await;
        let met = refused(case.stream(&target).await, NotText).met().cloned();
        let met = met.unwrap_or_else(|| panic!("{what}: the error carries no version"));
        case.replace(&target, "text", &met).await.unwrap_or_else(|error| panic!("{what}: {error}"));
    }
}

/// Bytes that are not text are found at the very end of a large file too.
pub async fn a_stream_refuses_a_late_fault(case: &Case) {
    let mut bytes = large_text().into_bytes();
    bytes.push(0xE2);
    let target = case.file("a.txt", &bytes).await;
    refused(case.stream(&target).await, NotText);
}

/// The NUL rule of a stream is that of a read.
pub async fn a_stream_allows_a_late_nul(case: &Case) {
    let mut bytes = vec![b'a'; 20_000];
    bytes[8192] = 0;
    let target = case.file("a.txt", &bytes).await;
    assert_eq!(case.stream(&target).await.unwrap().text.into_bytes(), bytes);
    bytes[8191] = 0;
    case.put("a.txt", &bytes).await;
    refused(case.stream(&target).await, NotText);
}

/// What is absent, a folder or a special file does not stream.
pub async fn only_files_stream(case: &Case) {
    case.put("d/a.txt", "x").await;
    refused(case.stream(&case.target("new.txt").await).await, NotFound);
    refused(case.stream(&case.target("d").await).await, NotRegularFile);
}

/// A FIFO, socket or device does not stream, and is not waited for.
pub async fn special_files_do_not_stream(case: &Case) {
    case.able(case.ground.special("special").await);
    refused(case.stream(&case.target("special").await).await, NotRegularFile);
}

/// The version at the end of a stream is that of what was streamed.
pub async fn the_end_knows_the_version(case: &Case) {
    let target = case.file("a.txt", "one\n").await;
    let version = case.stream(&target).await.unwrap().version;
    case.replace(&target, "two\n", &version).await.unwrap();
    refused(case.replace(&target, "three\n", &version).await, StaleVersion);
}

/// Each chunk says where in the file it stands; a byte order mark is no text but has its place.
pub async fn chunks_say_where_they_stand(case: &Case) {
    for (bytes, first) in [(large_text(), 0), (format!("\u{feff}{}", large_text()), 3)] {
        let target = case.file("a.txt", &bytes).await;
        let TextStream::Open(mut chunks) = case.fs.stream_text(&target, None, &case.call).await.unwrap()
        else {
            panic!("a stream from the start must not answer Changed")
        };
        let mut next = first;
        while let TextChunk::Text { at, text } = chunks.next().await.unwrap() {
            assert_eq!(at, next as u64);
            assert!(bytes[next..].starts_with(text), "another text stands at byte {at}");
            next += text.len();
        }
        assert_eq!(next, bytes.len());
    }
}

/// A stream can be dropped half-way; the file is as usable as before.
pub async fn a_stream_can_be_dropped(case: &Case) {
    let target = case.file("a.txt", large_text()).await;
    for _ in 0..3 {
        let stream = case.fs.stream_text(&target, None, &case.call).await.unwrap();
        if let TextStream::Open(mut chunks) = stream {
            chunks.next().await.unwrap();
        }
    }
    case.write(&target, "new").await.unwrap();
    assert_eq!(case.read(&target).await.text, "new");
}

/// From every line of an unchanged file: the rest of the text and the version of the resume point, or `Changed`.
pub async fn a_resumed_stream_is_right_or_changed(case: &Case) {
    let texts = ["one\ntwo\r\n\u{e9}\nlast", "\u{feff}one\ntwo\n", "\u{feff}\u{feff}\na", "\r\n\r\n"];
    for (n, text) in texts.iter().enumerate() {
        case.put(&format!("{n}.txt"), text).await;
    }
    case.ground.settle().await;
    for (n, text) in texts.iter().enumerate() {
        let target = case.target(&format!("{n}.txt")).await;
        let version = case.stream(&target).await.unwrap().version;
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        for start in std::iter::once(0).chain(starts) {
            let from = ResumePoint { offset: start as u64, version: version.clone() };
            let Some(rest) = case.resume(&target, &from).await.unwrap() else { continue };
            let expected =
                if start == 0 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { &text[start..] };
            assert_eq!(rest.text, expected, "from byte {start} of {text:?}");
            assert_eq!(rest.version, version, "from byte {start} of {text:?}");
        }
    }
}

/// A changed file is never streamed on as if it were the old one.
pub async fn a_changed_file_does_not_resume(case: &Case) {
    let target = case.file("a.txt", "one\ntwo\n").await;
    case.ground.settle().await;
    let version = case.stream(&target).await.unwrap().version;
    case.put("a.txt", "one\nTWO\nthree\n").await;
    let from = ResumePoint { offset: 4, version };
    assert_eq!(case.resume(&target, &from).await.unwrap(), None);
}

/// A file that has gone does not resume: `Changed`, or not found.
pub async fn a_missing_file_does_not_resume(case: &Case) {
    let target = case.file("a.txt", "one\ntwo\n").await;
    let from = ResumePoint { offset: 4, version: case.stream(&target).await.unwrap().version };
    case.ground.remove("a.txt").await;
    match case.resume(&target, &from).await {
        Ok(rest) => assert_eq!(rest, None),
        Err(error) => assert_eq!(error.code(), NotFound, "{error}"),
    }
}

/// A token that this backend did not make for this file proves nothing.
pub async fn a_strange_token_does_not_resume(case: &Case) {
    let target = case.file("a.txt", "one\ntwo\n").await;
    let other = case.file("b.txt", "other\nfile\n").await;
    for version in [FsVersion::new("strange"), FsVersion::new(""), case.stream(&other).await.unwrap().version]
    {
        let from = ResumePoint { offset: 4, version };
        assert_eq!(case.resume(&target, &from).await.unwrap(), None, "{from:?}");
    }
}
