//! What matches, what changes, and that nothing else does.

use dsh_fs::line_endings::to_lf;
use dsh_fs::literal_edit::{Change, Edited, EditedTexts, InvalidEdit, LiteralEdit, NoSingleMatch, Piece};
use proptest::prelude::*;

use crate::arbitrary::{any_text, cases, short_text};

fn one(text: &str, old: &str, new: &str) -> Result<String, usize> {
    raw(LiteralEdit::new(old, new, false).unwrap().apply(text))
}

fn all(text: &str, old: &str, new: &str) -> Result<String, usize> {
    raw(LiteralEdit::new(old, new, true).unwrap().apply(text))
}

fn raw(result: Result<Edited, NoSingleMatch>) -> Result<String, usize> {
    result.map(|edited| whole(&edited)).map_err(|miss| miss.matches)
}

fn whole(edited: &Edited) -> String {
    edited.pieces().map(Piece::text).collect()
}

#[test]
fn requests_are_checked_when_made() {
    assert_eq!(LiteralEdit::new("", "a", false), Err(InvalidEdit::EmptyOldString));
    assert_eq!(LiteralEdit::new("a", "a", true), Err(InvalidEdit::SameText));
    assert_eq!(LiteralEdit::new("a\r\nb", "a\nb", false), Err(InvalidEdit::SameText), "line endings aside");
    assert!(LiteralEdit::new("a\rb", "a\nb", false).is_ok(), "a lone CR is no line ending");
    assert!(LiteralEdit::new("a", "", false).is_ok());
    assert_eq!(InvalidEdit::EmptyOldString.to_string(), "old_string must be a non-empty string");
    assert_eq!(InvalidEdit::SameText.to_string(), "old_string and new_string must differ");
}

#[test]
fn one_match_is_replaced() {
    assert_eq!(one("a b c", "b", "x"), Ok("a x c".into()));
    assert_eq!(one("abc", "abc", ""), Ok(String::new()));
    assert_eq!(one("a\u{1F600}b", "\u{1F600}", "\u{e9}"), Ok("a\u{e9}b".into()));
    assert_eq!(one("a b", "b", "$& $1 \\n"), Ok("a $& $1 \\n".into()));
    assert_eq!(one("no end", "end", "end\n"), Ok("no end\n".into()));
}

#[test]
fn what_is_not_there_is_not_found() {
    for (text, old) in [
        ("", "a"),
        ("A", "a"),
        ("e\u{301}", "\u{e9}"),
        ("a\nb", "a\\nb"),
        ("a\rb", "a\nb"),
        ("a\r\nb", "a\rb"),
    ] {
        assert_eq!(one(text, old, "x"), Err(0), "{old:?} in {text:?}");
        assert_eq!(all(text, old, "x"), Err(0), "{old:?} in {text:?}");
    }
}

#[test]
fn the_count_is_what_replace_all_would_replace() {
    assert_eq!(one("a a a", "a", "x"), Err(3));
    assert_eq!(one("aaaa", "aa", "x"), Err(2));
    assert_eq!(one("aaaaa", "aa", "x"), Err(2));
    assert_eq!(one("aaaaaa", "aa", "x"), Err(3));
    assert_eq!(all("aaaaa", "aa", "x"), Ok("xxa".into()));
}

#[test]
fn two_places_that_overlap_are_two() {
    assert_eq!(one("aaa", "aa", "x"), Err(2));
    assert_eq!(one("ababa", "aba", "x"), Err(2));
    assert_eq!(one("\u{e9}\u{e9}\u{e9}", "\u{e9}\u{e9}", "x"), Err(2));
    assert_eq!(one("\r\n\r\n\r\n", "\n\n", "x"), Err(2));
    assert_eq!(one("aab", "aa", "x"), Ok("xb".into()));
    assert_eq!(all("aaa", "aa", "x"), Ok("xa".into()));
}

#[test]
fn a_newline_matches_either_ending() {
    assert_eq!(one("a\r\nb", "a\nb", "x"), Ok("x".into()));
    assert_eq!(one("a\nb", "a\r\nb", "x"), Ok("x".into()));
    assert_eq!(all("a\nb a\r\nb", "a\nb", "x"), Ok("x x".into()));
}

#[test]
fn a_new_newline_takes_the_ending_of_its_match() {
    assert_eq!(one("a\r\nb\nc\nd\n", "a\nb", "x\ny\nz"), Ok("x\r\ny\r\nz\nc\nd\n".into()));
    assert_eq!(one("a\nb\r\nc\r\n", "a\nb", "x\ny"), Ok("x\ny\r\nc\r\n".into()));
    assert_eq!(all("a\nb\r\na\r\nb", "a\nb", "x\ny"), Ok("x\ny\r\nx\r\ny".into()));
    assert_eq!(
        one("a\r\nb\r\nc\nd", "a\nb\nc\nd", "x\ny"),
        Ok("x\r\ny".into()),
        "the majority inside the match"
    );
}

