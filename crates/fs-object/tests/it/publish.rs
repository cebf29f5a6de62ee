//! Answers that are lost, refusals that are false: what a mutation makes of them.

use std::sync::Arc;

use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{FileSystem, FsCall, FsErrorCode, WriteGuard};
use dsh_fs_object::{ObjectFileSystem, object_store};
use object_store::{Attribute, Attributes, ObjectStore as _, ObjectStoreExt as _, PutOptions};

use crate::rig::{Fault, Rigged, key, over, target};

async fn laid(text: &str) -> (Arc<Rigged>, ObjectFileSystem) {
    let store = Arc::new(Rigged::default());
    store.objects.put(&key("a.txt"), text.to_owned().into()).await.unwrap();
    let fs = over(store.clone());
    fs.probe().await.unwrap();
    store.requests();
    (store, fs)
}

async fn text(store: &Rigged) -> String {
    let bytes = store.objects.get(&key("a.txt")).await.unwrap().bytes().await.unwrap();
    String::from_utf8(bytes.into()).unwrap()
}

fn more() -> LiteralEdit {
    LiteralEdit::new("end", "x end", false).unwrap()
}

#[tokio::test]
async fn an_edit_whose_answer_was_lost_is_applied_once() {
    for fault in [Fault::LostAnswer, Fault::RefusedAgain, Fault::NeverCame] {
        for guarded in [false, true] {
            let (store, fs) = laid("end").await;
            let (file, call) = (target(&fs, "/a.txt").await, FsCall::new());
            let seen = fs.read_text(&file, &call).await.unwrap().version;
            store.faults.lock().unwrap().push(fault);
            let edited = fs.edit_text(&file, &more(), guarded.then_some(&seen), &call).await.unwrap();
            assert_eq!(text(&store).await, "x end", "{fault:?}");
            // The version is that of the object, however it was found out.
            let again = fs.edit_text(&file, &more(), Some(&edited.version), &call).await.unwrap();
            assert_eq!(&*again.texts.after, "x x end", "{fault:?}");
        }
    }
}

#[tokio::test]
async fn a_creation_whose_answer_was_lost_is_a_creation() {
    for fault in [Fault::LostAnswer, Fault::RefusedAgain, Fault::NeverCame, Fault::Conflict] {
        let (store, fs) = laid("end").await;
        let (file, call) = (target(&fs, "/new.txt").await, FsCall::new());
        store.faults.lock().unwrap().push(fault);
        let guard = Some(WriteGuard::CreateIfAbsent);
        let written = fs.write_text(&file, "mine", guard.as_ref(), &call).await.unwrap();
        let guard = Some(WriteGuard::ReplaceIfVersion(written.version));
        fs.write_text(&file, "next", guard.as_ref(), &call).await.unwrap();
    }
}

#[tokio::test]
async fn the_same_edit_of_somebody_else_is_not_taken_for_ours() {
    let (store, fs) = laid("end").await;
    let (file, call) = (target(&fs, "/a.txt").await, FsCall::new());
    let seen = fs.read_text(&file, &call).await.unwrap().version;
    let other = over(store.clone());
    other.edit_text(&file, &more(), Some(&seen), &call).await.unwrap();
    let late = fs.edit_text(&file, &more(), Some(&seen), &call).await.unwrap_err();
    assert_eq!(late.code(), FsErrorCode::StaleVersion);
    assert_eq!(text(&store).await, "x end");
}

#[tokio::test]
async fn a_store_that_never_answers_leaves_the_outcome_open() {
    let (store, fs) = laid("end").await;
    let (file, call) = (target(&fs, "/a.txt").await, FsCall::new());
    store.faults.lock().unwrap().extend([Fault::NeverCame; 5]);
    let error = fs.edit_text(&file, &more(), None, &call).await.unwrap_err();
    assert_eq!(error.code(), FsErrorCode::IoError);
    assert_eq!(
        error.to_string(),
        "cannot edit \"/a.txt\": the object store failed and does not say whether the change was made; read the file \
         before trying again"
    );
    assert_eq!(text(&store).await, "end");
}

#[tokio::test]
async fn a_change_refused_again_and_again_is_late_though_the_object_looks_as_it_was() {
    let (store, fs) = laid("end").await;
    let (file, call) = (target(&fs, "/a.txt").await, FsCall::new());
    let seen = fs.read_text(&file, &call).await.unwrap().version;
    let flicker = || store.faults.lock().unwrap().extend([Fault::Flickered; 5]);

    flicker();
    let error = fs.edit_text(&file, &more(), Some(&seen), &call).await.unwrap_err();
    assert_eq!(error.code(), FsErrorCode::StaleVersion);
    flicker();
    let guard = Some(WriteGuard::ReplaceIfVersion(seen));
    let error = fs.write_text(&file, "mine", guard.as_ref(), &call).await.unwrap_err();
    assert_eq!(error.code(), FsErrorCode::StaleVersion);
    assert_eq!(text(&store).await, "end");

    // Without a guard it begins again from what is there.
    flicker();
    fs.edit_text(&file, &more(), None, &call).await.unwrap();
    assert_eq!(text(&store).await, "x end");
}

