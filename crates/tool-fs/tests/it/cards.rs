//! What user interfaces get to draw.

use dsh_harness::{Content, ErrorInfo, ToolResult};
use serde_json::{Value as Json, json};

use crate::rig::Rig;

fn call_card(rig: &Rig, tool: &str, args: &Json) -> Json {
    rig.tools.present_call(tool, args).unwrap()
}

#[tokio::test]
async fn a_read_call_names_its_window() {
    let rig = Rig::new([]).await;
    let title = |args: Json| call_card(&rig, "read", &args)["title"].clone();
    assert_eq!(title(json!({ "file_path": "a" })), "Read a");
    assert_eq!(title(json!({ "file_path": "a", "offset": 5 })), "Read a (from line 5)");
    assert_eq!(title(json!({ "file_path": "a", "limit": 10 })), "Read a (1 - 10)");
    assert_eq!(
        call_card(&rig, "read", &json!({ "file_path": "a", "offset": 5, "limit": 10 })),
        json!({
            "card": "generic",
            "title": "Read a (5 - 14)",
            "kind": "read",
            "locations": [{ "path": "a", "line": 5 }]
        })
    );
}

#[tokio::test]
async fn a_read_result_shows_the_body_without_the_envelope() {
    let rig = Rig::new([("a.RS", "fn x\n")]).await;
    let result = rig.read("a.RS").await;
    assert_eq!(
        rig.tools.present_result("read", &json!({ "file_path": "a.RS" }), &result),
        Some(json!({
            "card": "read",
            "path": "/w/a.RS",
            "offset": 1,
            "lines": [{ "number": 1, "text": "fn x" }],
            "totalLines": 1,
            "lang": "rs",
            "content": [{ "type": "text", "text": "1: fn x\n\n(End of file - total 1 lines)" }]
        }))
    );
}

#[tokio::test]
async fn a_read_result_that_was_tampered_with_has_no_card() {
    let rig = Rig::new([("a.txt", "a\nb\n")]).await;
    let args = json!({ "file_path": "a.txt" });
    let good = rig.read("a.txt").await;
    let card = |result: &ToolResult| rig.tools.present_result("read", &args, result);
    assert!(card(&good).is_some());
    let with_meta = |key: &str, value: Json| {
        let mut bad = good.clone();
        let mut meta = bad.meta().unwrap();
        meta[key] = value;
        bad.meta = Some(meta.into());
        bad
    };
    for (key, value) in [
        ("offset", json!(0)),
        ("offset", json!(2)),
        ("totalLines", json!(1)),
        ("lines", json!([{ "number": 2, "text": "b" }, { "number": 1, "text": "a" }])),
        ("path", json!(null)),
        ("lang", json!(1)),
    ] {
        assert_eq!(card(&with_meta(key, value.clone())), None, "{key} {value}");
    }
    let mut two_blocks = good.clone();
    two_blocks.content.push(Content::text("more"));
    assert_eq!(card(&two_blocks), None);
    assert_eq!(card(&ToolResult::failure(ErrorInfo::plain("x"))), None);
}

#[tokio::test]
async fn a_write_shows_hunks_or_the_whole_new_file() {
    let rig = Rig::new([("a.txt", "one\ntwo\n")]).await;
    let args = json!({ "file_path": "a.txt", "content": "one\n2\n" });
    assert_eq!(
        call_card(&rig, "write", &args),
        json!({
            "card": "diff",
            "title": "Write a.txt",
            "diffs": [{ "path": "a.txt", "oldText": null, "newText": "one\n2\n" }],
            "locations": [{ "path": "a.txt" }]
        })
    );
    rig.read("a.txt").await;
    let updated = rig.call("write", args.clone()).await;
    let card = |result: &ToolResult| rig.tools.present_result("write", &args, result);
    let diff = |old: Json, new: &str| json!({ "card": "diff", "title": "Write a.txt", "diffs": [{ "path": "a.txt", "oldText": old, "newText": new }] });
    assert_eq!(card(&updated), Some(diff(json!("one\ntwo"), "one\n2")));
    let identical = rig.call("write", args.clone()).await;
    assert_eq!(card(&identical), Some(diff(json!(null), "one\n2\n")));
    assert_eq!(card(&ToolResult::failure(ErrorInfo::plain("x"))), None);
}

#[tokio::test]
async fn an_edit_shows_its_hunks_or_nothing() {
    let rig = Rig::bare([("a.txt", "one\ntwo\n")]).await;
    let args = json!({ "file_path": "a.txt", "old_string": "two", "new_string": "2" });
    assert_eq!(
        call_card(&rig, "edit", &args)["diffs"],
        json!([{ "path": "a.txt", "oldText": "two", "newText": "2" }])
    );
    let edited = rig.call("edit", args.clone()).await;
    let card = |result: &ToolResult| rig.tools.present_result("edit", &args, result);
    assert_eq!(
        card(&edited),
        Some(json!({
            "card": "diff",
            "title": "Edit a.txt",
            "diffs": [{ "path": "a.txt", "oldText": "one\ntwo", "newText": "one\n2" }]
        }))
    );
    assert_eq!(
        card(&ToolResult { meta: Some(json!({ "diffs": [{ "path": 1 }] }).into()), ..edited.clone() }),
        None
    );
    assert_eq!(card(&ToolResult { meta: None, ..edited }), None);
}
