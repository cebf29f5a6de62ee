//! `read_bytes`: any bytes, up to an inclusive limit.

use dsh_fs::FsErrorCode::{NotFound, NotRegularFile, StaleVersion, TooLarge};

use crate::{Case, refused};

/// Bytes come back as they are, text or not.
pub async fn bytes_come_back_as_they_are(case: &Case) {
    let all: Vec<u8> = (0..=255).collect();
    for bytes in [&b""[..], b"\0", b"\xEF\xBB\xBFtext\r\n", b"\xff\xfe\x00", &all] {
        let target = case.file("a.bin", bytes).await;
        assert_eq!(case.fs.read_bytes(&target, 1000, &case.call).await.unwrap().bytes, bytes);
    }
}

/// A file of exactly the limit is read, one byte more is refused and not cut.
pub async fn the_limit_is_inclusive(case: &Case) {
    let target = case.file("a.bin", b"12345").await;
    assert_eq!(case.fs.read_bytes(&target, 5, &case.call).await.unwrap().bytes, b"12345");
    refused(case.fs.read_bytes(&target, 4, &case.call).await, TooLarge);
    refused(case.fs.read_bytes(&target, 0, &case.call).await, TooLarge);
    let empty = case.file("empty", b"").await;
    assert_eq!(case.fs.read_bytes(&empty, 0, &case.call).await.unwrap().bytes, b"");
}

/// The limit may be as large as a number can be.
pub async fn the_limit_may_be_huge(case: &Case) {
    let target = case.file("a.bin", b"12345").await;
    for max in [u64::MAX, u64::MAX - 1, i64::MAX.unsigned_abs(), 1 << 40] {
        assert_eq!(case.fs.read_bytes(&target, max, &case.call).await.unwrap().bytes, b"12345", "{max}");
    }
}

/// A large file comes back whole.
pub async fn a_large_file_comes_back_whole(case: &Case) {
    let bytes: Vec<u8> = (0..1_000_003_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    let target = case.file("a.bin", &bytes).await;
    let read = case.fs.read_bytes(&target, bytes.len() as u64, &case.call).await.unwrap();
    assert!(read.bytes == bytes, "the bytes differ");
}

/// The version is that of the bytes that were read.
pub async fn the_version_is_that_of_the_bytes(case: &Case) {
    let target = case.file("a.bin", b"\0one").await;
    let version = case.fs.read_bytes(&target, 100, &case.call).await.unwrap().version;
    case.put("a.bin", b"\0two").await;
    refused(case.replace(&target, "three", &version).await, StaleVersion);
    let version = case.fs.read_bytes(&target, 100, &case.call).await.unwrap().version;
    case.replace(&target, "three", &version).await.unwrap();
    case.holds("a.bin", "three").await;
}

/// What is absent or a folder has no bytes.
pub async fn only_files_have_bytes(case: &Case) {
    case.put("d/a.bin", b"x").await;
    refused(case.fs.read_bytes(&case.target("new").await, 100, &case.call).await, NotFound);
    refused(case.fs.read_bytes(&case.target("d").await, 100, &case.call).await, NotRegularFile);
}

/// A FIFO, socket or device is refused without waiting for it.
pub async fn special_files_have_no_bytes(case: &Case) {
    case.able(case.ground.special("special").await);
    refused(case.fs.read_bytes(&case.target("special").await, 100, &case.call).await, NotRegularFile);
}
