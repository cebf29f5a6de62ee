//! `patternHints`: what follows the refusal of a pattern.

use dsh_tool_fs_search::SearchConfig;
use serde_json::json;

use crate::rig::Rig;

#[tokio::test]
async fn a_hint_follows_the_refusal_after_a_blank_line_and_changes_nothing_of_it() {
    let plain = Rig::new(SearchConfig::new(false)).await;
    let hinted = Rig::new(SearchConfig { pattern_hints: true, ..SearchConfig::new(false) }).await;
    for (tool, args, hint) in [
        (
            "grep",
            json!({ "pattern": "call(x" }),
            "At fault: `(`, character 5. To find the text itself, use the pattern: call\\(x",
        ),
        (
            "grep",
            json!({ "pattern": "x", "include": "*.{ts" }),
            "At fault: `{`, character 3. To find the text itself, use the pattern: \\*.\\{ts",
        ),
        (
            "glob",
            json!({ "pattern": "a/[slug/p" }),
            "At fault: `[`, character 3. To find the text itself, use the pattern: a/\\[slug/p",
        ),
    ] {
        let before = plain.call(tool, args.clone()).await;
        let now = hinted.call(tool, args).await;
        assert_eq!(now.text(), format!("{}\n\n{hint}", before.text()));
        assert_eq!(now.error().unwrap().code.as_deref(), Some("SEARCH_INVALID_PATTERN"));
    }
}

#[tokio::test]
async fn the_pattern_of_a_hint_is_taken() {
    let rig = Rig::new(SearchConfig { pattern_hints: true, ..SearchConfig::new(false) }).await;
    for (tool, pattern) in [("grep", "a(b"), ("grep", "x{2,1}"), ("glob", "[a/b{"), ("glob", "a\\")] {
        let said = rig.call(tool, json!({ "pattern": pattern })).await.text();
        let (_, literal) = said.rsplit_once("use the pattern: ").unwrap();
        let again = rig.call(tool, json!({ "pattern": literal })).await;
        assert_eq!(again.error(), None, "{pattern}");
    }
}
