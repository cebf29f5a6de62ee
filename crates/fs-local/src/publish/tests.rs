//! The way of file systems that cannot make a file without a name.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]
#![expect(clippy::disallowed_methods, reason = "tests look at the disk from outside")]

use std::fs;
use std::os::unix::fs::MetadataExt;

use dsh_fs::leftovers::is_stage_name;
use dsh_fs::{FsCall, FsOp, TargetKey};
use rustix::fs::fstat;
use tempfile::{TempDir, tempdir};

use super::*;
use crate::content::Part;
use crate::create::rename_to_new;

fn work() -> Work {
    Work::new(FsOp::Write, "/shown", &FsCall::new())
}

fn folder(root: &TempDir) -> Folder {
    let path = root.path().join("a");
    let target = FsTarget::new(TargetKey::new(path.as_os_str().as_encoded_bytes()), "/shown");
    Place::find(&target, &work()).unwrap().make(&work()).unwrap().unwrap()
}

fn manner(without: Fallbacks) -> Manner {
    Manner { block: 1 << 20, durability: Durability::Full, without, steps: Steps::default() }
}

struct Bytes(&'static [u8]);

impl Content for Bytes {
    fn parts(&self) -> Box<dyn Iterator<Item = Part<'_>> + '_> {
        Box::new(std::iter::once(Part { bytes: self.0, in_place: false }))
    }
}

fn names(root: &TempDir) -> Vec<String> {
    fs::read_dir(root.path())
        .unwrap()
        .map(|child| child.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_new_file_by_name_is_like_one_without() {
    let root = tempdir().unwrap();
    let (folder, plain) = (folder(&root), manner(Fallbacks::default()));
    let other = Staged::new_file(folder.as_fd(), &Bytes(b"x"), &plain, &work()).unwrap();
    assert!(other.name().is_none() && names(&root).is_empty(), "this file system can do without");

    let staged = Staged::new_file_by_name(folder.as_fd(), &Bytes(b"content"), &plain, &work()).unwrap();
    assert!(staged.name().is_some_and(|name| is_stage_name(name.as_bytes()) && name.len() <= 20));
    assert_eq!(fstat(&staged).unwrap().st_mode, fstat(&other).unwrap().st_mode);
    let published = rename_to_new(staged, b"a", &plain, &work()).unwrap().unwrap();
    assert_eq!(published.digest, Digest::of(b"content"));
    drop(published);
    assert_eq!(fs::read(root.path().join("a")).unwrap(), b"content");
    assert_eq!(fs::metadata(root.path().join("a")).unwrap().nlink(), 1);

    let late = Staged::new_file_by_name(folder.as_fd(), &Bytes(b"late"), &plain, &work()).unwrap();
    assert!(rename_to_new(late, b"a", &plain, &work()).unwrap().is_none());
    assert_eq!(names(&root), ["a"]);
    assert_eq!(fs::read(root.path().join("a")).unwrap(), b"content");
}

#[test]
fn a_stage_that_is_dropped_is_gone() {
    let root = tempdir().unwrap();
    let (folder, plain) = (folder(&root), manner(Fallbacks::default()));
    let staged = Staged::new_file_by_name(folder.as_fd(), &Bytes(b"content"), &plain, &work()).unwrap();
    assert_eq!(names(&root), [staged.name().unwrap()]);
    drop(staged);
    assert!(names(&root).is_empty());
}
