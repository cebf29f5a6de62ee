use serde_json::json;

use crate::rig::{Rig, assert_error, assert_text};

#[tokio::test]
async fn replaces_one_match_and_says_so() {
    let rig = Rig::bare([("a.txt", "one two\nthree\n")]).await;
    let result = rig.edit("a.txt", "two", "2").await;
    assert_text(&result, "The file /w/a.txt has been updated successfully.");
    assert_eq!(
        result.value(),
        Some(json!({ "path": "/w/a.txt", "before": "one two\nthree\n", "after": "one 2\nthree\n" }))
    );
    assert_eq!(
        result.meta(),
        Some(
            json!({ "diffs": [{ "path": "a.txt", "oldText": "one two\nthree", "newText": "one 2\nthree" }] })
        )
    );
}

#[tokio::test]
async fn replaces_all_matches_and_says_so() {
    let rig = Rig::bare([("a.txt", "x x\nx\n")]).await;
    let args = json!({ "file_path": "a.txt", "old_string": "x", "new_string": "y", "replace_all": true });
    let text = "The file /w/a.txt has been updated. All occurrences were successfully replaced.";
    assert_text(&rig.call("edit", args).await, text);
    assert_eq!(rig.text("a.txt").unwrap(), "y y\ny\n");
}

#[tokio::test]
async fn what_does_not_match_exactly_once_is_refused() {
    let rig = Rig::bare([("a.txt", "x\nx\naaa\n")]).await;
    assert_error(
        &rig.edit("a.txt", "z", "y").await,
        "FS_EDIT_NOT_FOUND",
        "Error: old_string was not found in \"/w/a.txt\"",
    );
    for old in ["x", "aa"] {
        assert_error(
            &rig.edit("a.txt", old, "y").await,
            "FS_AMBIGUOUS_EDIT",
            "Error: old_string matched 2 times in \"/w/a.txt\"; provide a more specific old_string or set \
             replace_all to true",
        );
    }
    assert_error(
        &rig.edit("nope", "x", "y").await,
        "FS_STALE_VERSION",
        "Error: cannot edit \"/w/nope\": file changed since it was read — re-read the file, then retry",
    );
    assert_eq!(rig.text("a.txt").unwrap(), "x\nx\naaa\n");
}

#[tokio::test]
async fn edits_that_cannot_be_meant_are_refused_before_anything_is_looked_at() {
    let rig = Rig::bare([("a.txt", "x\n")]).await;
    for (path, old, new, message) in [
        (" ", "x", "y", "file_path must be a non-empty string"),
        ("a.txt", "", "y", "old_string must be a non-empty string"),
        ("a.txt", "x", "x", "old_string and new_string must differ"),
        ("a.txt", "x\n", "x\r\n", "old_string and new_string must differ"),
    ] {
        assert_error(&rig.edit(path, old, new).await, "INVALID_ARGS", &format!("Error: {message}"));
    }
}
