//! `read_text`: what is text, what is shown of it, and what a refused read says.

use dsh_fs::FsErrorCode::{NotFound, NotRegularFile, NotText, StaleVersion};
use dsh_fs::text::SNIFF_BYTES;

use crate::{Case, refused};

/// Bytes that are not text, with what is wrong with them.
pub(crate) const NOT_TEXT: &[(&str, &[u8])] = &[
    ("NUL", b"a\0b"),
    ("NUL behind a BOM", b"\xEF\xBB\xBF\0"),
    ("stray continuation", b"ab\x80"),
    ("overlong slash", b"\xC0\xAF"),
    ("surrogate", b"\xED\xA0\x80"),
    ("above U+10FFFF", b"\xF4\x90\x80\x80"),
    ("cut at the end", b"caf\xC3"),
    ("cut in the middle", b"\xE2\x82 a"),
    ("Latin-1", b"caf\xE9\n"),
    ("UTF-16 mark", b"\xFF\xFEx"),
];

/// Texts that come back as they are.
pub(crate) const TEXTS: &[&str] = &[
    "",
    "\n",
    "one line, no end",
    "one\ntwo\n",
    "one\r\ntwo\r\n",
    "mixed\r\nunix\nold\rend",
    "\r",
    "\r\r\n\n\r",
    "\u{e9} \u{20ac} \u{1F600} e\u{301} \u{200b}\u{2028}\u{85}",
    "\u{1}\u{1b}[31m\u{7f}\u{fffd}\u{10ffff}",
    "in the \u{feff}middle",
];

/// Text comes back byte for byte: line endings, lone CRs and control characters as they are.
pub async fn text_is_shown_as_it_is(case: &Case) {
    for text in TEXTS {
        let target = case.file("a.txt", text).await;
        assert_eq!(case.read(&target).await.text, *text);
    }
}

/// A byte order mark at the start is not part of the text; a second one is.
pub async fn the_byte_order_mark_is_not_text(case: &Case) {
    for (bytes, text) in [
        ("\u{feff}", ""),
        ("\u{feff}a\r\n", "a\r\n"),
        ("\u{feff}\u{feff}a", "\u{feff}a"),
        ("a\u{feff}", "a\u{feff}"),
    ] {
        let target = case.file("a.txt", bytes).await;
        assert_eq!(case.read(&target).await.text, text);
    }
}

/// Bytes that are not UTF-8, or hold a NUL near the start, are refused.
pub async fn what_is_not_text_is_refused(case: &Case) {
    for (what, bytes) in NOT_TEXT {
        let target = case.file("a.bin", bytes).await;
        let error = refused(case.fs.read_text(&target, &case.call).await, NotText);
        assert!(error.met().is_some(), "{what}: the error carries no version");
        case.holds("a.bin", bytes).await;
    }
}

/// The NUL rule looks at the first 8192 bytes of the file and no further.
pub async fn only_an_early_nul_makes_binary(case: &Case) {
    let mut bytes = vec![b'a'; SNIFF_BYTES * 2];
    bytes[SNIFF_BYTES] = 0;
    let target = case.file("a.txt", &bytes).await;
    assert_eq!(case.read(&target).await.text.into_bytes(), bytes);
    bytes[SNIFF_BYTES - 1] = 0;
    case.put("a.txt", &bytes).await;
    refused(case.fs.read_text(&target, &case.call).await, NotText);
}

/// A large text comes back whole, characters across every block boundary.
pub async fn a_large_text_comes_back_whole(case: &Case) {
    let text = large_text();
    let target = case.file("a.txt", &text).await;
    assert!(case.read(&target).await.text == text, "the text differs");
}

/// The version of a refused read licenses replacing what was met, and nothing that came later.
pub async fn a_refused_read_licenses_a_replace(case: &Case) {
    for (what, bytes) in NOT_TEXT {
        let target = case.file("a.bin", bytes).await;
        let met = refused(case.fs.read_text(&target, &case.call).await, NotText).met().cloned().unwrap();
        let outcome = case.replace(&target, "text\n", &met).await;
        let outcome = outcome.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(outcome.before, None, "{what}");
        case.holds("a.bin", "text\n").await;
        refused(case.replace(&target, "more\n", &met).await, StaleVersion);
    }
}

/// The version of a refused read goes stale with the bytes.
pub async fn a_refused_read_goes_stale(case: &Case) {
    let target = case.file("a.bin", b"\0\x01").await;
    let met = refused(case.fs.read_text(&target, &case.call).await, NotText).met().cloned().unwrap();
    case.put("a.bin", b"\0\x02").await;
    refused(case.replace(&target, "text", &met).await, StaleVersion);
    case.holds("a.bin", b"\0\x02").await;
}

/// A file that is absent cannot be read.
pub async fn what_is_absent_cannot_be_read(case: &Case) {
    for name in ["a.txt", "no/such/folder/a.txt"] {
        let target = case.target(name).await;
        refused(case.fs.read_text(&target, &case.call).await, NotFound);
    }
    let target = case.target("d/a.txt").await;
    case.put("d", "a file now").await;
    refused(case.fs.read_text(&target, &case.call).await, NotFound);
}

/// A folder cannot be read.
pub async fn a_folder_cannot_be_read(case: &Case) {
    case.put("d/a.txt", "x").await;
    let folder = case.target("d").await;
    refused(case.fs.read_text(&folder, &case.call).await, NotRegularFile);
}

/// A FIFO, socket or device is refused without waiting for it.
pub async fn a_special_file_cannot_be_read(case: &Case) {
    case.able(case.ground.special("special").await);
    let target = case.target("special").await;
    refused(case.fs.read_text(&target, &case.call).await, NotRegularFile);
}

/// A link is read through.
pub async fn links_are_read_through(case: &Case) {
    case.put("d/a.txt", "behind\n").await;
    case.able(case.ground.link("link", "d/a.txt").await);
    assert_eq!(case.read(&case.target("link").await).await.text, "behind\n");
}

/// Some 480 KB whose characters of 1 to 4 bytes fall across every power of two; lines 1, 5, 9… end in `\r\n`.
pub(crate) fn large_text() -> String {
    let mut text = String::from("x");
    for line in 0..20_000 {
        let ending = ["\n", "\r\n", "\u{20ac}\u{20ac}\n", "\r"][line % 4];
        text.extend([&line.to_string(), " \u{e9}\u{20ac}\u{1F600}\u{1F600}\u{e9}", ending]);
    }
    text
}
