//! Any edit of any text: what matches, what the file holds afterwards, and what a diff card shows of it.
//!
//! Input: a byte that is odd to replace all; then, between `0xFF`, the text of a file, the text to look for and the
//! text to put.

#![no_main]

use std::collections::BTreeSet;

use dsh_fs::line_endings::{LineEnding, LineEndings};
use dsh_fs::literal_edit::{EditedTexts, InvalidEdit, LiteralEdit, Piece};
use dsh_tool_fs::hunks::{self, Hunk};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let ([all], rest) = dsh_fuzz::numbers(input);
    let [text, old, new] = dsh_fuzz::texts(rest);
    let replace_all = all % 2 == 1;
    // A byte order mark is no part of the text.
    let body = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let (lf_text, lf_old, lf_new) = (lf(body), lf(&old), lf(&new));

    let rewritten = hunks::of_rewrite("f", &lf_text, &lf_new);
    assert!(turns_into(&rewritten, &lf_text, &lf_new), "{rewritten:?}");
    assert_eq!(rewritten.is_empty(), lf_text == lf_new);

    let edit = match LiteralEdit::new(&old, &new, replace_all) {
        Ok(edit) => edit,
        Err(InvalidEdit::EmptyOldString) => return assert!(old.is_empty()),
        Err(InvalidEdit::SameText) => return assert_eq!(lf_old, lf_new),
    };
    assert!(!old.is_empty() && lf_old != lf_new);

    let counted = lf_text.matches(&lf_old).count();
    let places =
        (0..lf_text.len()).filter(|&at| lf_text.as_bytes()[at..].starts_with(lf_old.as_bytes())).count();
    match edit.apply(text.as_str()) {
        Err(miss) => {
            assert!(counted == 0 || (places > 1 && !replace_all), "{places} places, {miss:?}");
            assert_eq!(miss.matches, if counted == 0 { 0 } else { counted.max(2) });
        }
        Ok(edited) => {
            let raw: String = edited.pieces().map(Piece::text).collect();
            let edited = edited.into_texts();
            assert!(counted > 0 && (places == 1 || replace_all), "{places} places, {edited:?}");
            assert_eq!(edited.changes.len(), counted);
            assert_eq!(edited.before, lf_text);
            assert_eq!(edited.after, lf_text.replace(&lf_old, &lf_new));
            spans_are_true(&edited, &lf_old, &lf_new);
            let mark = &text[..text.len() - body.len()];
            assert_eq!(raw, format!("{mark}{}", with_only_the_spans_changed(&edited, body, &lf_new)));
            let hunks = hunks::of_edit("f", &edited.before, &edited.after, &edited.changes);
            assert!(turns_into(&hunks, &edited.before, &edited.after), "{hunks:?}");
            assert!(!hunks.is_empty());
        }
    }
});

fn lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// In order, without overlap, each of them the old text before and the new text after, and the same between them.
fn spans_are_true(edited: &EditedTexts, old: &str, new: &str) {
    let (mut before, mut after) = (0, 0);
    for change in &edited.changes {
        assert_eq!(edited.before[before..change.before.start], edited.after[after..change.after.start]);
        assert_eq!(&edited.before[change.before.clone()], old);
        assert_eq!(&edited.after[change.after.clone()], new);
        (before, after) = (change.before.end, change.after.end);
    }
    assert_eq!(edited.before[before..], edited.after[after..]);
}

/// The old text but for the spans, where the new text stands with the line endings that the match
/// mostly had, or else the file, or else LF.
fn with_only_the_spans_changed(edited: &EditedTexts, text: &str, new: &str) -> String {
    let mut raw_places = Vec::with_capacity(edited.before.len() + 1);
    for (at, byte) in text.bytes().enumerate() {
        if byte != b'\n' || !text[..at].ends_with('\r') {
            raw_places.push(at);
        }
    }
    raw_places.push(text.len());

    let (mut expected, mut from) = (String::new(), 0);
    for change in &edited.changes {
        let (start, end) = (raw_places[change.before.start], raw_places[change.before.end]);
        let ending = majority(&text[start..end]).or(majority(text)).unwrap_or(LineEnding::Lf);
        expected.push_str(&text[from..start]);
        expected.push_str(&new.replace('\n', ending.as_str()));
        from = end;
    }
    expected.push_str(&text[from..]);
    expected
}

fn majority(text: &str) -> Option<LineEnding> {
    let crlf = text.matches("\r\n").count();
    let endings = LineEndings { crlf, lf: text.matches('\n').count() - crlf };
    assert_eq!(endings, LineEndings::count(text));
    endings.majority()
}

/// Is there a way to lay the hunks on the old text, in order and without overlap, that makes the new text of it? (A
/// hunk has no line numbers, so its lines may fit several places.) The very last line ending is not in a hunk.
fn turns_into(hunks: &[Hunk], before: &str, after: &str) -> bool {
    let (old, new) = (lines(before), lines(after));
    // Places, in lines of both texts, that can be reached with the hunks so far.
    let mut reached = BTreeSet::from([(0, 0)]);
    for hunk in hunks {
        let removed: Vec<&str> = hunk.old_text.iter().flat_map(|text| text.split('\n')).collect();
        let added: Vec<&str> = hunk.new_text.split('\n').collect();
        let mut next = BTreeSet::new();
        for start in reached {
            for (i, j) in same_lines(&old, &new, start) {
                if !old[i..].starts_with(&removed) {
                    continue;
                }
                if new[j..].starts_with(&added) {
                    next.insert((i + removed.len(), j + added.len()));
                }
                // No line and one empty line look the same in a hunk's new text.
                if hunk.new_text.is_empty() {
                    next.insert((i + removed.len(), j));
                }
            }
        }
        reached = next;
    }
    reached.into_iter().any(|start| same_lines(&old, &new, start).any(|end| end == (old.len(), new.len())))
}

/// The places that follow from `start` while the lines of both texts are the same, `start` included.
fn same_lines(old: &[&str], new: &[&str], (i, j): (usize, usize)) -> impl Iterator<Item = (usize, usize)> {
    let same = old[i..].iter().zip(&new[j..]).take_while(|(old, new)| old == new).count();
    (0..=same).map(move |lines| (i + lines, j + lines))
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line)).collect()
}
