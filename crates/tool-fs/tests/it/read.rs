use dsh_harness::Concurrency;
use dsh_tool_fs::ToolFsConfig;
use serde_json::json;

use crate::rig::{Rig, assert_error, assert_text};

#[tokio::test]
async fn shows_numbered_lines_and_a_footer() {
    let rig = Rig::new([("a.txt", "one\ntwo\r\nthree")]).await;
    let result = rig.read("a.txt").await;
    assert_text(
        &result,
        "<path>/w/a.txt</path>\n<type>file</type>\n<content>\n1: one\n2: two\n3: three\n\n(End of file - total 3 \
         lines)\n</content>",
    );
    assert_eq!(
        result.value(),
        Some(json!({
            "path": "/w/a.txt",
            "offset": 1,
            "lines": [
                { "number": 1, "text": "one" },
                { "number": 2, "text": "two" },
                { "number": 3, "text": "three" }
            ],
            "totalLines": 3
        }))
    );
}

#[tokio::test]
async fn offset_and_limit_may_be_written_as_whole_decimals() {
    let rig = Rig::new([("a.txt", "a\nb\nc\n")]).await;
    let result = rig.call("read", json!({ "file_path": "a.txt", "offset": 2.0, "limit": 1 })).await;
    assert_text(
        &result,
        "<path>/w/a.txt</path>\n<type>file</type>\n<content>\n2: b\n\n(Showing lines 2-2 of 3. Use offset=3 to \
         continue.)\n</content>",
    );
}

#[tokio::test]
async fn an_offset_out_of_range_is_printed_as_javascript_would() {
    let rig = Rig::new([("a.txt", "a\n")]).await;
    for (offset, printed) in [("2.0", "2"), ("9007199254740992", "9007199254740992"), ("1e308", "1e+308")] {
        let args = serde_json::from_str(&format!(r#"{{"file_path":"a.txt","offset":{offset}}}"#)).unwrap();
        let text = format!("Error: offset {printed} is out of range for \"/w/a.txt\" (1 lines)");
        assert_error(&rig.call("read", args).await, "FS_NOT_FOUND", &text);
    }
}

#[tokio::test]
async fn bad_values_are_refused_one_by_one() {
    let rig = Rig::new([("a.txt", "a\n")]).await;
    for (args, message) in [
        (json!({ "file_path": "  " }), "file_path must be a non-empty string"),
        (json!({ "file_path": "a.txt", "offset": 0 }), "offset must be a positive integer"),
        (json!({ "file_path": "a.txt", "offset": 1.5 }), "offset must be a positive integer"),
        (json!({ "file_path": "a.txt", "limit": -3 }), "limit must be a positive integer"),
        (json!({ "file_path": "a.txt", "limit": 2001 }), "limit must be less than or equal to 2000"),
        (json!({ "file_path": 1 }), "invalid arguments: \"file_path\" must be a string"),
        (json!({}), "invalid arguments: missing required property \"file_path\""),
        (json!({ "file_path": "a.txt", "limit": null }), "invalid arguments: \"limit\" must be a number"),
    ] {
        let result = rig.call("read", args).await;
        assert_error(&result, "INVALID_ARGS", &format!("Error: {message}"));
        assert_eq!(result.error().unwrap().name.as_deref(), Some("ToolArgsError"));
    }
}

#[tokio::test]
async fn what_is_not_a_text_file_is_refused_by_kind() {
    let rig = Rig::new([("dir/a.txt", "a\n")]).await;
    rig.put("nul", b"a\0b");
    rig.put("latin", b"caf\xE9");
    assert_error(&rig.read("nope").await, "FS_NOT_FOUND", "Error: cannot read \"/w/nope\": not found");
    assert_error(
        &rig.read("dir").await,
        "FS_NOT_REGULAR_FILE",
        "Error: cannot read \"/w/dir\": not a regular file",
    );
    assert_error(&rig.read("nul").await, "FS_NOT_TEXT", "Error: cannot read \"/w/nul\": binary file");
    assert_error(
        &rig.read("latin").await,
        "FS_NOT_TEXT",
        "Error: cannot read \"/w/latin\": invalid UTF-8 text",
    );
}

#[tokio::test]
async fn a_read_takes_one_stat_and_a_mutation_none() {
    let rig = Rig::new([("a.txt", "a\n")]).await;
    rig.read("a.txt").await;
    assert_eq!(rig.files.stats(), 1);
    rig.read("missing.txt").await;
    assert_eq!(rig.files.stats(), 1);
    assert!(!rig.edit("a.txt", "a", "b").await.is_error());
    assert!(!rig.write("a.txt", "c\n").await.is_error());
    assert!(!rig.write("missing.txt", "d\n").await.is_error());
    assert_eq!(rig.files.stats(), 0);
}

#[tokio::test]
async fn streamed_and_whole_files_show_the_same_window() {
    let config = ToolFsConfig { read_stream_min_size: 1.try_into().unwrap(), ..ToolFsConfig::default() };
    let streamed = Rig::build([("a.txt", "\u{feff}a\r\nb\n")], true, config).await;
    let whole = Rig::new([("a.txt", "\u{feff}a\r\nb\n")]).await;
    assert_eq!(streamed.read("a.txt").await.text(), whole.read("a.txt").await.text());
    // And a streamed read licenses an edit like any other.
    assert!(!streamed.edit("a.txt", "a", "A").await.is_error());
    assert_eq!(streamed.text("a.txt").unwrap(), "\u{feff}A\r\nb\n");
}

#[tokio::test]
async fn reads_may_overlap_and_mutations_may_not() {
    let rig = Rig::new([]).await;
    let class = |tool: &str, args| rig.tools.get(tool).unwrap().concurrency(&args);
    assert_eq!(class("read", json!({ "file_path": "a" })), Concurrency::Parallel);
    assert_eq!(class("write", json!({ "file_path": "a", "content": "" })), Concurrency::Exclusive);
    let edit = json!({ "file_path": "a", "old_string": "a", "new_string": "b" });
    assert_eq!(class("edit", edit), Concurrency::Exclusive);
}

#[tokio::test]
async fn what_a_read_shows_pasted_as_old_string_matches() {
    let text = "\u{feff}fn main() {\r\n\tprintln!(\"a\");\r\n}\nlast — line\r\n";
    let rig = Rig::new([("a.rs", text)]).await;
    let value = rig.read("a.rs").await.value().unwrap();
    let lines: Vec<&str> =
        value["lines"].as_array().unwrap().iter().map(|l| l["text"].as_str().unwrap()).collect();
    for from in 0..lines.len() {
        for to in from + 1..=lines.len() {
            let rig = Rig::new([("a.rs", text)]).await;
            rig.read("a.rs").await;
            let pasted = lines[from..to].join("\n");
            let result = rig.edit("a.rs", &pasted, "").await;
            assert!(!result.is_error(), "{pasted:?}: {}", result.text());
        }
    }
}
