//! The reference backend beyond the contract, which `dsh-fs-check` checks: what its own hands do.

use dsh_fs::{FileSystem, FsCall, FsKind, MemoryFileSystem, WriteGuard};

#[tokio::test]
async fn hands_and_contract_see_the_same_files() {
    let fs = MemoryFileSystem::with_files([("/w/a.txt", "one"), ("/w/d/../b.txt", "two")]);
    let call = FsCall::new();
    assert_eq!(fs.bytes("/w/a.txt").as_deref(), Some(&b"one"[..]));
    assert_eq!(fs.bytes("/w/./b.txt").as_deref(), Some(&b"two"[..]));
    assert_eq!(fs.bytes("/w"), None);
    let target = fs.resolve("b.txt", Some("/w".as_ref()), &call).await.unwrap();
    fs.write_text(&target, "three", None, &call).await.unwrap();
    assert_eq!(fs.bytes("/w/b.txt").as_deref(), Some(&b"three"[..]));
    assert!(fs.remove("/w/b.txt"));
    assert!(!fs.remove("/w/b.txt"));
    assert_eq!(fs.stat(&target, &call).await.unwrap(), None);
}

#[tokio::test]
async fn folders_can_be_put_and_stay_when_empty() {
    let fs = MemoryFileSystem::new();
    let call = FsCall::new();
    fs.put_folder("/a/b");
    for folder in ["/", "/a", "/a/b", "/a/b/"] {
        let target = fs.resolve(folder, None, &call).await.unwrap();
        assert_eq!(fs.stat(&target, &call).await.unwrap().unwrap().kind, FsKind::Directory, "{folder}");
    }
    fs.put("/a/b/c", b"x");
    fs.remove("/a/b/c");
    let target = fs.resolve("/a/b", None, &call).await.unwrap();
    assert_eq!(fs.list_dir(&target, &call).await.unwrap(), []);
}

#[tokio::test]
async fn a_version_tells_two_puts_of_the_same_bytes_apart_and_guards_do_not() {
    let fs = MemoryFileSystem::with_files([("/a", "same")]);
    let call = FsCall::new();
    let target = fs.resolve("/a", None, &call).await.unwrap();
    let first = fs.read_text(&target, &call).await.unwrap().version;
    fs.put("/a", b"same");
    assert_ne!(fs.read_text(&target, &call).await.unwrap().version, first);
    fs.write_text(&target, "new", Some(&WriteGuard::ReplaceIfVersion(first)), &call).await.unwrap();
}

#[tokio::test]
async fn no_process_and_no_fence() {
    let fs = MemoryFileSystem::new();
    let target = fs.resolve("/a b/\u{e9}.txt", None, &FsCall::new()).await.unwrap();
    assert_eq!(fs.process_path(&target), None);
    assert_eq!(fs.sandbox_mode(), None);
    assert_eq!(fs.file_url(&target), "memory:///a%20b/%C3%A9.txt");
    assert_eq!(target.display_path(), "/a b/\u{e9}.txt");
}
