//! Arguments that are refused before anything is searched.

use dsh_tool_fs_search::SearchConfig;
use serde_json::{Value as Json, json};

use crate::rig::Rig;

async fn refusals(tool: &str, cases: &[(Json, &str)]) {
    let rig = Rig::new(SearchConfig::new(true)).await;
    for (args, message) in cases {
        let result = rig.call(tool, args.clone()).await;
        let error = result.error().unwrap_or_else(|| panic!("{args} is taken"));
        assert_eq!(
            (error.code.as_deref(), error.message.as_str()),
            (Some("INVALID_ARGS"), *message),
            "{args}"
        );
        assert_eq!(error.name.as_deref(), Some("ToolArgsError"));
    }
}

#[tokio::test]
async fn glob_takes_one_positive_pattern_below_its_path() {
    let empty = "pattern must be a non-empty string";
    let negated = "pattern must be a positive glob; negated patterns (\"!…\") are not supported";
    let list = "pattern must be one glob, not a comma-separated list (use {a,b} alternation instead)";
    let climbs = "pattern must not climb out of the search root with \"..\"; give the folder as path instead";
    refusals(
        "glob",
        &[
            (json!({}), "invalid arguments: missing required property \"pattern\""),
            (json!({ "pattern": 5 }), "invalid arguments: \"pattern\" must be a string"),
            (json!({ "pattern": "*", "path": null }), "invalid arguments: \"path\" must be a string"),
            (json!({ "pattern": "" }), empty),
            (json!({ "pattern": " \t", "path": "" }), empty),
            (json!({ "pattern": "*", "path": " " }), "path must be a non-empty string when given"),
            (json!({ "pattern": "!*.rs,*.ts" }), negated),
            (json!({ "pattern": "*.rs,../*.ts" }), list),
            (json!({ "pattern": "{a,b},c" }), list),
            (json!({ "pattern": "../*" }), climbs),
            (json!({ "pattern": "src/../*" }), climbs),
            (json!({ "pattern": ".." }), climbs),
        ],
    )
    .await;
}

#[tokio::test]
async fn grep_takes_one_positive_include() {
    let negated = "include must be a positive glob filter; negated patterns (\"!…\") are not supported";
    let list = "include must be one glob, not a comma-separated list (use {a,b} alternation instead)";
    refusals(
        "grep",
        &[
            (json!({}), "invalid arguments: missing required property \"pattern\""),
            (json!({ "pattern": "", "path": "", "include": "" }), "pattern must be a non-empty string"),
            (
                json!({ "pattern": " ", "path": " ", "include": "" }),
                "path must be a non-empty string when given",
            ),
            (json!({ "pattern": "a", "include": " " }), "include must be a non-empty glob when given"),
            (json!({ "pattern": "a", "include": "!*.ts,*.js" }), negated),
            (json!({ "pattern": "a", "include": "*.ts,*.js" }), list),
            (json!({ "pattern": "a", "include": "{a,b}},c" }), list),
            (json!({ "pattern": "a", "include": "a\\,b" }), list),
        ],
    )
    .await;
}
