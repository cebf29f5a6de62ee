use dsh_harness::{Content, ErrorInfo, ToolResult};
use serde_json::{Value as Json, json};

use super::{Tone, lines};

fn drawn(card: &Json) -> Vec<(Tone, String)> {
    let result = ToolResult::success(vec![Content::text("seen\nby the model")], Json::Null);
    lines(Some(card), &result).into_iter().map(|line| (line.tone, line.text)).collect()
}

fn plain(text: &str) -> (Tone, String) {
    (Tone::Plain, text.to_owned())
}

#[test]
fn a_read_shows_numbered_lines_and_how_many_there_are() {
    let lines = json!([{ "number": 9, "text": "a" }, { "number": 10, "text": "" }]);
    let card = |total: u64| json!({ "card": "read", "lines": lines, "totalLines": total });
    assert_eq!(drawn(&card(2)), [plain("     9  a"), plain("    10  ")]);
    assert_eq!(drawn(&card(20))[2], (Tone::Dim, "2 of 20 lines".to_owned()));
}

#[test]
fn a_diff_shows_what_went_and_what_came_between_what_stayed() {
    let card = json!({ "card": "diff", "durable": false, "diffs": [
        { "path": "a", "oldText": "one\ntwo\nthree", "newText": "one\n2\nzwei\nthree" },
        { "path": "a", "oldText": null, "newText": "new" },
        { "path": "a", "oldText": "x\nx", "newText": "x" },
    ] });
    let signs = [
        plain("  one"),
        (Tone::Removed, "- two".to_owned()),
        (Tone::Added, "+ 2".to_owned()),
        (Tone::Added, "+ zwei".to_owned()),
        plain("  three"),
        (Tone::Dim, "⋯".to_owned()),
        (Tone::Added, "+ new".to_owned()),
        (Tone::Dim, "⋯".to_owned()),
        plain("  x"),
        (Tone::Removed, "- x".to_owned()),
        (Tone::Error, "in place, but it may not survive a power cut".to_owned()),
    ];
    assert_eq!(drawn(&card), signs);
}

#[test]
fn a_search_shows_paths_or_matches_under_their_file() {
    let paths =
        json!({ "card": "search", "shape": "paths", "paths": ["a", "b"], "truncated": true, "total": 9 });
    assert_eq!(drawn(&paths), [plain("a"), plain("b"), (Tone::Dim, "found in all: 9".to_owned())]);
    let matches = json!({
        "card": "search",
        "shape": "matches",
        "files": [{ "path": "a", "matches": [{ "lineNumber": 3, "line": "x" }] }],
        "truncated": false,
        "total": 1
    });
    assert_eq!(drawn(&matches), [(Tone::Title, "a".to_owned()), plain("     3  x")]);
}

#[test]
fn without_a_card_that_is_known_the_text_is_shown() {
    let text = [plain("seen"), plain("by the model")];
    assert_eq!(drawn(&json!({ "card": "generic" })), text);
    assert_eq!(drawn(&json!({ "card": "read", "lines": [{}], "totalLines": 1 })), text);
    let failed = ToolResult::failure(ErrorInfo::plain("no"));
    let shown = lines(None, &failed);
    assert_eq!((shown[0].tone, shown[0].text.as_str()), (Tone::Error, "Error: no"));
}
