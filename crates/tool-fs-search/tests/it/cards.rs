//! What user interfaces get to draw.

use dsh_harness::{ErrorInfo, Meta, ToolResult};
use dsh_tool_fs_search::SearchConfig;
use serde_json::{Value as Json, json};

use crate::rig::{Rig, config, matches, paths, shown};

#[tokio::test]
async fn a_call_names_pattern_place_and_filter() {
    let rig = Rig::new(SearchConfig::new(true)).await;
    let card = |tool: &str, args: Json| rig.tools.present_call(tool, &args).unwrap();
    assert_eq!(
        card("glob", json!({ "pattern": "*.rs" })),
        json!({ "card": "generic", "title": "Glob *.rs", "kind": "search", "rawInput": "*.rs" })
    );
    assert_eq!(card("glob", json!({ "pattern": "*", "path": "src" }))["title"], "Glob * in src");
    assert_eq!(
        card("grep", json!({ "pattern": "x" })),
        json!({ "card": "generic", "title": "Grep x", "kind": "search", "rawInput": "x" })
    );
    assert_eq!(card("grep", json!({ "pattern": "x", "include": "*.rs" }))["title"], "Grep x (*.rs)");
    let all = json!({ "pattern": "x", "path": "src", "include": "*.rs" });
    assert_eq!(card("grep", all)["title"], "Grep x in src (*.rs)");
}

#[tokio::test]
async fn a_result_keeps_what_was_shown() {
    let meta = async |settings: Json, tool: &str, value: Json| {
        shown(config(settings), tool, value).await.meta().unwrap()
    };
    let three = paths(&["a/1", "a/2", "b"]);
    assert_eq!(
        meta(json!({}), "glob", three.clone()).await.to_string(),
        r#"{"shape":"paths","paths":["a/1","a/2","b"],"truncated":false,"total":3}"#
    );
    let sampled = json!({ "globMaxResults": 2, "sampleOverCapGlobResults": true });
    assert_eq!(
        meta(sampled, "glob", three).await,
        json!({ "shape": "paths", "paths": ["a/1", "b"], "truncated": true, "total": 3 })
    );
    assert_eq!(
        meta(json!({}), "glob", paths(&[])).await,
        json!({ "shape": "paths", "paths": [], "truncated": false, "total": 0 })
    );

    let found = matches(&[("a", 1, "abcdef"), ("a", 2, "y"), ("b", 3, "z")]);
    assert_eq!(
        meta(json!({ "grepMaxLineBytes": 3 }), "grep", found.clone()).await.to_string(),
        concat!(
            r#"{"shape":"matches","files":[{"path":"a","matches":[{"lineNumber":1,"line":"abc (line truncated)"},"#,
            r#"{"lineNumber":2,"line":"y"}]},{"path":"b","matches":[{"lineNumber":3,"line":"z"}]}],"#,
            r#""truncated":false,"total":3}"#,
        )
    );
    assert_eq!(
        meta(json!({ "grepMaxMatches": 1 }), "grep", found.clone()).await,
        json!({
            "shape": "matches",
            "files": [{ "path": "a", "matches": [{ "lineNumber": 1, "line": "abcdef" }] }],
            "truncated": true,
            "total": 3
        })
    );
    let mut counted = found;
    counted["total"] = json!(9);
    let counted = meta(json!({}), "grep", counted).await;
    assert_eq!((&counted["truncated"], &counted["total"]), (&json!(true), &json!(9)));
}