#[tokio::test]
async fn a_refusal_after_a_lost_answer_leaves_the_outcome_open() {
    let (store, fs) = laid("end").await;
    let (file, call) = (target(&fs, "/a.txt").await, FsCall::new());
    let faults = [[Fault::Flickered; 4].as_slice(), &[Fault::NeverCame]].concat();
    store.faults.lock().unwrap().extend(faults);
    let error = fs.edit_text(&file, &more(), None, &call).await.unwrap_err().to_string();
    assert!(error.ends_with("read the file before trying again"), "{error}");
    assert_eq!(text(&store).await, "end");
}

#[tokio::test]
async fn what_the_store_forbids_is_told_and_not_tried_again() {
    let (store, fs) = laid("end").await;
    let (file, call) = (target(&fs, "/a.txt").await, FsCall::new());
    store.faults.lock().unwrap().push(Fault::Forbidden);
    let error = fs.edit_text(&file, &more(), None, &call).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot edit \"/a.txt\": permission denied");
    assert_eq!(store.requests(), ["get /a.txt", "put /a.txt"]);
}

#[tokio::test]
async fn what_the_store_forbids_after_a_lost_answer_leaves_the_outcome_open() {
    let (store, fs) = laid("end").await;
    let (file, call) = (target(&fs, "/a.txt").await, FsCall::new());
    store.faults.lock().unwrap().extend([Fault::Forbidden, Fault::NeverCame]);
    let error = fs.edit_text(&file, &more(), None, &call).await.unwrap_err().to_string();
    assert!(error.ends_with("read the file before trying again"), "{error}");
    assert_eq!(store.requests(), ["get /a.txt", "put /a.txt", "head /a.txt", "put /a.txt", "head /a.txt"]);
}

#[tokio::test]
async fn a_path_without_a_key_is_refused_before_anything_is_sent() {
    let (store, fs) = laid("end").await;
    let (file, call) = (target(&fs, &format!("/{}x", "a/".repeat(100_000))).await, FsCall::new());
    for guard in [None, Some(WriteGuard::CreateIfAbsent)] {
        let error = fs.write_text(&file, "mine", guard.as_ref(), &call).await.unwrap_err();
        assert_eq!(error.code(), FsErrorCode::IoError);
        assert!(error.to_string().ends_with("\": file name too long"));
    }
    assert_eq!(store.requests(), [""; 0]);
}

#[tokio::test]
async fn metadata_stays() {
    let (store, fs) = laid("end").await;
    let own = Attributes::from_iter([
        (Attribute::ContentType, "text/markdown"),
        (Attribute::Metadata("owner".into()), "somebody"),
    ]);
    let options = PutOptions { attributes: own, ..PutOptions::default() };
    store.objects.put_opts(&key("a.txt"), "end".into(), options).await.unwrap();
    let (file, call) = (target(&fs, "/a.txt").await, FsCall::new());
    fs.edit_text(&file, &more(), None, &call).await.unwrap();
    fs.write_text(&file, "other", None, &call).await.unwrap();
    let attributes = store.objects.get(&key("a.txt")).await.unwrap().attributes;
    assert_eq!(attributes.get(&Attribute::ContentType).unwrap().as_ref(), "text/markdown");
    assert_eq!(attributes.get(&Attribute::Metadata("owner".into())).unwrap().as_ref(), "somebody");
}

#[tokio::test]
async fn what_is_too_large_is_neither_edited_nor_written() {
    let store = Arc::new(Rigged::default());
    store.objects.put(&key("a.txt"), "123456".into()).await.unwrap();
    let config = dsh_fs_object::ObjectFsConfig {
        max_edit_bytes: 5,
        ..dsh_fs_object::ObjectFsConfig::new("s3://bucket")
    };
    let prefix = object_store::path::Path::parse("team/workspace").unwrap();
    let fs = ObjectFileSystem::over(store.clone(), prefix, &config);
    let (file, call) = (target(&fs, "/a.txt").await, FsCall::new());
    let edit = LiteralEdit::new("1", "2", false).unwrap();
    let error = fs.edit_text(&file, &edit, None, &call).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot edit \"/a.txt\": 6 bytes exceeds the 5-byte limit");
    let error = fs.write_text(&file, "123456", None, &call).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot write \"/a.txt\": 6 bytes exceeds the 5-byte limit");
    assert_eq!(error.code(), FsErrorCode::TooLarge);
}
