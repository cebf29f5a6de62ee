//! Mode, owner and group of what a mutation leaves behind.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};

use dsh_fs::{FsErrorCode, WriteGuard};

use crate::disk::{Disk, is_rerun, is_root, refused, rerun};

fn mode(disk: &Disk, path: &str) -> u32 {
    fs::metadata(disk.at(path)).unwrap().mode() & 0o7777
}

#[tokio::test]
async fn all_mode_bits_survive() {
    let disk = Disk::new();
    for bits in [0o644, 0o600, 0o666, 0o755, 0o640, 0o4755, 0o2755, 0o6711, 0o1644, 0o7777] {
        disk.put("a", "1").mode("a", bits);
        disk.edit("a", "1", "2").await.unwrap();
        assert_eq!(mode(&disk, "a"), bits, "{bits:o}");
        disk.write("a", "3").await.unwrap();
        assert_eq!(mode(&disk, "a"), bits, "{bits:o}");
    }
}

#[tokio::test]
async fn a_new_file_follows_the_umask() {
    if is_rerun() {
        return new_file_mode_is().await;
    }
    for (umask, expected) in
        [("0022", "644"), ("0027", "640"), ("0077", "600"), ("0000", "666"), ("0777", "0")]
    {
        let set = format!("umask {umask}; exec \"$@\"");
        rerun(
            &["sh", "-c", &set, "sh"],
            "metadata::a_new_file_follows_the_umask",
            &[("EXPECTED_MODE", expected)],
        );
    }
}

async fn new_file_mode_is() {
    let expected = u32::from_str_radix(&std::env::var("EXPECTED_MODE").unwrap(), 8).unwrap();
    let disk = Disk::new();
    // The folder must stay usable under any umask.
    disk.mode("", 0o700);
    disk.write_if("a", "x", Some(WriteGuard::CreateIfAbsent)).await.unwrap();
    disk.write("b", "x").await.unwrap();
    assert_eq!((mode(&disk, "a"), mode(&disk, "b")), (expected, expected));
}

#[tokio::test]
async fn a_new_file_in_a_setgid_folder_gets_its_group() {
    if !is_root() {
        return;
    }
    let disk = Disk::new();
    disk.folder("d");
    chown(disk.at("d"), Some(0), Some(4321)).unwrap();
    disk.mode("d", 0o2775);
    disk.write("d/a", "x").await.unwrap();
    disk.write("d/sub/b", "x").await.unwrap();
    for path in ["d/a", "d/sub", "d/sub/b"] {
        assert_eq!(fs::metadata(disk.at(path)).unwrap().gid(), 4321, "{path}");
    }
    // A replacement keeps the file's own group there.
    chown(disk.at("d/a"), None, Some(99)).unwrap();
    disk.write("d/a", "y").await.unwrap();
    assert_eq!(fs::metadata(disk.at("d/a")).unwrap().gid(), 99);
}

#[tokio::test]
async fn owner_and_group_are_kept_by_root_and_set_id_bits_with_them() {
    if !is_root() {
        return;
    }
    let disk = Disk::new();
    disk.put("a", "1");
    chown(disk.at("a"), Some(1234), Some(4321)).unwrap();
    disk.mode("a", 0o6755);
    disk.edit("a", "1", "2").await.unwrap();
    disk.write("a", "3").await.unwrap();
    let meta = fs::metadata(disk.at("a")).unwrap();
    assert_eq!((meta.uid(), meta.gid(), meta.mode() & 0o7777), (1234, 4321, 0o6755));
}

#[tokio::test]
async fn what_only_root_may_keep_is_let_go_by_others() {
    if is_rerun() {
        return edits_as_another_user().await;
    }
    if !is_root() {
        return;
    }
    let disk = Disk::new();
    disk.mode(".", 0o777);
    // Another's file in the caller's group: group kept, owner not, so it must not run as the owner any more.
    disk.put("theirs", "1");
    chown(disk.at("theirs"), Some(1234), Some(4321)).unwrap();
    disk.mode("theirs", 0o6775);
    // A group that the caller is not in.
    disk.put("mine", "1");
    chown(disk.at("mine"), Some(65534), Some(99)).unwrap();
    disk.mode("mine", 0o2664);
    let folder = disk.root().to_str().unwrap().to_owned();
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--groups=4321"];
    rerun(&user, "metadata::what_only_root_may_keep_is_let_go_by_others", &[("FOLDER", &folder)]);
    let theirs = fs::metadata(disk.at("theirs")).unwrap();
    assert_eq!((theirs.uid(), theirs.gid(), theirs.mode() & 0o7777), (65534, 4321, 0o775));
    let mine = fs::metadata(disk.at("mine")).unwrap();
    assert_eq!((mine.uid(), mine.gid(), mine.mode() & 0o7777), (65534, 65534, 0o664));
    assert_eq!(disk.tree(), ["mine", "theirs"]);
}