#[tokio::test]
async fn what_is_kept_is_bounded() {
    let all = r#"{"shape":"paths","paths":["aaaa","b\"bb","cccc"],"truncated":false,"total":3}"#;
    let two = r#"{"shape":"paths","paths":["aaaa","b\"bb"],"truncated":true,"total":3}"#;
    let one = r#"{"shape":"paths","paths":["aaaa"],"truncated":true,"total":3}"#;
    for (most, kept) in [
        (all.len(), all),
        (all.len() - 1, two),
        (two.len(), two),
        (two.len() - 1, one),
        (one.len(), one),
        // One is kept however small the bound.
        (1, one),
    ] {
        let result =
            shown(config(json!({ "searchMetaMaxBytes": most })), "glob", paths(&["aaaa", "b\"bb", "cccc"]))
                .await;
        assert_eq!(result.meta().unwrap().to_string(), kept, "{most}");
        // What the model sees is not bounded by it.
        assert_eq!(result.content[0].as_text(), Some("aaaa\nb\"bb\ncccc"));
    }
    let single = shown(config(json!({ "searchMetaMaxBytes": 1 })), "glob", paths(&["a"])).await;
    assert_eq!(
        single.meta().unwrap(),
        json!({ "shape": "paths", "paths": ["a"], "truncated": true, "total": 1 })
    );
    // Whole files are dropped, never part of one.
    let found = matches(&[("a", 1, "x"), ("a", 2, "x"), ("b", 3, "z"), ("b", 4, "z")]);
    let result = shown(config(json!({ "searchMetaMaxBytes": 150 })), "grep", found).await;
    assert_eq!(
        result.meta().unwrap(),
        json!({
            "shape": "matches",
            "files": [{ "path": "a", "matches": [
                { "lineNumber": 1, "line": "x" },
                { "lineNumber": 2, "line": "x" }
            ] }],
            "truncated": true,
            "total": 4
        })
    );
}

#[tokio::test]
async fn a_result_card_is_what_was_kept() {
    let rig = Rig::new(SearchConfig::new(true)).await;
    let args = json!({ "pattern": "x" });
    for (tool, value) in [
        ("glob", paths(&["a", "b"])),
        ("glob", paths(&[])),
        ("grep", matches(&[("a", 1, "x")])),
        ("grep", matches(&[])),
    ] {
        let result = shown(SearchConfig::new(true), tool, value).await;
        let mut expected = json!({ "card": "search" });
        expected.as_object_mut().unwrap().extend(result.meta().unwrap().as_object().unwrap().clone());
        assert_eq!(rig.tools.present_result(tool, &args, &result), Some(expected));
        // The other tool's result is none of this one's.
        let other = if tool == "glob" { "grep" } else { "glob" };
        assert_eq!(rig.tools.present_result(other, &args, &result), None);
    }
}

#[tokio::test]
async fn a_result_that_was_tampered_with_has_no_card() {
    let rig = Rig::new(SearchConfig::new(true)).await;
    let args = json!({ "pattern": "x" });
    let none = |tool: &str, meta: Option<Json>| {
        let result =
            ToolResult { meta: meta.clone().map(Meta::from), ..ToolResult::success(Vec::new(), Json::Null) };
        assert_eq!(rig.tools.present_result(tool, &args, &result), None, "{meta:?}");
    };
    for meta in [None, Some(json!(null)), Some(json!([])), Some(json!("paths")), Some(json!({}))] {
        none("glob", meta.clone());
        none("grep", meta);
    }
    let glob = json!({ "shape": "paths", "paths": ["a"], "truncated": false, "total": 1 });
    let grep = json!({
        "shape": "matches",
        "files": [{ "path": "a", "matches": [{ "lineNumber": 1, "line": "x" }] }],
        "truncated": false,
        "total": 1
    });
    for (tool, good, list) in [("glob", glob, "paths"), ("grep", grep, "files")] {
        for (key, value) in [
            ("shape", json!("other")),
            ("truncated", json!("no")),
            ("total", json!("1")),
            (list, json!({})),
            (list, json!([1])),
            (list, json!([{ "path": 1, "matches": [] }])),
            (list, json!([{ "path": "a", "matches": [{ "lineNumber": "1", "line": "x" }] }])),
            (list, json!([{ "path": "a", "matches": [{ "lineNumber": 1 }] }])),
        ] {
            let mut bad = good.clone();
            bad[key] = value;
            none(tool, Some(bad));
        }
        let failed = ToolResult { meta: Some(good.into()), ..ToolResult::failure(ErrorInfo::plain("x")) };
        assert_eq!(rig.tools.present_result(tool, &args, &failed), None);
    }
}
