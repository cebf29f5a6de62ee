#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]
#![expect(clippy::disallowed_methods, reason = "tests prepare files")]

use std::fs::{self, File};
use std::os::fd::AsFd;

use dsh_fs::{FsCall, FsOp};
use tempfile::tempdir;

use super::*;

#[test]
fn who_has_a_file_open_for_writing_is_noticed_and_waited_for() {
    let root = tempdir().unwrap();
    let path = root.path().join("f");
    fs::write(&path, "x").unwrap();
    let (file, work) = (File::open(&path).unwrap(), Work::new(FsOp::Edit, "/f", &FsCall::new()));
    let _reader = File::open(&path).unwrap();
    assert!(!is_open_for_writing(file.as_fd()));
    assert!(!Writers::new().wait(file.as_fd(), &work).unwrap());

    let writer = File::options().write(true).open(&path).unwrap();
    assert!(is_open_for_writing(file.as_fd()));
    let mut writers = Writers::new();
    let start = Instant::now();
    assert!(writers.wait(file.as_fd(), &work).unwrap());
    assert!(writers.left.is_zero() && start.elapsed() >= Duration::from_millis(40));
    // All in all: not again.
    assert!(!writers.wait(file.as_fd(), &work).unwrap());

    let closing = std::thread::spawn(move || {
        sleep(Duration::from_millis(5));
        drop(writer);
    });
    assert!(Writers::new().wait(file.as_fd(), &work).unwrap());
    closing.join().unwrap();
    assert!(!is_open_for_writing(file.as_fd()));
}

#[test]
fn the_lease_is_gone_when_it_was_asked_for() {
    let root = tempdir().unwrap();
    let path = root.path().join("f");
    fs::write(&path, "x").unwrap();
    let file = File::open(&path).unwrap();
    for _ in 0..100 {
        assert!(!is_open_for_writing(file.as_fd()));
        // It would wait for the lease to be given back.
        assert!(File::options().write(true).open(&path).is_ok());
    }
}

#[test]
fn waiting_for_a_writer_can_be_cancelled() {
    let root = tempdir().unwrap();
    let path = root.path().join("f");
    let writer = File::create(&path).unwrap();
    let call = FsCall::new();
    call.cancel.cancel();
    let work = Work::new(FsOp::Edit, "/f", &call);
    let file = File::open(&path).unwrap();
    assert!(Writers::new().wait(file.as_fd(), &work).is_err());
    drop(writer);
}
