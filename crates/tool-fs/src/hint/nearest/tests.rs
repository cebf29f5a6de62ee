use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn of(text: &str, old: &str) -> Nearest {
    nearest(text, old, "something new", Deadline::after(Duration::from_secs(60)))
}

/// What a certain hint says to use.
fn given(nearest: &Nearest) -> Option<&str> {
    let Nearest::Certain(hint) = nearest else { return None };
    Some(hint.split_once("Use this as old_string")?.1.split_once(":\n")?.1)
}

#[test]
fn without_time_there_is_no_hint() {
    assert_eq!(nearest("\ta", "  a", "b", Deadline::after(Duration::ZERO)), Nearest::Nothing);
}

#[test]
fn a_place_that_differs_in_one_kind_is_taken_before_one_that_differs_in_two() {
    let found = of("  Call(A)\n\tcall(a)\n", "    call(a)\n");
    assert_eq!(given(&found), Some("\tcall(a)\n"));
}

#[test]
fn two_kinds_are_both_named() {
    let Nearest::Certain(hint) = of("\tlet name = ‘x’;\n", "  let name = 'x';") else {
        panic!("nothing certain")
    };
    assert!(hint.contains("differs in indentation, and quotes, dashes or blanks that look alike."), "{hint}");
}

#[test]
fn text_that_is_there_is_not_missing() {
    assert_eq!(of("abc", "b"), Nearest::Nothing);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn any_text_and_any_request_are_within_the_budget(
        text in "[ab1: \t\r\n\"'‘é\u{301}{}\\\\…A-]{0,60}",
        old in "[ab1: \t\n\"'‘é\u{301}{}\\\\…A-]{1,20}",
        new in "[ab ]{0,5}",
    ) {
        match nearest(&text, &old, &new, Deadline::after(Duration::from_secs(60))) {
            Nearest::Certain(hint) | Nearest::Alike(hint) => prop_assert!(!hint.is_empty() && hint.len() <= MOST_BYTES),
            Nearest::Nothing => {}
        }
    }

    #[test]
    fn what_is_said_to_be_used_is_in_the_file_exactly_once(
        lines in proptest::collection::vec("[ \t]{0,3}[a-c\"]{1,6}", 1..12),
        from in 0_usize..12,
        count in 1_usize..4,
    ) {
        let text = lines.join("\n") + "\n";
        let from = from % lines.len();
        let meant = lines[from..(from + count).min(lines.len())].join("\n");
        let indented = meant.replace('\t', "    ").replace('"', "“");
        if let Some(old) = given(&of(&text, &indented)) {
            prop_assert_eq!(text.matches(old).count(), 1);
        }
        let numbered = meant.lines().enumerate().map(|(n, line)| format!("{}: {line}", from + n + 1));
        let numbered = numbered.collect::<Vec<_>>().join("\n");
        if text.matches(&*meant).count() == 1 {
            let found = of(&text, &numbered);
            prop_assert_eq!(given(&found), Some(&*meant));
        }
    }
}
