//! A store is tried out before anything is written.

use std::sync::Arc;

use dsh_fs::{FileSystem, FsCall};
use futures_util::TryStreamExt as _;
use object_store::ObjectStore as _;

use crate::rig::{Fault, Rigged, over};

#[tokio::test]
async fn a_store_that_keeps_conditions_is_taken_and_left_as_it_was() {
    let store = Arc::new(Rigged::default());
    let fs = over(store.clone());
    fs.probe().await.unwrap();
    let requests = store.requests();
    assert_eq!(requests.len(), 9, "{requests:?}");
    assert!(requests[0].starts_with("put /.dsh-"), "{requests:?}");
    assert_eq!(store.objects.list(None).try_collect::<Vec<_>>().await.unwrap(), []);
    fs.probe().await.unwrap();
    assert_eq!(store.requests(), [""; 0]);
}

#[tokio::test]
async fn a_store_that_does_not_care_for_conditions_is_refused() {
    let store = Arc::new(Rigged::careless());
    let fs = over(store.clone());
    let error = fs.resolve("/a.txt", None, &FsCall::new()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the object store does not keep the conditions of writes (it creates what is there); nothing would be safe there"
    );
    assert_eq!(store.objects.list(None).try_collect::<Vec<_>>().await.unwrap(), []);
}

#[tokio::test]
async fn a_store_that_drops_metadata_is_refused() {
    let store = Arc::new(Rigged::forgetful());
    assert_eq!(
        over(store.clone()).probe().await.unwrap_err().to_string(),
        "the object store does not keep the metadata of objects; nothing would be safe there"
    );
    assert_eq!(store.objects.list(None).try_collect::<Vec<_>>().await.unwrap(), []);
}

#[tokio::test]
async fn a_store_that_may_not_be_written_is_refused_with_that_reason() {
    let store = Arc::new(Rigged::default());
    store.faults.lock().unwrap().push(Fault::Forbidden);
    let error = over(store).probe().await.unwrap_err().to_string();
    assert!(error.starts_with("cannot write \"/.dsh-"), "{error}");
    assert!(error.ends_with("\": permission denied"), "{error}");
}
