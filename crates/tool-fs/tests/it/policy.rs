use serde_json::json;

use crate::rig::{Rig, assert_error, session};

#[tokio::test]
async fn an_unread_file_is_neither_overwritten_nor_edited() {
    let rig = Rig::new([("a.txt", "theirs\n")]).await;
    assert_error(
        &rig.write("a.txt", "mine\n").await,
        "FS_NOT_OBSERVED",
        "Error: cannot overwrite existing \"/w/a.txt\" without reading it first — read the file, then retry",
    );
    assert_error(
        &rig.edit("a.txt", "theirs", "mine").await,
        "FS_NOT_OBSERVED",
        "Error: edit requires reading \"/w/a.txt\" first — read the file, then retry",
    );
    assert_eq!(rig.text("a.txt").unwrap(), "theirs\n");
    rig.read("a.txt").await;
    assert!(!rig.edit("a.txt", "theirs", "mine").await.is_error());
    assert!(!rig.write("a.txt", "all mine\n").await.is_error());
}

#[tokio::test]
async fn a_changed_file_is_stale_until_it_is_read_again() {
    let rig = Rig::new([("a.txt", "one\n")]).await;
    rig.read("a.txt").await;
    rig.put("a.txt", "two\n");
    assert_error(
        &rig.write("a.txt", "mine\n").await,
        "FS_STALE_VERSION",
        "Error: cannot write \"/w/a.txt\": file changed since it was read — re-read the file, then retry",
    );
    // Stale comes before "not found": the model's text is old, not wrong.
    assert_error(
        &rig.edit("a.txt", "one", "1").await,
        "FS_STALE_VERSION",
        "Error: cannot edit \"/w/a.txt\": file changed since it was read — re-read the file, then retry",
    );
    rig.read("a.txt").await;
    assert!(!rig.edit("a.txt", "two", "2").await.is_error());
}

#[tokio::test]
async fn the_same_bytes_written_again_cost_nothing() {
    let rig = Rig::new([("a.txt", "one\n")]).await;
    rig.read("a.txt").await;
    rig.put("a.txt", "two\n");
    rig.put("a.txt", "one\n");
    assert!(!rig.write("a.txt", "mine\n").await.is_error());
}

#[tokio::test]
async fn a_deleted_file_is_stale_then_absent_then_created() {
    let rig = Rig::new([("a.txt", "one\n")]).await;
    rig.read("a.txt").await;
    rig.remove("a.txt");
    assert_error(
        &rig.write("a.txt", "x\n").await,
        "FS_STALE_VERSION",
        "Error: cannot write \"/w/a.txt\": file no longer exists — re-read the file, then retry",
    );
    assert_error(&rig.read("a.txt").await, "FS_NOT_FOUND", "Error: cannot read \"/w/a.txt\": not found");
    assert_error(
        &rig.edit("a.txt", "one", "x").await,
        "FS_NOT_FOUND",
        "Error: cannot edit \"/w/a.txt\": not found",
    );
    assert!(!rig.write("a.txt", "x\n").await.is_error());
}

#[tokio::test]
async fn a_file_that_is_not_text_can_be_replaced_after_the_read_that_said_so() {
    let rig = Rig::new([]).await;
    rig.put("a.bin", b"\0\x01");
    assert!(rig.write("a.bin", "x\n").await.is_error());
    assert!(rig.read("a.bin").await.is_error());
    assert_error(
        &rig.edit("a.bin", "x", "y").await,
        "FS_NOT_TEXT",
        "Error: cannot edit \"/w/a.bin\": binary file",
    );
    rig.put("a.bin", b"\0\x02");
    assert_error(
        &rig.write("a.bin", "x\n").await,
        "FS_STALE_VERSION",
        "Error: cannot write \"/w/a.bin\": file changed since it was read — re-read the file, then retry",
    );
    assert!(rig.read("a.bin").await.is_error());
    assert!(!rig.write("a.bin", "x\n").await.is_error());
    assert_eq!(rig.text("a.bin").unwrap(), "x\n");
}

#[tokio::test]
async fn a_read_out_of_range_licenses_nothing() {
    let rig = Rig::new([("a.txt", "one\n")]).await;
    assert!(rig.call("read", json!({ "file_path": "a.txt", "offset": 9 })).await.is_error());
    assert!(rig.edit("a.txt", "one", "x").await.is_error());
}

#[tokio::test]
async fn sessions_do_not_share_what_they_saw_even_under_one_id() {
    let rig = Rig::new([("a.txt", "one\n")]).await;
    let edit = json!({ "file_path": "/w/a.txt", "old_string": "one", "new_string": "1" });
    rig.read("a.txt").await;
    for other in [Some(session("s2")), Some(session("s1")), None] {
        let refused = rig.call_in(other, "edit", edit.clone()).await;
        let text = "Error: edit requires reading \"/w/a.txt\" first — read the file, then retry";
        assert_error(&refused, "FS_NOT_OBSERVED", text);
    }
    assert!(!rig.call("edit", edit).await.is_error());
}