#[test]
fn else_it_takes_the_majority_of_the_file() {
    assert_eq!(one("a b\r\nc\r\nd\n", "a b", "a\nb"), Ok("a\r\nb\r\nc\r\nd\n".into()));
    assert_eq!(one("a b\r\nc\nd\n", "a b", "a\nb"), Ok("a\nb\r\nc\nd\n".into()));
    assert_eq!(one("a b\r\nc\n", "a b", "a\nb"), Ok("a\nb\r\nc\n".into()), "a tie is LF");
    assert_eq!(one("a b", "a b", "a\nb"), Ok("a\nb".into()), "nothing is LF");
    assert_eq!(
        one("a\nb\r\nx\r\ny\r\n", "a\nb\nx", "p\nq"),
        Ok("p\r\nq\r\ny\r\n".into()),
        "2 of 3 in the match"
    );
    assert_eq!(
        one("a\nb\r\nc\r\n", "a\nb\nc", "p\nq"),
        Ok("p\r\nq\r\n".into()),
        "a tie in the match, then the file"
    );
}

#[test]
fn everything_else_stays_byte_for_byte() {
    assert_eq!(one("a\rb\r\r\nX\n\r\nend", "X", "y"), Ok("a\rb\r\r\ny\n\r\nend".into()));
    assert_eq!(one("\r\nX\r\n\n", "X", ""), Ok("\r\n\r\n\n".into()));
    assert_eq!(one("\u{feff}inside X", "X", "y"), Ok("\u{feff}inside y".into()));
}

#[test]
fn the_outcome_tells_spans() {
    let edited = LiteralEdit::new("b\n", "\u{e9}\n\n", true).unwrap().apply("ab\r\nab\nc\r\n").unwrap();
    assert_eq!(whole(&edited), "a\u{e9}\r\n\r\na\u{e9}\n\nc\r\n");
    assert_eq!(
        edited.into_texts(),
        EditedTexts {
            before: "ab\nab\nc\n".to_owned(),
            after: "a\u{e9}\n\na\u{e9}\n\nc\n".to_owned(),
            changes: vec![Change { before: 1..3, after: 1..5 }, Change { before: 4..6, after: 6..10 }],
        }
    );
}

#[test]
fn a_byte_order_mark_stays_and_is_not_part_of_the_text() {
    let edited = LiteralEdit::new("a", "b", false).unwrap().apply("\u{feff}a").unwrap();
    assert_eq!(whole(&edited), "\u{feff}b");
    assert_eq!(
        edited.into_texts(),
        EditedTexts {
            before: "a".to_owned(),
            after: "b".to_owned(),
            changes: vec![Change { before: 0..1, after: 0..1 }]
        }
    );
    assert_eq!(one("\u{feff}a", "\u{feff}a", "b"), Err(0));
}

#[test]
fn pieces_tell_where_what_stays_stood() {
    let edited = LiteralEdit::new("b\n", "", true).unwrap().apply("\u{feff}ab\r\nab\nc").unwrap();
    let kept = |at, text| Piece::Kept { at, text };
    assert_eq!(
        edited.pieces().collect::<Vec<_>>(),
        [kept(0, "\u{feff}a"), Piece::New(""), kept(7, "a"), Piece::New(""), kept(10, "c")]
    );
}

#[test]
fn memory_for_the_texts_is_taken_beforehand_or_refused() {
    let text = "a".repeat(1000);
    let mut edited = LiteralEdit::new("a", "bb", true).unwrap().apply(text.as_str()).unwrap();
    edited.reserve_texts().unwrap();
    assert_eq!(edited.into_texts().after, "bb".repeat(1000));
}

