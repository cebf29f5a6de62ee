use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn far() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

#[test]
fn overlapping_matches_count() {
    assert_eq!(matches("aaa", "aa", far()), Some(vec![0, 1]));
    assert_eq!(matches("日本日本", "日本", far()), Some(vec![0, 6]));
    assert_eq!(matches("ab", "", far()), Some(vec![0, 1, 2]));
}

#[test]
fn the_extension_is_as_short_as_can_be_and_looks_above_first() {
    let text = "a\nx\nb\nx\nc\n";
    let lines = Lines::of(text);
    assert_eq!(unique_around(&lines, 2..3, far()), Some(0..3));
    assert_eq!(unique_around(&lines, 0..1, far()), Some(0..1));
}

#[test]
fn once_is_nothing_to_tell_of() {
    assert_eq!(ambiguous("a b", "a", far()), None);
    assert_eq!(ambiguous("a a", "a", Deadline::after(Duration::ZERO)), None);
}

#[test]
fn what_would_take_too_long_is_not_told() {
    let over = Deadline::after(Duration::ZERO);
    assert_eq!(matches("aaa", "aa", over), None);
    assert_eq!(unique_around(&Lines::of("a\nx\nb\nx\n"), 2..3, over), None);
    let old = "a".repeat(LONGEST_REQUEST);
    let text = format!("{old}a");
    assert_eq!(ambiguous(&text, &old, far()).as_deref(), Some("Matches begin at lines 1, 1."));
    assert_eq!(ambiguous(&format!("{text}a"), &text, far()), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn an_extension_holds_the_match_and_is_nowhere_else(text in "[ab\n]{0,40}", old in "[ab\n]{1,3}") {
        let lines = Lines::of(&text);
        for at in matches(&text, &old, far()).unwrap_or_default() {
            if let Some(span) = unique_around(&lines, at..at + old.len(), far()) {
                prop_assert!(span.start <= at && at + old.len() <= span.end);
                prop_assert_eq!(matches(&text, &text[span.clone()], far()), Some(vec![span.start]));
            }
        }
    }
}
