//! What a model sees of lines that were found.

use serde_json::{Value as Json, json};

use crate::rig::{config, matches, shown};

async fn text(settings: Json, value: Json) -> String {
    shown(config(settings), "grep", value).await.text()
}

const UNSAVED: &str =
    "(The complete result could not be saved; narrow pattern, path, or include to see more.)";

#[tokio::test]
async fn matches_are_grouped_by_file() {
    assert_eq!(text(json!({}), matches(&[])).await, "No matches found");
    assert_eq!(text(json!({}), matches(&[("a", 3, "x")])).await, "Found 1 match\n\na\nLine 3: x");
    assert_eq!(
        text(json!({}), matches(&[("b", 1, "x"), ("b", 9, ""), ("a/c", 2, "  y")])).await,
        "Found 3 matches\n\nb\nLine 1: x\nLine 9: \n\na/c\nLine 2:   y"
    );
    // Files stand where they are first named, whatever comes between.
    assert_eq!(
        text(json!({}), matches(&[("b", 1, "x"), ("a", 1, "y"), ("b", 2, "z")])).await,
        "Found 3 matches\n\nb\nLine 1: x\nLine 2: z\n\na\nLine 1: y"
    );
}

#[tokio::test]
async fn over_the_cap_the_first_matches_are_shown() {
    let value = || matches(&[("a", 1, "x"), ("b", 1, "x"), ("c", 1, "x")]);
    assert_eq!(
        text(json!({ "grepMaxMatches": 2 }), value()).await,
        format!("Found 2 of 3 matches\n\na\nLine 1: x\n\nb\nLine 1: x\n\n{UNSAVED}")
    );
    assert_eq!(
        text(json!({ "grepMaxMatches": 1 }), value()).await,
        format!("Found 1 of 3 matches\n\na\nLine 1: x\n\n{UNSAVED}")
    );
    assert!(text(json!({ "grepMaxMatches": 3 }), value()).await.starts_with("Found 3 matches\n"));
}

#[tokio::test]
async fn matches_that_were_only_counted_are_named() {
    let mut value = matches(&[("a", 1, "x"), ("a", 2, "x")]);
    value["total"] = json!(1_000_000);
    assert_eq!(
        text(json!({}), value).await,
        format!("Found 2 of 1000000 matches\n\na\nLine 1: x\nLine 2: x\n\n{UNSAVED}")
    );
}

#[tokio::test]
async fn long_lines_are_cut_at_a_character() {
    assert_eq!(
        text(json!({ "grepMaxLineBytes": 10 }), matches(&[("a", 1, "日本語日本語"), ("a", 2, "abcdefghij")]))
            .await,
        "Found 2 matches\n\na\nLine 1: 日本語 (line truncated)\nLine 2: abcdefghij"
    );
}

#[tokio::test]
async fn notices_come_last() {
    let with_notices =
        |matches: Json| json!({ "matches": matches["matches"], "notices": ["(One.)", "(Two.)"] });
    assert_eq!(text(json!({}), with_notices(matches(&[]))).await, "No matches found\n(One.)\n(Two.)");
    let two = with_notices(matches(&[("a", 1, "x"), ("a", 2, "x")]));
    assert_eq!(
        text(json!({}), two.clone()).await,
        "Found 2 matches\n\na\nLine 1: x\nLine 2: x\n\n(One.)\n(Two.)"
    );
    assert_eq!(
        text(json!({ "grepMaxMatches": 1 }), two).await,
        format!("Found 1 of 2 matches\n\na\nLine 1: x\n\n{UNSAVED}\n\n(One.)\n(Two.)")
    );
}
