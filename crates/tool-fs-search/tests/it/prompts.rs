//! What a model is told before it calls anything, byte for byte.

use dsh_harness::{Annotations, Concurrency, SYSTEM_PROMPT};
use dsh_tool_fs_search::SearchConfig;
use serde_json::json;

use crate::rig::{Rig, config};

async fn sections(sample_over_cap: bool) -> Vec<(String, i32, String)> {
    let rig = Rig::new(SearchConfig::new(sample_over_cap)).await;
    let sections = rig.ctx.service(SYSTEM_PROMPT).unwrap().sections();
    sections.into_iter().filter(|(name, ..)| name.starts_with("tool:")).collect()
}

async fn schemas(config: SearchConfig) -> Vec<String> {
    let rig = Rig::new(config).await;
    let all = rig.tools.definitions();
    all.iter()
        .map(|tool| format!("{}: {}\n{}", tool.name, tool.description, tool.parameters.to_json()))
        .collect()
}

#[tokio::test]
async fn guidance_sections() {
    let glob = "Use the glob tool — not shell find — to discover files by path pattern. A pattern with no \"/\" matches \
                basenames at any depth, so \"*\" matches every file in the tree rather than its top level. Results are \
                files only, never directories, and include hidden and ignored files: a result that fits comes back in \
                modification-time order, ";
    let grep = "Use the grep tool — not shell grep or rg — to search file contents. Use read on a matched file when you \
                need surrounding context.";
    let sampled = "while a larger one is sampled across top-level entries, so it spans the tree instead of one subtree.";
    let head = "while a larger one keeps the modification-time-ordered head.";
    for (sample_over_cap, tail) in [(true, sampled), (false, head)] {
        assert_eq!(
            sections(sample_over_cap).await,
            [
                ("tool:glob".to_owned(), 103, format!("{glob}{tail}")),
                ("tool:grep".to_owned(), 104, grep.to_owned()),
            ]
        );
    }
}

const GLOB_PARAMETERS: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""pattern":{"type":"string","description":"Glob pattern to match file paths against (e.g. \"**/*.ts\", \"src/**/*.test.js\"). A pattern with no \"/\" matches the basename at any depth, so \"*\" and \"*.ts\" both search the whole tree; include a separator to anchor the depth."},"#,
    r#""path":{"type":"string","description":"Directory to search in. Defaults to the session workspace; a relative path resolves against it."}},"#,
    r#""required":["pattern"]}"#,
);

#[tokio::test]
async fn schemas_where_a_long_list_is_sampled() {
    assert_eq!(
        schemas(SearchConfig::new(true)).await,
        [
            format!(
                "glob: Find files whose paths match a glob pattern. Returns matching file paths — never directories — \
                 including hidden and ignored files (VCS metadata directories are excluded). Up to 100 paths come back \
                 in modification-time order; a larger result instead returns 100 paths sampled across top-level \
                 entries, says so, and reports where the complete sorted list was saved. This tool does not enumerate \
                 directory entries.\n{GLOB_PARAMETERS}"
            ),
            concat!(
                "grep: Search file contents with a ripgrep regular expression. Returns matching lines with line numbers, ",
                "grouped by file. Returns the first 250 matches inline; a capped result reports where the complete match ",
                "list was saved. Use read on a matched file for surrounding context.\n",
                r#"{"type":"object","properties":{"#,
                r#""pattern":{"type":"string","description":"Regular expression to search for (ripgrep syntax)."},"#,
                r#""path":{"type":"string","description":"File or directory to search. Defaults to the session workspace; a relative path resolves against it."},"#,
                r#""include":{"type":"string","description":"One glob filter for which files to search (e.g. \"*.ts\", \"*.{js,jsx}\"). Not a list; negation is not supported."}},"#,
                r#""required":["pattern"]}"#,
            )
            .to_owned(),
        ]
    );
}

#[tokio::test]
async fn schemas_where_the_head_of_a_long_list_is_shown() {
    let [glob, grep] =
        schemas(config(json!({ "globMaxResults": 7, "grepMaxMatches": 9 }))).await.try_into().unwrap();
    assert_eq!(
        glob,
        format!(
            "glob: Find files whose paths match a glob pattern. Returns matching file paths — never directories — \
             including hidden and ignored files (VCS metadata directories are excluded). Up to 7 paths come back in \
             modification-time order; a larger result returns the first 7 paths in modification-time order, says so, \
             and reports where the complete sorted list was saved. This tool does not enumerate directory \
             entries.\n{GLOB_PARAMETERS}"
        )
    );
    assert!(grep.contains("Returns the first 9 matches inline;"), "{grep}");
}

#[tokio::test]
async fn both_only_read_and_run_side_by_side() {
    let rig = Rig::new(SearchConfig::new(true)).await;
    for tool in rig.tools.definitions() {
        let read_only = Annotations { read_only: true, idempotent: true, ..Annotations::default() };
        assert_eq!(tool.annotations, read_only);
        assert_eq!(rig.tools.concurrency(&tool.name, &json!({ "pattern": "x" })), Concurrency::Parallel);
    }
}

#[tokio::test]
async fn everything_is_withdrawn_with_the_plugin() {
    let rig = Rig::new(SearchConfig::new(true)).await;
    assert_eq!(rig.tools.definitions().len(), 2);
    rig.plugin.dispose().await;
    assert_eq!(rig.tools.definitions().len(), 0);
    let sections = rig.ctx.service(SYSTEM_PROMPT).unwrap().sections();
    assert!(sections.iter().all(|(name, ..)| !name.starts_with("tool:")));
    let gone = rig.call("glob", json!({ "pattern": "*" })).await;
    assert_eq!(gone.text(), "Error: unknown tool \"glob\"");
}
