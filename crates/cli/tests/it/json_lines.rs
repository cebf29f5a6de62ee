//! `JsonLines`: the lines of `dsh-fs run`, on a composition of one's own.

use std::path::PathBuf;
use std::sync::Arc;

use dsh_cli::JsonLines;
use dsh_fs::{FS, MemoryFileSystem};
use dsh_harness::{HarnessConfig, HarnessPlugin, TOOLS};
use dsh_plugin::Context;
use dsh_tool_fs::{ToolFsConfig, ToolFsPlugin};
use serde_json::{Value as Json, json};

/// The answers to these lines, of tools on a file `/w/a.txt` in memory that says `one`.
fn answers<const N: usize>(values: bool, lines: [&[u8]; N]) -> [Json; N] {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let ctx = Context::root();
        ctx.plugin(HarnessPlugin, HarnessConfig::default()).await.unwrap();
        ctx.provide(FS, Arc::new(MemoryFileSystem::with_files([("/w/a.txt", "one\n")]))).unwrap();
        ctx.plugin(ToolFsPlugin, ToolFsConfig::default()).await.unwrap();
        let mut door = JsonLines::new(ctx.service(TOOLS).unwrap(), PathBuf::from("/w"), values);
        let mut answers = [const { Json::Null }; N];
        for (answer, line) in answers.iter_mut().zip(lines) {
            *answer = serde_json::from_str(door.answer(line).await.get()).unwrap();
        }
        answers
    })
}

#[test]
fn lines_are_answered_by_whatever_tools_are_mounted() {
    let [done, batch] = answers(
        false,
        [
            br#"{"tool":"edit","args":{"file_path":"a.txt","old_string":"one","new_string":"two"},"id":1}"#,
            b"{\"calls\":[{\"tool\":\"nope\",\"id\":2}],\"id\":3}\n",
        ],
    );
    let diffs = json!([{"path": "a.txt", "oldText": "one", "newText": "two"}]);
    assert_eq!(
        done,
        json!({
            "content": "The file /w/a.txt has been updated successfully.",
            "isError": false,
            "meta": {"diffs": diffs},
            "id": 1,
        })
    );
    assert_eq!((&batch["id"], &batch["results"][0]["id"]), (&json!(3), &json!(2)));
    assert_eq!(batch["results"][0]["error"]["code"], "UNKNOWN_TOOL");
}

#[test]
fn a_line_that_is_no_request_has_an_answer() {
    let [blank, cut, not_text] = answers(false, [b"\n", br#"{"id":5"#, b"\xFF"]);
    for answer in [blank, cut, not_text] {
        assert_eq!(answer["error"]["code"], "INVALID_REQUEST", "{answer}");
    }
}

#[test]
fn values_are_there_on_request() {
    let read: &[u8] = br#"{"tool":"read","args":{"file_path":"a.txt"}}"#;
    let [without] = answers(false, [read]);
    let [with] = answers(true, [read]);
    assert_eq!(without.get("value"), None);
    assert_eq!(with["value"]["lines"], json!([{"number": 1, "text": "one"}]));
}
