//! Counting, normalising and keeping line endings.

use std::borrow::Cow;

use dsh_fs::line_endings::LineEnding::{Crlf, Lf};
use dsh_fs::line_endings::{Dress, LineEndings, to_lf, with_ending};
use dsh_fs::text::decode;
use proptest::prelude::*;

use crate::arbitrary::{any_text, cases, text_without_lone_cr};

#[test]
fn endings_are_counted() {
    for (text, lf, crlf) in [
        ("", 0, 0),
        ("a", 0, 0),
        ("\n", 1, 0),
        ("\r\n", 0, 1),
        ("\r", 0, 0),
        ("\r\r\n\n\n\r", 2, 1),
        ("a\nb\r\nc\n", 2, 1),
    ] {
        assert_eq!(LineEndings::count(text), LineEndings { lf, crlf }, "{text:?}");
    }
}

#[test]
fn the_majority_is_strict() {
    let majority = |lf, crlf| LineEndings { lf, crlf }.majority();
    assert_eq!(majority(0, 0), None);
    assert_eq!(majority(2, 2), None);
    assert_eq!(majority(2, 1), Some(Lf));
    assert_eq!(majority(1, 2), Some(Crlf));
}

#[test]
fn all_crlf_needs_one() {
    let all = |lf, crlf| LineEndings { lf, crlf }.all_crlf();
    assert!(all(0, 1));
    assert!(!all(0, 0));
    assert!(!all(1, 5));
}

#[test]
fn to_lf_leaves_lone_crs() {
    assert_eq!(to_lf("a\r\nb\rc\n\r\r\n"), "a\nb\rc\n\r\n");
    assert!(matches!(to_lf("a\rb\n"), Cow::Borrowed(_)), "nothing to change, nothing copied");
}

#[test]
fn with_ending_puts_crlf() {
    assert_eq!(with_ending("a\n\nb", Crlf), "a\r\n\r\nb");
    assert_eq!(with_ending("a\n\nb", Lf), "a\n\nb");
    assert_eq!((Lf.as_str(), Crlf.as_str()), ("\n", "\r\n"));
}

fn dress(bytes: &str) -> Dress {
    Dress::of(bytes.as_bytes(), decode(bytes.as_bytes()).unwrap())
}

#[test]
fn a_dress_is_bom_and_uniform_crlf() {
    for (bytes, bom, crlf) in [
        ("", false, false),
        ("\u{feff}", true, false),
        ("a\r\n", false, true),
        ("\u{feff}a\r\nb\r\n", true, true),
        ("a\r\nb\n", false, false),
        ("a\r\nb\r", false, true),
        ("a\u{feff}\n", false, false),
    ] {
        assert_eq!(dress(bytes), Dress { bom, crlf }, "{bytes:?}");
    }
}

#[test]
fn a_dress_is_put_on() {
    for (bom, crlf, content, expected) in [
        (false, false, "a\n\r\n", "a\n\r\n"),
        (true, false, "a\n", "\u{feff}a\n"),
        (true, false, "\u{feff}a\n", "\u{feff}a\n"),
        (true, true, "", "\u{feff}"),
        (false, true, "a\nb\n", "a\r\nb\r\n"),
        (false, true, "a\r\nb\n", "a\r\nb\n"),
        (false, true, "a\rb\n", "a\rb\n"),
        (true, true, "\u{feff}a\n", "\u{feff}a\r\n"),
        (true, true, "a\n", "\u{feff}a\r\n"),
        (false, false, "\u{feff}a", "\u{feff}a"),
    ] {
        let dress = Dress { bom, crlf };
        assert_eq!(dress.put_on(content), expected.as_bytes(), "{dress:?} on {content:?}");
    }
    assert!(matches!(Dress::default().put_on("a\n"), Cow::Borrowed(_)), "nothing to put on, nothing copied");
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_dress_stays_itself(old in any_text(), old_bom: bool, new in text_without_lone_cr(), new_bom: bool) {
        let mark = |bom, text: &str| format!("{}{text}", if bom { "\u{feff}" } else { "" });
        let (old, new) = (mark(old_bom, &old), mark(new_bom, &new));
        let put = String::from_utf8(dress(&old).put_on(&new).into_owned()).unwrap();
        prop_assert!(!put.contains("\r\r\n"), "{put:?}");
        prop_assert!(!put.starts_with("\u{feff}\u{feff}"), "{put:?}");
        prop_assert_eq!(put.starts_with('\u{feff}'), old_bom || new_bom);
        prop_assert_eq!(to_lf(decode(put.as_bytes()).unwrap()), to_lf(decode(new.as_bytes()).unwrap()));
        // Written again in the dress that it now has, or in the old one, it stays byte for byte.
        prop_assert_eq!(&*dress(&put).put_on(&put), put.as_bytes());
        prop_assert_eq!(&*dress(&old).put_on(&put), put.as_bytes());
    }

    #[test]
    fn what_was_shown_writes_the_file_back(old in text_without_lone_cr(), bom: bool) {
        let bytes = format!("{}{old}", if bom { "\u{feff}" } else { "" });
        let endings = LineEndings::count(&old);
        if endings.crlf == 0 || endings.lf == 0 {
            let shown = to_lf(&old);
            prop_assert_eq!(&*dress(&bytes).put_on(&shown), bytes.as_bytes());
        }
    }

    #[test]
    fn normalising_is_idempotent_but_for_cr_crlf(text in any_text()) {
        let lf = to_lf(&text);
        prop_assert_eq!(&*lf, text.replace("\r\n", "\n"));
        if !text.contains("\r\r\n") {
            prop_assert_eq!(to_lf(&lf), &*lf);
        }
        let counted = LineEndings::count(&text);
        prop_assert_eq!(counted.lf + counted.crlf, text.matches('\n').count());
        prop_assert_eq!(counted.crlf, text.matches("\r\n").count());
    }
}
