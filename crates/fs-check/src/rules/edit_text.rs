//! `edit_text`: literal replacement. (Guards: `guards`.)

use dsh_fs::EditOutcome;
use dsh_fs::FsErrorCode::{AmbiguousEdit, EditNotFound, NotRegularFile, NotText, StaleVersion};

use super::read_text::{NOT_TEXT, large_text};
use crate::{Case, refused};

/// Old bytes, `old_string`, `new_string`, new bytes.
type Row = (&'static str, &'static str, &'static str, &'static str);

async fn edits(case: &Case, rows: &[Row]) {
    for (bytes, old, new, expected) in rows {
        let target = case.file("a.txt", bytes).await;
        let outcome = case.edit(&target, old, new).await;
        let outcome = outcome.unwrap_or_else(|error| panic!("{old:?} to {new:?} in {bytes:?}: {error}"));
        case.holds("a.txt", expected).await;
        tells_the_truth(&outcome, bytes, expected);
    }
}

/// Asserts that an outcome's texts and spans are those of the file before and after.
fn tells_the_truth(outcome: &EditOutcome, bytes_before: &str, bytes_after: &str) {
    let lf = |bytes: &str| bytes.strip_prefix('\u{feff}').unwrap_or(bytes).replace("\r\n", "\n");
    let texts = &outcome.texts;
    assert_eq!(texts.before, lf(bytes_before));
    assert_eq!(texts.after, lf(bytes_after));
    let (mut before, mut after) = (0, 0);
    for change in &texts.changes {
        assert_eq!(texts.before[before..change.before.start], texts.after[after..change.after.start]);
        (before, after) = (change.before.end, change.after.end);
    }
    assert_eq!(texts.before[before..], texts.after[after..]);
}

/// The one match is replaced, at the start, in the middle, at the end, or the whole text; nothing deletes it.
pub async fn the_one_match_is_replaced(case: &Case) {
    edits(
        case,
        &[
            ("one two\n", "one", "1", "1 two\n"),
            ("one two three", "two", "a\nb", "one a\nb three"),
            ("one two", "two", "2", "one 2"),
            ("one", "one", "two", "two"),
            ("one two", " two", "", "one"),
            ("one", "one", "", ""),
            ("caf\u{e9} \u{1F600}!", "\u{1F600}", "\u{20ac}", "caf\u{e9} \u{20ac}!"),
        ],
    )
    .await;
}

/// Matching is literal: no pattern, no escape, no folding of case, quotes, blanks or Unicode forms.
pub async fn matching_is_literal(case: &Case) {
    edits(
        case,
        &[
            ("a.b axb", "a.b", "$& $1 \\0 ${x} $$", "$& $1 \\0 ${x} $$ axb"),
            ("a\\nb", "\\n", "\\t", "a\\tb"),
            ("[x]* (y)", "[x]*", "z", "z (y)"),
            ("e\u{301} \u{e9}", "\u{e9}", "E", "e\u{301} E"),
        ],
    )
    .await;
    for (bytes, old) in [
        ("one\ntwo", "one\\ntwo"),
        ("One", "one"),
        ("\u{201c}q\u{201d}", "\"q\""),
        ("\u{e9}", "e\u{301}"),
        ("a\tb", "a b"),
        ("a \nb", "a\nb"),
        ("", "a"),
    ] {
        let target = case.file("a.txt", bytes).await;
        refused(case.edit(&target, old, "new").await, EditNotFound);
        case.holds("a.txt", bytes).await;
    }
}

/// A `\n` in `old_string` matches `\n` and `\r\n`; one in `new_string` takes the ending of the matched span, else the
/// file's majority, else `\n`. Every other byte stays.
pub async fn line_endings_stay_as_they_are(case: &Case) {
    edits(
        case,
        &[
            ("a\r\nb\r\nc\n", "a\nb", "x\ny", "x\r\ny\r\nc\n"),
            ("a\nb\r\nc\r\nd\r\n", "a\nb", "x\ny", "x\ny\r\nc\r\nd\r\n"),
            ("a b\r\nc\r\nd\n", "a b", "a\nb", "a\r\nb\r\nc\r\nd\n"),
            ("a b\r\nc\n", "a b", "a\nb", "a\nb\r\nc\n"),
            ("a b", "a b", "a\nb", "a\nb"),
            ("a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"),
            ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
            ("a\rb\r\rc\r\nd\n", "c", "x", "a\rb\r\rx\r\nd\n"),
            ("a\rb", "\r", "\n", "a\nb"),
            ("a\nb", "\nb", "", "a"),
            ("a\r\n\r\nb", "a\n\nb", "a\nb", "a\r\nb"),
        ],
    )
    .await;
}

