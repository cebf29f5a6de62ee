#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "spans are drawn as fractions of short texts"
)]

use dsh_fs::literal_edit::{Edited, LiteralEdit};
use proptest::prelude::*;

use super::*;

fn rewrite(before: &str, after: &str) -> Vec<(Option<String>, String)> {
    of_rewrite("f", before, after).into_iter().map(|hunk| (hunk.old_text, hunk.new_text)).collect()
}

fn pair(old: &str, new: &str) -> (Option<String>, String) {
    (Some(old.to_owned()), new.to_owned())
}

#[test]
fn golden_hunks() {
    assert_eq!(rewrite("a\nb\nc\n", "a\nX\nc\n"), [pair("a\nb\nc", "a\nX\nc")]);
    assert_eq!(rewrite("", "x\n"), [(None, "x".to_owned())]);
    assert_eq!(rewrite("x\n", ""), [pair("x", "")]);
    assert_eq!(rewrite("a", "a\n"), [pair("a", "a")]);
    assert_eq!(rewrite("a\n", "a\n\n"), [pair("a", "a\n")]);
    assert_eq!(rewrite("a\nb", "a\nb\nc"), [pair("a\nb", "a\nb\nc")]);
    assert_eq!(rewrite("a\nb\n", "b\na\n"), [pair("a\nb", "b\na")]);
    assert_eq!(rewrite("same\n", "same\n"), []);
}

#[test]
fn changes_with_up_to_six_lines_between_share_a_hunk() {
    let before = "l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\nl10\nl11\nl12\n";
    let six = before.replacen("l1\n", "A\n", 1).replace("l8\n", "B\n");
    assert_eq!(
        rewrite(before, &six),
        [pair("l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\nl10\nl11", "A\nl2\nl3\nl4\nl5\nl6\nl7\nB\nl9\nl10\nl11")]
    );
    let seven = before.replacen("l1\n", "A\n", 1).replace("l9\n", "B\n");
    assert_eq!(
        rewrite(before, &seven),
        [
            pair("l1\nl2\nl3\nl4", "A\nl2\nl3\nl4"),
            pair("l6\nl7\nl8\nl9\nl10\nl11\nl12", "l6\nl7\nl8\nB\nl10\nl11\nl12"),
        ]
    );
}

#[test]
fn a_rewrite_of_every_line_is_one_block() {
    let (before, after): (String, String) =
        (0..16_000).map(|n| (format!("old line {n}\n"), format!("new line {n}\n"))).unzip();
    let hunks = of_rewrite("f", &before, &after);
    assert_eq!(hunks.len(), 1);
    assert_eq!(hunks[0].old_text.as_deref(), before.strip_suffix('\n'));
    assert_eq!(hunks[0].new_text, after.strip_suffix('\n').unwrap());
}

#[test]
fn an_edit_in_a_large_file_shows_three_lines_around_it() {
    let before = (1..=100_000).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
    let edited =
        LiteralEdit::new("line 50000\n", "changed\n", false).unwrap().apply(&before).unwrap().into_texts();
    let hunks = of_edit("f", &edited.before, &edited.after, &edited.changes);
    assert_eq!(hunks.len(), 1);
    assert_eq!(
        hunks[0].old_text.as_deref(),
        Some("line 49997\nline 49998\nline 49999\nline 50000\nline 50001\nline 50002\nline 50003")
    );
    assert_eq!(
        hunks[0].new_text,
        "line 49997\nline 49998\nline 49999\nchanged\nline 50001\nline 50002\nline 50003"
    );
}

fn replace_all(before: &str, old: &str, new: &str) -> Vec<(Option<String>, String)> {
    let edited = LiteralEdit::new(old, new, true).unwrap().apply(before).unwrap().into_texts();
    let hunks = of_edit("f", &edited.before, &edited.after, &edited.changes);
    hunks.into_iter().map(|hunk| (hunk.old_text, hunk.new_text)).collect()
}

#[test]
fn a_change_that_slides_down_to_the_next_one_shares_its_hunk() {
    assert_eq!(
        replace_all("x\n\n\n\n\n\n\n\n\n\nx\nb\n\u{e9}", "x\n", "x\n\n"),
        [pair("\n\n\nx\nb\n\u{e9}", "\n\n\n\nx\n\nb\n\u{e9}")]
    );
    // A deletion slides as well.
    assert_eq!(replace_all("x\n\n\n\n\n\n\n\n\n\nx\n\n", "x\n\n", "x\n"), [pair("\n\n\n\nx\n", "\n\n\nx")]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    // Every line of the old text is numbered, so that a hunk with an old line fits one place only.
    #[test]
    fn hunks_of_an_edit_turn_the_old_text_into_the_new(
        lines in prop::collection::vec("[ab]{0,2}", 0..30),
        span in (0.0..1.0, 0.0..0.3),
        new in "[abc]{0,2}(\n[abc]{0,2}){0,4}",
    ) {
        let lines = lines.iter().enumerate().map(|(n, line)| format!("{n} {line}\n")).collect::<Vec<_>>().concat();
        let start = (lines.len() as f64 * span.0) as usize;
        let end = start + ((lines.len() - start) as f64 * span.1) as usize + 1;
        let Some(old) = lines.get(start..end) else { return Ok(()) };
        let before = format!("{lines}end\n");
        let Ok(edit) = LiteralEdit::new(old, &new, false) else { return Ok(()) };
        let Ok(edited) = edit.apply(&before).map(Edited::into_texts) else { return Ok(()) };
        let hunks = of_edit("f", &edited.before, &edited.after, &edited.changes);
        prop_assert_eq!(hunks.len(), 1);
        prop_assert_eq!(patched(&before, &hunks), edited.after);
    }

    #[test]
    fn hunks_of_a_rewrite_turn_the_old_text_into_the_new(kept in prop::collection::vec(0..4u8, 1..60)) {
        let before = (0..kept.len()).map(|n| format!("{n}\n")).collect::<Vec<_>>().concat();
        let after: String = kept.iter().enumerate().map(|(n, what)| match what {
            0 => String::new(),
            1 => format!("new\n{n}\n"),
            _ => format!("{n}\n"),
        }).collect();
        prop_assert_eq!(patched(&before, &of_rewrite("f", &before, &after)), after);
    }
}

/// Replaces each hunk's old lines by its new ones, left to right.
fn patched(before: &str, hunks: &[Hunk]) -> String {
    let mut rest = before;
    let mut after = String::new();
    for hunk in hunks {
        let old = hunk.old_text.as_ref().map_or(String::new(), |old| format!("{old}\n"));
        let at = rest.find(&old).unwrap();
        after.push_str(&rest[..at]);
        after.push_str(&hunk.new_text);
        // No line and one empty line look alike in a hunk; here only "no line" occurs without another line.
        if !hunk.new_text.is_empty() {
            after.push('\n');
        }
        rest = &rest[at + old.len()..];
    }
    after + rest
}
