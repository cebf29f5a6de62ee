//! Large objects: what is not looked at is not sent.

use std::sync::Arc;

use dsh_fs::{FileSystem, FsCall, ResumePoint, TextChunk, TextStream};
use dsh_fs_object::object_store;
use object_store::ObjectStoreExt as _;

use crate::rig::{Rigged, key, over, target};

const LINE: &str = "a line of twenty-four b\n";

#[tokio::test]
async fn a_later_window_is_one_range() {
    let store = Arc::new(Rigged::default());
    store.objects.put(&key("a.txt"), LINE.repeat(1_000_000).into()).await.unwrap();
    let (fs, call) = (over(store.clone()), FsCall::new());
    let file = target(&fs, "/a.txt").await;
    let version = fs.stat(&file, &call).await.unwrap().unwrap().version;
    store.requests();
    let from = ResumePoint { offset: 700_000 * LINE.len() as u64, version: version.clone() };
    let TextStream::Open(mut chunks) = fs.stream_text(&file, Some(&from), &call).await.unwrap() else {
        panic!("the object has not changed")
    };
    let TextChunk::Text { at, text } = chunks.next().await.unwrap() else { panic!("there is more") };
    assert_eq!(at, from.offset);
    assert!(text.len() > 200_000 && text.starts_with(LINE));
    drop(chunks);
    assert_eq!(store.requests(), ["range /a.txt"]);
    assert_eq!(store.sent(), 256 * 1024);
}

#[tokio::test]
async fn a_resumed_stream_goes_on_to_the_end_in_growing_ranges() {
    let store = Arc::new(Rigged::default());
    let text = LINE.repeat(600_000);
    store.objects.put(&key("a.txt"), text.clone().into()).await.unwrap();
    let (fs, call) = (over(store.clone()), FsCall::new());
    let file = target(&fs, "/a.txt").await;
    let version = fs.stat(&file, &call).await.unwrap().unwrap().version;
    store.requests();
    for offset in [LINE.len(), text.len() - LINE.len(), text.len()] {
        let from = ResumePoint { offset: offset as u64, version: version.clone() };
        let TextStream::Open(mut chunks) = fs.stream_text(&file, Some(&from), &call).await.unwrap() else {
            panic!("the object has not changed")
        };
        let mut rest = String::new();
        loop {
            match chunks.next().await.unwrap() {
                TextChunk::Text { at, text } => {
                    assert_eq!(at, (offset + rest.len()) as u64);
                    rest.push_str(text);
                }
                TextChunk::End(end) => break assert_eq!(end, version),
            }
        }
        assert!(rest == text[offset..]);
    }
    // 0.25, 1, 4 and 8 MiB, and what is left; then one each.
    assert_eq!(store.requests(), ["range /a.txt"; 5 + 1 + 1]);
}

#[tokio::test]
async fn a_resume_point_beyond_the_end_is_answered_with_changed() {
    let store = Arc::new(Rigged::default());
    store.objects.put(&key("a.txt"), LINE.into()).await.unwrap();
    let (fs, call) = (over(store.clone()), FsCall::new());
    let file = target(&fs, "/a.txt").await;
    let version = fs.stat(&file, &call).await.unwrap().unwrap().version;
    let from = ResumePoint { offset: LINE.len() as u64 + 2, version };
    assert!(matches!(fs.stream_text(&file, Some(&from), &call).await, Ok(TextStream::Changed)));
}

#[tokio::test]
async fn bytes_beyond_a_limit_are_not_taken() {
    let store = Arc::new(Rigged::default());
    store.objects.put(&key("a.txt"), LINE.repeat(1_000_000).into()).await.unwrap();
    let (fs, call) = (over(store.clone()), FsCall::new());
    let file = target(&fs, "/a.txt").await;
    let error = fs.read_bytes(&file, 100, &call).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot read \"/a.txt\": 24000000 bytes exceeds the 100-byte limit");
}