#[test]
fn a_miss_is_an_error_of_the_file() {
    let miss = |matches| NoSingleMatch { matches }.in_file("/w/a").to_string();
    assert_eq!(miss(0), r#"old_string was not found in "/w/a""#);
    assert_eq!(
        miss(2),
        r#"old_string matched 2 times in "/w/a"; provide a more specific old_string or set replace_all to true"#
    );
}

/// The same said naively: the text as units (`\r\n` or one character), matched one place after the other.
fn model(text: &str, old: &str, new: &str, replace_all: bool) -> Result<String, usize> {
    let mut units: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = if rest.starts_with("\r\n") { 2 } else { first.len_utf8() };
        units.push(&rest[..len]);
        rest = &rest[len..];
    }
    let lf = |text: &str| text.replace("\r\n", "\n").chars().map(String::from).collect::<Vec<_>>();
    let (old, new) = (lf(old), lf(new));
    let is_at = |at: usize| {
        at + old.len() <= units.len()
            && units[at..].iter().zip(&old).all(|(unit, old)| unit == old || (*unit == "\r\n" && old == "\n"))
    };
    let places = (0..units.len()).filter(|at| is_at(*at)).count();
    let mut starts = Vec::new();
    let mut at = 0;
    while at < units.len() {
        if is_at(at) {
            starts.push(at);
            at += old.len();
        } else {
            at += 1;
        }
    }
    match places {
        0 => return Err(0),
        2.. if !replace_all => return Err(starts.len().max(2)),
        _ => {}
    }
    let majority = |units: &[&str]| {
        let count = |ending: &str| units.iter().filter(|unit| **unit == ending).count();
        match count("\r\n").cmp(&count("\n")) {
            std::cmp::Ordering::Greater => Some("\r\n"),
            std::cmp::Ordering::Less => Some("\n"),
            std::cmp::Ordering::Equal => None,
        }
    };
    let mut out = String::new();
    let mut from = 0;
    for start in starts {
        let end = start + old.len();
        out.extend(units[from..start].iter().copied());
        let ending = majority(&units[start..end]).or(majority(&units)).unwrap_or("\n");
        out.extend(new.iter().map(|new| if new == "\n" { ending } else { new }));
        from = end;
    }
    out.extend(units[from..].iter().copied());
    Ok(out)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn edits_equal_the_naive_model(text in any_text(), old in short_text(), new in short_text(), replace_all: bool) {
        if let Ok(edit) = LiteralEdit::new(&old, &new, replace_all) {
            prop_assert_eq!(raw(edit.apply(&text)), model(&text, &old, &new, replace_all));
        }
    }

    #[test]
    fn bytes_outside_the_spans_never_change(text in any_text(), old in short_text(), new in short_text()) {
        let Ok(edit) = LiteralEdit::new(&old, &new, true) else { return Ok(()) };
        let Ok(edited) = edit.apply(&text) else { return Ok(()) };
        // Where a place of the normalised text lies in the raw one: one byte further for each `\r\n` before it.
        let raw_at = |place: usize| {
            let mut raw = 0;
            for _ in 0..place {
                raw += if text[raw..].starts_with("\r\n") { 2 } else { 1 };
                while !text.is_char_boundary(raw) {
                    raw += 1;
                }
            }
            raw
        };
        let raw = whole(&edited);
        let mut tail = raw.as_str();
        let edited = edited.into_texts();
        let chars_before = |place: usize| edited.before[..place].chars().count();
        let mut from = 0;
        for change in &edited.changes {
            let (start, end) = (raw_at(chars_before(change.before.start)), raw_at(chars_before(change.before.end)));
            prop_assert!(tail.starts_with(&text[from..start]), "{tail:?} should start with {:?}", &text[from..start]);
            tail = &tail[start - from..];
            let put = to_lf(&new);
            let put = [put.to_string(), put.replace('\n', "\r\n")].into_iter().filter(|put| tail.starts_with(put));
            let put = put.max_by_key(String::len);
            prop_assert!(put.is_some(), "{tail:?} should start with {new:?}");
            tail = &tail[put.unwrap().len()..];
            from = end;
        }
        prop_assert_eq!(tail, &text[from..]);
    }

    #[test]
    fn before_after_and_spans_fit(text in any_text(), old in short_text(), new in short_text()) {
        let Ok(edit) = LiteralEdit::new(&old, &new, true) else { return Ok(()) };
        let Ok(edited) = edit.apply(&text).map(Edited::into_texts) else { return Ok(()) };
        prop_assert_eq!(&*edited.before, &*to_lf(&text));
        prop_assert_eq!(&edited.after, &edited.before.replace(&*to_lf(&old), &to_lf(&new)));
        let mut spliced = edited.before.clone();
        for change in edited.changes.iter().rev() {
            prop_assert_eq!(&edited.before[change.before.clone()], &*to_lf(&old));
            prop_assert_eq!(&edited.after[change.after.clone()], &*to_lf(&new));
            spliced.replace_range(change.before.clone(), &edited.after[change.after.clone()]);
        }
        prop_assert_eq!(spliced, edited.after);
    }

    #[test]
    fn whatever_lines_are_pasted_match(text in any_text(), from: prop::sample::Index, lines in 1_usize..5, end: bool) {
        // A CR before a `\r\n` is shown as the end of a `\r\n` and cannot be told from it.
        prop_assume!(!text.contains("\r\r\n"));
        let shown = to_lf(&text);
        let all: Vec<&str> = shown.split_inclusive('\n').collect();
        prop_assume!(!all.is_empty());
        let from = from.index(all.len());
        let mut pasted = all[from..all.len().min(from + lines)].concat();
        if !end && pasted.ends_with('\n') {
            pasted.pop();
        }
        prop_assume!(!pasted.is_empty());
        for pasted in [pasted.replace('\n', "\r\n"), pasted] {
            let edited = LiteralEdit::new(&pasted, "new", true).unwrap().apply(&text);
            prop_assert!(edited.is_ok(), "{pasted:?} should match in {text:?}");
        }
    }
}