/// The byte order mark stays, is no part of what can be matched, and does not hide the first line.
pub async fn the_byte_order_mark_stays(case: &Case) {
    edits(case, &[("\u{feff}a\r\n", "a", "b\nc", "\u{feff}b\r\nc\r\n"), ("\u{feff}a", "a", "", "\u{feff}")])
        .await;
    let target = case.file("a.txt", "\u{feff}a").await;
    refused(case.edit(&target, "\u{feff}", "x").await, EditNotFound);
}

/// Several matches where one was meant are ambiguous; the file stays.
pub async fn several_matches_are_ambiguous(case: &Case) {
    for bytes in ["a a", "aa", "xaxaxa", "a\r\na\n"] {
        let target = case.file("a.txt", bytes).await;
        refused(case.edit(&target, "a", "b").await, AmbiguousEdit);
        case.holds("a.txt", bytes).await;
    }
}

/// Two matches that overlap are two: which was meant?
pub async fn overlapping_matches_are_ambiguous(case: &Case) {
    for (bytes, old) in
        [("aaa", "aa"), ("ababa", "aba"), ("x\r\n\r\n\r\ny", "\n\n"), ("\u{e9}\u{e9}\u{e9}", "\u{e9}\u{e9}")]
    {
        let target = case.file("a.txt", bytes).await;
        refused(case.edit(&target, old, "b").await, AmbiguousEdit);
        case.holds("a.txt", bytes).await;
    }
}

/// `replace_all` replaces left to right without overlap, each match with its own line ending.
pub async fn replace_all_replaces_every_match(case: &Case) {
    for (bytes, old, new, expected, changes) in [
        ("a a a", "a", "bb", "bb bb bb", 3),
        ("aaaaa", "aa", "b", "bba", 2),
        ("a", "a", "aa", "aa", 1),
        ("a\nb a\r\nb", "a\nb", "x\ny", "x\ny x\r\ny", 2),
        ("\u{feff}a,a", ",", "", "\u{feff}aa", 1),
    ] {
        let target = case.file("a.txt", bytes).await;
        let outcome = case.edit_all(&target, old, new).await.unwrap();
        case.holds("a.txt", expected).await;
        tells_the_truth(&outcome, bytes, expected);
        assert_eq!(outcome.texts.changes.len(), changes, "{bytes:?}");
    }
    let target = case.file("a.txt", "b").await;
    refused(case.edit_all(&target, "a", "c").await, EditNotFound);
}

/// Bytes that are not text cannot be edited; a late NUL is text, as for a read.
pub async fn what_is_not_text_cannot_be_edited(case: &Case) {
    for (_, bytes) in NOT_TEXT {
        let target = case.file("a.bin", bytes).await;
        refused(case.edit(&target, "a", "b").await, NotText);
        case.holds("a.bin", bytes).await;
    }
    let late = format!("one{}\0", "x".repeat(9000));
    let target = case.file("a.txt", &late).await;
    case.edit(&target, "one", "two").await.unwrap();
    case.holds("a.txt", late.replace("one", "two")).await;
}

/// A file that is absent is stale for an edit, and is not created.
pub async fn an_absent_file_is_stale(case: &Case) {
    let target = case.target("a.txt").await;
    refused(case.edit(&target, "a", "b").await, StaleVersion);
    case.absent("a.txt").await;
}

/// A folder cannot be edited.
pub async fn a_folder_cannot_be_edited(case: &Case) {
    case.put("d/a.txt", "x").await;
    refused(case.edit(&case.target("d").await, "a", "b").await, NotRegularFile);
}

/// A FIFO, socket or device cannot be edited, and is not waited for.
pub async fn a_special_file_cannot_be_edited(case: &Case) {
    case.able(case.ground.special("special").await);
    refused(case.edit(&case.target("special").await, "a", "b").await, NotRegularFile);
}

/// An edit in a large file changes its span and nothing else.
pub async fn a_large_file_is_edited(case: &Case) {
    let text = large_text();
    let target = case.file("a.txt", &text).await;
    let outcome = case.edit(&target, "\n17002 ", "\nseventeen\nthousand ").await.unwrap();
    let (head, tail) = text.split_once("\r\n17002 ").unwrap();
    let expected = format!("{head}\r\nseventeen\r\nthousand {tail}");
    assert!(case.ground.bytes("a.txt").await.unwrap() == expected.as_bytes(), "the bytes differ");
    tells_the_truth(&outcome, &text, &expected);
}

/// An edit through a link changes the file behind it; the link stays.
pub async fn links_stay_links(case: &Case) {
    case.put("d/a.txt", "one").await;
    case.able(case.ground.link("link", "d/a.txt").await);
    case.edit(&case.target("link").await, "one", "two").await.unwrap();
    case.holds("d/a.txt", "two").await;
    assert_eq!(case.ground.is_link("link").await, Ok(true));
}
