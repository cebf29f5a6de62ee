#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::fd::AsFd;

use dsh_fs::{FsCall, FsErrorCode, FsOp};
use tempfile::NamedTempFile;

use super::*;

fn work(call: &FsCall) -> Work {
    Work::new(FsOp::Edit, "f", call)
}

fn bytes(from: u8, length: usize) -> Vec<u8> {
    (0..251_u8).cycle().map(|n| n.wrapping_add(from)).take(length).collect()
}

/// What stands in a file that held `old` (a clone of it, or nothing) after parts were put over it.
fn put(old: &[u8], parts: &[(Vec<u8>, bool)]) -> Vec<u8> {
    let file = NamedTempFile::new().unwrap();
    fs::write(&file, old).unwrap();
    let given = parts.iter().map(|(bytes, in_place)| Part { bytes, in_place: *in_place });
    let digest = put_over(given, file.as_file().as_fd(), !old.is_empty(), &work(&FsCall::new())).unwrap();
    let there = fs::read(&file).unwrap();
    assert_eq!(digest, Digest::of(&there), "the digest is that of the very bytes");
    there
}

#[test]
fn parts_of_any_size_stand_one_behind_the_other() {
    let sizes = [0, 1, BLOCK - 1, 1, BLOCK, 7, BLOCK + 1, 0, 3 * BLOCK, 5, BLOCK / 2, BLOCK / 2, BLOCK / 2];
    let parts: Vec<_> = (0..).zip(sizes).map(|(n, size)| (bytes(n, size), false)).collect();
    let all: Vec<u8> = parts.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
    assert!(put(b"", &parts) == all);
    assert_eq!(put(b"", &[]), b"");
}

#[test]
fn over_a_clone_what_is_in_place_is_left_out() {
    // It is not written at all: what the file holds there stays, be it something else.
    let clone = vec![b'o'; 200_000];
    let same = |length| (bytes(0, length), true);
    let file = NamedTempFile::new().unwrap();
    fs::write(&file, &clone).unwrap();
    let parts = [same(100_000), (b"new".to_vec(), false), same(50)];
    let given = parts.iter().map(|(bytes, in_place)| Part { bytes, in_place: *in_place });
    put_over(given, file.as_file().as_fd(), true, &work(&FsCall::new())).unwrap();
    let there = fs::read(&file).unwrap();
    assert!(there[..100_000] == clone[..100_000], "left out");
    assert_eq!(&there[100_000..100_003], b"new");
    assert!(
        there[100_003..] == bytes(0, 50),
        "few bytes in place are written again, and nothing stands behind the end"
    );
}

#[test]
fn over_a_clone_the_new_file_may_be_shorter_longer_or_as_long() {
    let old = bytes(0, 400_000);
    for new in [&b"x"[..], b"", b"as long as what it replaces", &[b'y'; 5000]] {
        let (head, tail) = (&old[..200_000], &old[200_027..]);
        let in_place = new.len() == 27;
        let parts = [(head.to_vec(), true), (new.to_vec(), false), (tail.to_vec(), in_place)];
        assert!(put(&old, &parts) == [head, new, tail].concat());
    }
}

#[test]
fn ten_thousand_small_changes_are_few_calls() {
    let parts: Vec<_> =
        (0..10_000).flat_map(|_| [(b"kept ".to_vec(), true), (b"new ".to_vec(), false)]).collect();
    assert!(put(&b"o".repeat(90_000), &parts) == b"kept new ".repeat(10_000));
}

#[test]
fn cancelling_stops_between_two_blocks() {
    let file = NamedTempFile::new().unwrap();
    let call = FsCall::new();
    let (first, second) = (vec![b'a'; BLOCK], vec![b'b'; BLOCK]);
    let parts = [&first, &second].into_iter().inspect(|bytes| {
        if bytes[0] == b'b' {
            call.cancel.cancel();
        }
    });
    let parts = parts.map(|bytes| Part { bytes, in_place: false });
    let stopped = put_over(parts, file.as_file().as_fd(), false, &work(&call)).unwrap_err();
    assert_eq!(stopped.code(), FsErrorCode::Aborted);
    assert_eq!(fs::metadata(&file).unwrap().len(), BLOCK as u64);
}
