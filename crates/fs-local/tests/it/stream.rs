use dsh_fs::{FileSystem, FsCall, FsErrorCode, TextChunk, TextStream};

use crate::disk::{Disk, drain, refused};

/// A text in which characters of one to four bytes stand at every offset.
fn mixed(characters: usize) -> String {
    ['a', 'ü', '漢', '🦀', '\n', '\r'].iter().cycle().take(characters).collect()
}

#[tokio::test]
async fn a_stream_is_the_text_of_a_read_whatever_the_size_of_the_blocks() {
    for block in [1, 2, 3, 4, 5, 7, 64, 4096, 8191, 8192, 8193, 1 << 20] {
        let disk = Disk::new().block_size(block);
        for characters in [0, 1, 5, 100, 3640, 3641, 3642, 3700] {
            let text = mixed(characters);
            disk.put("a.txt", &text);
            let (streamed, version) = disk.stream("a.txt").await.unwrap();
            let read = disk.read("a.txt").await.unwrap();
            assert!(streamed == text && read.text == text, "{block} {characters}");
            assert!(disk.edit_if("a.txt", "a", "a!", Some(&version)).await.is_err() || characters < 7);
        }
    }
}

#[tokio::test]
async fn every_cut_of_a_character_is_joined() {
    // The first block is 8192 bytes; what follows is cut at every place of a four-byte character.
    for shift in 0..5 {
        let disk = Disk::new().block_size(3);
        let text = format!("{}{}", "x".repeat(8188 + shift), "🦀漢ü".repeat(20));
        disk.put("a.txt", &text);
        assert!(disk.stream("a.txt").await.unwrap().0 == text, "{shift}");
    }
}

#[tokio::test]
async fn the_end_carries_the_version_of_the_bytes() {
    let disk = Disk::new().block_size(1000);
    disk.put("a.txt", "x".repeat(20_000) + "end");
    let (_, version) = disk.stream("a.txt").await.unwrap();
    // The same digest as a whole read has.
    let digest = |token: &str| token.split(';').next().unwrap().to_owned();
    assert_eq!(digest(version.token()), digest(disk.version("a.txt").await.token()));
    assert!(disk.edit_if("a.txt", "end", "END", Some(&version)).await.is_ok());
    refused(
        disk.edit_if("a.txt", "END", "end", Some(&version)).await,
        FsErrorCode::StaleVersion,
        format!("cannot edit \"{}\": file changed since it was read", disk.shown("a.txt")),
    );
}

#[tokio::test]
async fn a_mark_at_the_start_is_not_text_and_one_further_on_is() {
    let disk = Disk::new().block_size(10);
    let text = format!("\u{FEFF}{}", "\u{FEFF}x".repeat(5000));
    disk.put("a.txt", &text).put("only", "\u{FEFF}");
    assert!(disk.stream("a.txt").await.unwrap().0 == text.strip_prefix('\u{FEFF}').unwrap());
    assert_eq!(disk.stream("only").await.unwrap().0, "");
}

#[tokio::test]
async fn a_stream_refuses_what_a_read_refuses() {
    let disk = Disk::new().block_size(1000);
    let mut late = vec![b'a'; 20_000];
    late[15_000] = 0xFF;
    disk.put("late", &late).put("cut", [&late[..12_000], b"\xE6\x97"].concat()).put("nul", b"a\0b");
    for (name, why) in [("late", "invalid UTF-8 text"), ("cut", "invalid UTF-8 text"), ("nul", "binary file")]
    {
        let message = format!("cannot read \"{}\": {why}", disk.shown(name));
        refused(disk.stream(name).await, FsErrorCode::NotText, &message);
        refused(disk.read(name).await, FsErrorCode::NotText, &message);
    }
}

#[tokio::test]
async fn the_text_before_a_bad_byte_still_comes() {
    let disk = Disk::new().block_size(1000);
    disk.put("a", [&[b'a'; 9500][..], b"\xFF"].concat());
    let call = FsCall::new();
    let TextStream::Open(mut chunks) =
        disk.fs.stream_text(&disk.target("a").await, None, &call).await.unwrap()
    else {
        panic!("no resume point was given")
    };
    assert_eq!(chunks.next().await.unwrap(), TextChunk::Text { at: 0, text: &"a".repeat(8192) });
    assert_eq!(chunks.next().await.unwrap(), TextChunk::Text { at: 8192, text: &"a".repeat(1000) });
    assert_eq!(chunks.next().await.unwrap_err().code(), FsErrorCode::NotText);
    assert_eq!(chunks.next().await.unwrap_err().code(), FsErrorCode::IoError, "and then it is over");
}

#[tokio::test]
async fn a_stream_asked_again_after_its_end_fails_and_does_not_hang() {
    let disk = Disk::new();
    disk.put("a", "x");
    let call = FsCall::new();
    let TextStream::Open(mut chunks) =
        disk.fs.stream_text(&disk.target("a").await, None, &call).await.unwrap()
    else {
        panic!("no resume point was given")
    };
    while !matches!(chunks.next().await.unwrap(), TextChunk::End(_)) {}
    refused(
        chunks.next().await.map(|_| ()),
        FsErrorCode::IoError,
        format!("cannot read \"{}\": the read is over", disk.shown("a")),
    );
}

#[tokio::test]
async fn a_stream_that_is_cancelled_stops_at_the_next_chunk() {
    let disk = Disk::new().block_size(8192);
    disk.put("a", "x".repeat(1 << 20));
    let call = FsCall::new();
    let TextStream::Open(mut chunks) =
        disk.fs.stream_text(&disk.target("a").await, None, &call).await.unwrap()
    else {
        panic!("no resume point was given")
    };
    chunks.next().await.unwrap();
    call.cancel.cancel();
    refused(chunks.next().await.map(|_| ()), FsErrorCode::Aborted, "read aborted");
}

#[test]
fn it_works_without_a_runtime() {
    // A one-off executor: polls until ready.
    fn run<F: Future>(future: F) -> F::Output {
        let mut future = std::pin::pin!(future);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        loop {
            if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut context) {
                return value;
            }
        }
    }
    let disk = Disk::new().block_size(100);
    let text = "x".repeat(10_000);
    run(async {
        disk.write("a", &text).await.unwrap();
        let stream = disk.fs.stream_text(&disk.target("a").await, None, &FsCall::new()).await.unwrap();
        assert!(drain(stream).await.unwrap().0 == text);
    });
}
