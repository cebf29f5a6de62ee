use dsh_tool_fs::ToolFsConfig;
use serde_json::{Value as Json, json};

use crate::rig::{Rig, assert_error, assert_text};

fn config(settings: Json) -> Result<ToolFsConfig, String> {
    serde_json::from_value(settings).map_err(|error| error.to_string())
}

#[test]
fn defaults_are_the_shipped_limits() {
    let default = config(json!({})).unwrap();
    assert_eq!(default, ToolFsConfig::default());
    let ToolFsConfig {
        read_limit,
        read_max_line_length,
        read_max_bytes,
        read_stream_min_size,
        require_guard,
        edit_hints,
    } = default;
    assert_eq!(
        (
            read_limit.get(),
            read_max_line_length.get(),
            read_max_bytes.get(),
            read_stream_min_size.get(),
            require_guard,
            edit_hints
        ),
        (2000, 2000, 51_200, 10_485_760, false, false)
    );
}

#[test]
fn a_limit_that_is_no_positive_integer_is_refused_by_name() {
    for key in ["readLimit", "readMaxLineLength", "readMaxBytes", "readStreamMinSize"] {
        for value in [json!(0), json!(2.5), json!(-1)] {
            let refused = config(json!({ key: value })).unwrap_err();
            assert_eq!(refused, format!("tool-fs: {key} must be a positive integer"));
        }
    }
}

#[tokio::test]
async fn the_read_limit_is_default_cap_and_schema_text() {
    let rig = Rig::build([("a.txt", "a\nb\nc\n")], true, config(json!({ "readLimit": 2 })).unwrap()).await;
    assert_text(
        &rig.read("a.txt").await,
        "<path>/w/a.txt</path>\n<type>file</type>\n<content>\n1: a\n2: b\n\n(Showing lines 1-2 of 3. Use offset=3 to \
         continue.)\n</content>",
    );
    let too_many = rig.call("read", json!({ "file_path": "a.txt", "limit": 3 })).await;
    assert_error(&too_many, "INVALID_ARGS", "Error: limit must be less than or equal to 2");
    let schema = rig.tools.get("read").unwrap().definition().parameters.to_json();
    assert_eq!(
        schema["properties"]["limit"]["description"],
        "Maximum number of lines to return. Defaults to 2."
    );
}
