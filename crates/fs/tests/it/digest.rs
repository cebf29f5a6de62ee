//! The digest that versions are made of.

use dsh_fs::digest::{Digest, Digester};
use proptest::prelude::*;

use crate::arbitrary::cases;

#[test]
fn digests_are_xxh3_128_and_length() {
    assert_eq!(Digest::of(b"").to_string(), "99aa06d3014798d86001c324468d497f+0");
    assert_eq!(Digest::of(b"abc").to_string(), "06b05ab6733a618578af5f94892f3950+3");
    assert_eq!(format!("{:?}", Digest::of(b"")), "Digest(99aa06d3014798d86001c324468d497f+0)");
    assert_eq!(
        (Digest::of(b"abc").len(), Digest::of(b"").is_empty(), Digest::of(b"a").is_empty()),
        (3, true, false)
    );
}

#[test]
fn only_what_was_displayed_is_parsed() {
    let good = "06b05ab6733a618578af5f94892f3950+3";
    assert_eq!(Digest::parse(good), Some(Digest::of(b"abc")));
    for bad in [
        "",
        "+",
        "06b05ab6733a618578af5f94892f3950",
        "06b05ab6733a618578af5f94892f3950+",
        "06b05ab6733a618578af5f94892f3950+-1",
        "06b05ab6733a618578af5f94892f3950+3+3",
        "6b05ab6733a618578af5f94892f3950+3",
        "006b05ab6733a618578af5f94892f3950+3",
        "g6b05ab6733a618578af5f94892f3950+3",
        " 06b05ab6733a618578af5f94892f395+3",
        "+6b05ab6733a618578af5f94892f3950+3",
        "06b05ab6733a618578af5f94892f3950+3 ",
        "06b05ab6733a618578af5f94892f3950++3",
        "06b05ab6733a618578af5f94892f3950+03",
        "06B05AB6733A618578AF5F94892F3950+3",
        "06b05ab6733a618578af5f94892f3950+18446744073709551616",
    ] {
        assert_eq!(Digest::parse(bad), None, "{bad:?}");
    }
}

#[test]
fn an_unfinished_digest_can_be_looked_at() {
    let mut digester = Digester::new();
    assert_eq!(digester.finish(), Digest::of(b""));
    digester.update(b"ab");
    assert_eq!(digester.finish(), Digest::of(b"ab"));
    digester.update(b"c");
    assert_eq!(digester.finish(), Digest::of(b"abc"));
    assert_eq!(format!("{digester:?}"), "Digester(3 bytes)");
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn display_and_parse_are_inverse(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let digest = Digest::of(&bytes);
        prop_assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        prop_assert_eq!(digest.len(), bytes.len() as u64);
    }

    #[test]
    fn blocks_give_the_digest_of_the_whole(blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..400), 0..6)) {
        let mut digester = Digester::new();
        for block in &blocks {
            digester.update(block);
        }
        prop_assert_eq!(digester.finish(), Digest::of(&blocks.concat()));
    }

    #[test]
    fn a_changed_byte_changes_the_digest(bytes in prop::collection::vec(any::<u8>(), 1..300), at: prop::sample::Index, by in 1_u8..) {
        let mut other = bytes.clone();
        let at = at.index(other.len());
        other[at] = other[at].wrapping_add(by);
        prop_assert_ne!(Digest::of(&bytes), Digest::of(&other));
    }
}
