//! Tool calls over the protocol: results, order, cancellation.

use std::time::Instant;

use serde_json::{Value as Json, json};

use crate::binary::{Folder, Talk};

fn edit(old: &str, new: &str) -> Json {
    json!({"file_path": "a.txt", "old_string": old, "new_string": new})
}

#[test]
fn a_success_shows_text_and_carries_its_card() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let mut talk = Talk::mcp(&folder);
    let read = talk.tool("read", json!({"file_path": "a.txt"}));
    let shown = format!(
        "<path>{}</path>\n<type>file</type>\n<content>\n1: one\n\n(End of file - total 1 lines)\n</content>",
        folder.path("a.txt").display()
    );
    assert_eq!(read["content"], json!([{"type": "text", "text": shown}]));
    assert_eq!(read["isError"], false);
    let edited = talk.tool("edit", edit("one", "two"));
    let diffs = json!([{"path": "a.txt", "oldText": "one", "newText": "two"}]);
    assert_eq!(edited["_meta"]["dsh-fs/card"]["diffs"], diffs, "{edited}");
    assert_eq!(edited["_meta"].get("dsh-fs/error"), None);
    assert_eq!(edited.get("structuredContent"), None, "the value is not for the model");
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn an_error_is_a_result_that_says_name_and_code() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let mut talk = Talk::mcp(&folder);
    let refused = talk.tool("edit", edit("one", "two"));
    let message = format!(
        "edit requires reading \"{0}\" first — read the file, then retry\n\nCall read with file_path \"{0}\" (any part of it \
         will do), then send this edit again.",
        folder.path("a.txt").display()
    );
    assert_eq!(refused["isError"], true);
    assert_eq!(refused["content"][0]["text"], format!("Error: {message}"));
    let error = json!({"name": "FsError", "code": "FS_NOT_OBSERVED", "message": message});
    assert_eq!(refused["_meta"]["dsh-fs/error"], error);
    talk.tool("read", json!({"file_path": "a.txt"}));
    assert_eq!(talk.tool("edit", edit("one", "two"))["isError"], false, "it recovers by reading");
    assert_eq!(folder.read("a.txt"), "two\n");
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn calls_that_are_sent_without_waiting_are_made_in_order() {
    let folder = Folder::new();
    folder.write("a.txt", "0\n");
    let mut talk = Talk::mcp(&folder);
    talk.post_tool("read", json!({"file_path": "a.txt"}));
    let edits: Vec<i64> =
        (0..20).map(|n: i32| talk.post_tool("edit", edit(&n.to_string(), &(n + 1).to_string()))).collect();
    for _ in 0..=edits.len() {
        let answer = talk.hear();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    assert_eq!(folder.read("a.txt"), "20\n");
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn reads_overlap_and_a_change_waits_for_them() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    folder.sparse("long", &"0123456\n".repeat(1024), 64 << 30);
    let mut talk = Talk::mcp(&folder);
    let long = talk.post_tool("read", json!({"file_path": "long"}));
    let quick = talk.post_tool("read", json!({"file_path": "a.txt"}));
    let answer = talk.hear();
    assert_eq!(answer["id"], quick, "a short read does not wait for a long one");
    let change = talk.post_tool("edit", edit("one", "two"));
    let later = talk.post_tool("read", json!({"file_path": "a.txt"}));
    assert_eq!(talk.request("ping", json!({}))["result"], json!({}), "what is no call waits for nothing");
    assert_eq!(folder.read("a.txt"), "one\n", "the change has not been made yet");
    let started = Instant::now();
    talk.say(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": long}})
            .to_string()
            .as_bytes(),
    );
    let changed = talk.hear();
    assert_eq!((&changed["id"], &changed["result"]["isError"]), (&json!(change), &json!(false)), "{changed}");
    assert!(started.elapsed().as_secs() < 1, "{:?}", started.elapsed());
    let read = talk.hear();
    assert_eq!(read["id"], later);
    assert!(read["result"]["content"][0]["text"].as_str().unwrap().contains("1: two"), "{read}");
    // The cancelled call is never answered.
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn a_call_that_is_cancelled_while_it_waits_never_runs() {
    let folder = Folder::new();
    folder.sparse("long", &"0123456\n".repeat(1024), 64 << 30);
    let mut talk = Talk::mcp(&folder);
    let long = talk.post_tool("read", json!({"file_path": "long"}));
    let waiting = talk.post_tool("write", json!({"file_path": "n.txt", "content": "x"}));
    for id in [waiting, long] {
        talk.say(
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
                .to_string()
                .as_bytes(),
        );
    }
    assert_eq!(talk.tool("write", json!({"file_path": "m.txt", "content": "y"}))["isError"], false);
    assert_eq!(folder.names(), ["long", "m.txt"]);
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn the_end_of_input_stops_a_call_that_would_take_too_long() {
    let folder = Folder::new();
    folder.sparse("long", &"0123456\n".repeat(1024), 8 << 40);
    let mut talk = Talk::mcp(&folder);
    talk.post_tool("read", json!({"file_path": "long"}));
    assert!(talk.request("ping", json!({}))["result"].is_object());
    let started = Instant::now();
    assert_eq!(talk.close().code(), Some(0));
    assert!(started.elapsed().as_secs() < 12, "{:?}", started.elapsed());
}
