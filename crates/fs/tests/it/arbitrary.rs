//! Texts for property tests: mixed line endings, lone CRs, characters of every length.

use proptest::prelude::*;

/// How many cases a property is tried with, so that all of them take a few seconds in a debug build.
pub(crate) fn cases() -> ProptestConfig {
    ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() }
}

/// Any text of a small alphabet, so that matches, overlaps and neighbours of line endings are frequent.
pub(crate) fn any_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b",
        "aa",
        "\u{e9}",
        "\u{20ac}",
        "\u{1F600}",
        "\n",
        "\r\n",
        "\r",
        "\n\n",
        " ",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// The same without a CR that is not part of a `\r\n`.
pub(crate) fn text_without_lone_cr() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec!["a", "b", "aa", "\u{e9}", "\u{1F600}", "\n", "\r\n", "\n\n", " "]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// A short text to look for or to put.
pub(crate) fn short_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec!["a", "b", "\u{e9}", "\n", "\r\n", "\r", "$&", "\\n"]);
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

/// Bytes of which many are nearly UTF-8: whole characters, cut ones, stray ones, NULs.
pub(crate) fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"a"[..],
        b"\n",
        b"\0",
        b"\xEF\xBB\xBF",
        "\u{e9}".as_bytes(),
        "\u{20ac}".as_bytes(),
        "\u{1F600}".as_bytes(),
        b"\xE2\x82",
        b"\xF0\x9F",
        b"\xC3",
        b"\x80",
        b"\xC0\xAF",
        b"\xED\xA0\x80",
        b"\xF4\x90\x80\x80",
        b"\xFF",
    ]);
    // Faulty pieces are rare enough that whole texts come too.
    prop_oneof![
        any_text().prop_map(String::into_bytes),
        (any_text(), prop::collection::vec(piece, 0..4), any_text()).prop_map(|(a, pieces, b)| [
            a.as_bytes(),
            &pieces.concat(),
            b.as_bytes()
        ]
        .concat()),
    ]
}
