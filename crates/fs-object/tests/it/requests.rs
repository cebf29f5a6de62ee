//! What each operation costs, in requests. They are what a store is paid for, and what an agent waits for.

use std::sync::Arc;

use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{FileSystem, FsCall, WriteGuard};
use dsh_fs_object::{ObjectFileSystem, object_store};
use object_store::ObjectStoreExt as _;

use crate::rig::{Rigged, key, over, target};

async fn laid(names: &[&str]) -> (Arc<Rigged>, ObjectFileSystem, FsCall) {
    let store = Arc::new(Rigged::default());
    for name in names {
        store.objects.put(&key(name), "one\n".into()).await.unwrap();
    }
    let fs = over(store.clone());
    fs.probe().await.unwrap();
    store.requests();
    (store, fs, FsCall::new())
}

#[tokio::test]
async fn a_read_with_its_look_costs_two() {
    let (store, fs, call) = laid(&["d/e/a.txt"]).await;
    let file = target(&fs, "/d/e/a.txt").await;
    fs.stat(&file, &call).await.unwrap().unwrap();
    fs.read_text(&file, &call).await.unwrap();
    assert_eq!(store.requests(), ["head /d/e/a.txt", "get /d/e/a.txt"]);
}

#[tokio::test]
async fn an_edit_costs_two() {
    let (store, fs, call) = laid(&["d/e/a.txt"]).await;
    let file = target(&fs, "/d/e/a.txt").await;
    let edit = LiteralEdit::new("one", "two", false).unwrap();
    fs.edit_text(&file, &edit, None, &call).await.unwrap();
    assert_eq!(store.requests(), ["get /d/e/a.txt", "put /d/e/a.txt"]);
}

#[tokio::test]
async fn an_edit_that_comes_late_costs_three() {
    let (store, fs, call) = laid(&["a.txt"]).await;
    let file = target(&fs, "/a.txt").await;
    let version = fs.read_text(&file, &call).await.unwrap().version;
    store.requests();
    // Somebody is faster between the read of the edit and its put: the put is refused.
    store.faults.lock().unwrap().push(crate::rig::Fault::Overtaken);
    let edit = LiteralEdit::new("one", "two", false).unwrap();
    fs.edit_text(&file, &edit, Some(&version), &call).await.unwrap_err();
    assert_eq!(store.requests(), ["get /a.txt", "put /a.txt", "head /a.txt"]);
}

#[tokio::test]
async fn a_guarded_replacement_costs_two() {
    let (store, fs, call) = laid(&["d/e/a.txt"]).await;
    let file = target(&fs, "/d/e/a.txt").await;
    let version = fs.read_text(&file, &call).await.unwrap().version;
    store.requests();
    let guard = WriteGuard::ReplaceIfVersion(version);
    fs.write_text(&file, "two", Some(&guard), &call).await.unwrap();
    assert_eq!(store.requests(), ["get /d/e/a.txt", "put /d/e/a.txt"]);
}

#[tokio::test]
async fn a_guarded_creation_costs_two_in_a_folder_that_was_seen() {
    let (store, fs, call) = laid(&["d/e/a.txt"]).await;
    let folder = target(&fs, "/d/e").await;
    fs.list_dir(&folder, &call).await.unwrap();
    store.requests();
    for path in ["/d/e/new.txt", "/new.txt"] {
        let file = target(&fs, path).await;
        fs.write_text(&file, "two", Some(&WriteGuard::CreateIfAbsent), &call).await.unwrap();
        assert_eq!(store.requests(), [format!("below {path}"), format!("put {path}")]);
    }
}

#[tokio::test]
async fn a_creation_costs_one_more_for_each_folder_that_was_not() {
    let (store, fs, call) = laid(&[]).await;
    let file = target(&fs, "/d/e/new.txt").await;
    fs.write_text(&file, "two", Some(&WriteGuard::CreateIfAbsent), &call).await.unwrap();
    let mut requests = store.requests();
    requests.sort_unstable();
    assert_eq!(requests, ["below /d/e/new.txt", "head /d", "head /d/e", "put /d/e/new.txt"]);
}

#[tokio::test]
async fn sixteen_folders_at_most_are_looked_at_at_once() {
    let (store, fs, call) = laid(&[]).await;
    let file = target(&fs, &format!("/{}x", "d/".repeat(500))).await;
    fs.write_text(&file, "two", Some(&WriteGuard::CreateIfAbsent), &call).await.unwrap();
    assert_eq!(store.requests().iter().filter(|request| request.starts_with("head")).count(), 500);
    assert_eq!(store.most_at_once(), 16);
}

#[tokio::test]
async fn an_unguarded_write_looks_first() {
    let (store, fs, call) = laid(&["a.txt"]).await;
    fs.write_text(&target(&fs, "/a.txt").await, "two", None, &call).await.unwrap();
    assert_eq!(store.requests(), ["get /a.txt", "put /a.txt"]);
    fs.write_text(&target(&fs, "/b.txt").await, "two", None, &call).await.unwrap();
    assert_eq!(store.requests(), ["get /b.txt", "below /b.txt", "put /b.txt"]);
}

#[tokio::test]
async fn a_listing_costs_one_for_a_thousand() {
    let names: Vec<String> = (0..2_500).map(|n| format!("d/{n}.txt")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (store, fs, call) = laid(&names).await;
    assert_eq!(fs.list_dir(&target(&fs, "/d").await, &call).await.unwrap().len(), 2_500);
    assert_eq!(store.requests(), ["list /d"; 3]);
}

#[tokio::test]
async fn nothing_is_asked_for_what_a_path_means_but_with_a_slash_at_its_end() {
    let (store, fs, _) = laid(&["d/a.txt"]).await;
    for path in ["/", "/d", "/d/../d/./a.txt", "/d/a.txt/b", "new/new.txt"] {
        target(&fs, path).await;
    }
    assert_eq!(store.requests(), [""; 0]);
    target(&fs, "/d/").await;
    assert_eq!(store.requests(), ["below /d"]);
}
