//! Shapes that only a store has.

use std::sync::Arc;

use dsh_fs::{FileSystem, FsCall, FsKind};
use dsh_fs_object::object_store;
use object_store::ObjectStoreExt as _;

use crate::rig::{Rigged, key, over, target};

#[tokio::test]
async fn a_file_and_a_folder_may_share_a_name() {
    let store = Arc::new(Rigged::default());
    for name in ["d", "d/a.txt"] {
        store.objects.put(&key(name), name.to_owned().into()).await.unwrap();
    }
    let (fs, call) = (over(store), FsCall::new());
    let entries = fs.list_dir(&target(&fs, "/").await, &call).await.unwrap();
    let shown: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
    assert_eq!(shown, [("d", FsKind::File), ("d", FsKind::Directory)]);
    let folder = target(&fs, "/d").await;
    assert_eq!(fs.read_text(&folder, &call).await.unwrap().text, "d");
    assert_eq!(fs.list_dir(&folder, &call).await.unwrap()[0].name, "a.txt");
}

#[tokio::test]
async fn what_the_probe_puts_there_is_hidden() {
    let store = Arc::new(Rigged::default());
    store.objects.put(&key(".dsh-0123456789av"), "x".into()).await.unwrap();
    store.objects.put(&key("a.txt"), "x".into()).await.unwrap();
    let (fs, call) = (over(store), FsCall::new());
    let entries = fs.list_dir(&target(&fs, "/").await, &call).await.unwrap();
    assert_eq!(entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["a.txt"]);
}
