//! File systems that can do less: the same tests, the other ways.

use std::sync::Arc;

use dsh_fs::WriteGuard;
use dsh_fs_local::{Capabilities, probe};

use crate::disk::{Disk, fallbacks, rerun_without};

/// Everything about writing.
const FILES: [&str; 9] = [
    "cancel::",
    "edit::",
    "folders::",
    "guard::",
    "lock::",
    "metadata::",
    "publish::",
    "stranger::",
    "write::",
];

#[test]
fn without_exchange() {
    rerun_without("x", &FILES);
}

/// What can differ when a file is made another way.
const CREATING: [&str; 5] = ["edit::", "folders::", "metadata::", "publish::a_new", "write::"];

#[test]
fn without_files_that_have_no_name() {
    rerun_without("t", &CREATING);
}

#[test]
fn without_any_of_it() {
    rerun_without("xtn", &CREATING);
}

#[test]
fn without_links_either_there_is_only_a_look() {
    rerun_without("xtnh", &["edit::", "folders::", "guard::", "metadata::", "write::"]);
    rerun_without("h", &["write::"]);
}

#[tokio::test]
async fn a_create_never_replaces_in_any_way() {
    assert_eq!(fallbacks(), dsh_fs_local::Fallbacks::default());
    for bits in 0..8_u8 {
        let without = dsh_fs_local::Fallbacks {
            exchange: false,
            tmpfile: bits & 1 != 0,
            no_replace: bits & 2 != 0,
            hard_links: bits & 4 != 0,
            openat2: false,
        };
        // Another program makes the file after it was seen to be absent. By a look alone this is found out only
        // before the look, so the file is made at the step before.
        let disk = Arc::new(Disk::observed_without(without, |root, step| {
            if step == dsh_fs_local::Step::Staged {
                std::fs::write(root.join("f"), "theirs").unwrap();
            }
        }));
        let made = disk.write_if("f", "ours", Some(WriteGuard::CreateIfAbsent)).await;
        assert_eq!(made.unwrap_err().code(), dsh_fs::FsErrorCode::NotObserved, "{without:?}");
        assert_eq!((disk.text("f"), disk.tree()), ("theirs".into(), vec!["f".into()]), "{without:?}");
    }
}

#[test]
fn a_probe_tells_what_the_file_system_can_do_and_leaves_nothing() {
    let disk = Disk::new();
    let found = probe(disk.root());
    assert!(found.writable && found.flock && found.sync);
    assert!(found.exchange && found.no_replace && found.tmpfile, "all that CI's file systems can: {found:?}");
    assert!(disk.tree().is_empty());
    assert_eq!(probe(&disk.at("nowhere")), Capabilities::default());
    disk.put("file", "");
    assert_eq!(probe(&disk.at("file")), Capabilities::default());
    // Somebody has the lock: there is one.
    let folder = std::fs::File::open(disk.root()).unwrap();
    folder.lock().unwrap();
    assert!(probe(disk.root()).flock);
}

#[test]
fn a_probe_of_what_cannot_be_written() {
    let found = probe(std::path::Path::new("/proc/self"));
    assert!(!found.writable && !found.exchange && !found.tmpfile && !found.xattrs, "{found:?}");
}