async fn edits_as_another_user() {
    let folder = std::env::var("FOLDER").unwrap();
    let disk = Disk::new();
    for name in ["theirs", "mine"] {
        disk.edit(&format!("{folder}/{name}"), "1", "2").await.unwrap();
    }
}

#[tokio::test]
async fn what_its_caller_may_not_write_is_refused_though_the_folder_would_allow_it() {
    if is_rerun() {
        return is_refused_as_another_user().await;
    }
    if !is_root() {
        return;
    }
    let disk = Disk::new();
    disk.mode(".", 0o777).put("locked", "1").mode("locked", 0o444).put("ro/a", "1").mode("ro/a", 0o666);
    disk.put("unreadable", "1").mode("unreadable", 0o222);
    let folder = disk.root().to_str().unwrap().to_owned();
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    rerun(
        &user,
        "metadata::what_its_caller_may_not_write_is_refused_though_the_folder_would_allow_it",
        &[("FOLDER", &folder)],
    );
    assert_eq!(
        (disk.text("locked"), disk.text("ro/a"), disk.text("unreadable")),
        ("1".into(), "1".into(), "2".into())
    );
    assert_eq!(disk.tree(), ["locked", "ro", "ro/a", "unreadable"]);
}

async fn is_refused_as_another_user() {
    let folder = std::env::var("FOLDER").unwrap();
    let disk = Disk::new();
    let denied = |verb: &str, path: &str| format!("cannot {verb} \"{path}\": permission denied");
    let code = FsErrorCode::PermissionDenied;
    // A file of mode 444, and a writable file in a folder that is not.
    for path in [format!("{folder}/locked"), format!("{folder}/ro/a")] {
        let version = disk.version(&path).await;
        refused(disk.write(&path, "2").await, code, denied("write", &path));
        refused(disk.edit_if(&path, "1", "2", Some(&version)).await, code, denied("edit", &path));
    }
    for path in [format!("{folder}/ro/new"), format!("{folder}/ro/sub/new")] {
        refused(disk.write(&path, "2").await, code, denied("write", &path));
    }
    // May be written and not read: replaced whole, but nothing that needs its bytes.
    let path = format!("{folder}/unreadable");
    refused(disk.read(&path).await, code, denied("read", &path));
    refused(disk.edit(&path, "1", "2").await, code, denied("edit", &path));
    let other = disk.version(&format!("{folder}/locked")).await;
    let guarded = disk.write_if(&path, "2", Some(WriteGuard::ReplaceIfVersion(other))).await;
    refused(guarded, code, denied("write", &path));
    let exists = disk.write_if(&path, "2", Some(WriteGuard::CreateIfAbsent)).await;
    assert_eq!(exists.unwrap_err().code(), FsErrorCode::NotObserved);
    assert_eq!(disk.write(&path, "2").await.unwrap().before, None);
}

#[tokio::test]
async fn what_anyone_may_do_works_without_root() {
    if is_rerun() {
        return works_as_another_user().await;
    }
    if !is_root() {
        return;
    }
    let disk = Disk::new();
    disk.mode(".", 0o777).folder("blind").mode("blind", 0o333);
    let folder = disk.root().to_str().unwrap().to_owned();
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    rerun(&user, "metadata::what_anyone_may_do_works_without_root", &[("FOLDER", &folder)]);
    assert_eq!((disk.text("new/a"), disk.text("blind/a")), ("2".into(), "2".into()));
    assert_eq!(disk.tree(), ["blind", "blind/a", "new", "new/a"]);
    let meta = fs::metadata(disk.at("new/a")).unwrap();
    assert_eq!((meta.uid(), meta.gid(), meta.mode() & 0o7777), (65534, 65534, 0o644));
}

async fn works_as_another_user() {
    let folder = std::env::var("FOLDER").unwrap();
    let disk = Disk::new();
    let path = format!("{folder}/new/a");
    let made = disk.write_if(&path, "1", Some(WriteGuard::CreateIfAbsent)).await.unwrap();
    assert!(made.durable);
    assert!(
        disk.write_if(&path, "2", Some(WriteGuard::ReplaceIfVersion(made.version))).await.unwrap().durable
    );
    // A folder that may be written and not read cannot be synced: the change is in place, and that is said.
    let path = format!("{folder}/blind/a");
    let made = disk.write(&path, "1").await.unwrap();
    assert!(!made.durable);
    let edited = disk.edit_if(&path, "1", "2", Some(&made.version)).await.unwrap();
    assert!(!edited.durable);
}
