//! What counts as text.

use dsh_fs::NotText;
use dsh_fs::NotText::{Binary, InvalidUtf8};
use dsh_fs::text::{BOM, SNIFF_BYTES, decode, decode_block, sniff, without_bom};
use proptest::prelude::*;

use crate::arbitrary::{any_bytes, cases};

#[test]
fn whole_texts() {
    assert_eq!(decode(b""), Ok(""));
    assert_eq!(decode(b"a\r\nb\r\0".strip_suffix(b"\0").unwrap()), Ok("a\r\nb\r"));
    assert_eq!(decode("\u{e9}\u{1F600}".as_bytes()), Ok("\u{e9}\u{1F600}"));
    assert_eq!(decode(b"\x01\x7f\x1b"), Ok("\x01\x7f\x1b"));
}

#[test]
fn one_byte_order_mark_is_not_text() {
    assert_eq!(BOM, "\u{feff}".as_bytes());
    assert_eq!(decode("\u{feff}".as_bytes()), Ok(""));
    assert_eq!(decode("\u{feff}\u{feff}a".as_bytes()), Ok("\u{feff}a"));
    assert_eq!(decode("a\u{feff}".as_bytes()), Ok("a\u{feff}"));
    assert_eq!(decode(b"\xEF\xBB"), Err(InvalidUtf8));
    assert_eq!(without_bom(b"\xEF\xBBx"), b"\xEF\xBBx");
    assert_eq!(without_bom(b"\xEF\xBB\xBFx"), b"x");
}

#[test]
fn invalid_utf8() {
    for bytes in [
        &b"\x80"[..],
        b"\xC0\xAF",
        b"\xC1\xBF",
        b"\xE0\x80\xAF",
        b"\xED\xA0\x80",
        b"\xF0\x80\x80\x80",
        b"\xF4\x90\x80\x80",
        b"\xF5\x80\x80\x80",
        b"\xFF",
        b"a\xC3",
        b"a\xE2\x82",
        b"a\xF0\x9F\x98",
        b"\xE2\x82a",
    ] {
        assert_eq!(decode(bytes), Err(InvalidUtf8), "{}", bytes.escape_ascii());
    }
}

#[test]
fn a_nul_in_the_first_8192_bytes_is_binary() {
    assert_eq!(SNIFF_BYTES, 8192);
    assert_eq!(decode(b"\0"), Err(Binary));
    assert_eq!(decode(b"\xff\0"), Err(Binary), "binary is said before invalid UTF-8");
    let mut bytes = vec![b'a'; 8193];
    bytes[8192] = 0;
    assert_eq!(decode(&bytes).map(str::len), Ok(8193));
    assert_eq!(sniff(&bytes), Ok(()));
    bytes[8191] = 0;
    assert_eq!(decode(&bytes), Err(Binary));
    assert_eq!(sniff(&bytes), Err(Binary));
    assert_eq!(sniff(&bytes[..8191]), Ok(()));
}

#[test]
fn the_byte_order_mark_counts_among_the_first_8192_bytes() {
    let mut bytes = [BOM, &[b'a'; 8190]].concat();
    *bytes.last_mut().unwrap() = 0;
    assert_eq!(bytes.len(), 8193);
    assert!(decode(&bytes).is_ok());
}

#[test]
fn a_block_keeps_an_unfinished_character() {
    assert_eq!(decode_block(b""), Ok(("", &b""[..])));
    assert_eq!(decode_block(b"ab"), Ok(("ab", &b""[..])));
    assert_eq!(decode_block(b"ab\xC3"), Ok(("ab", &b"\xC3"[..])));
    assert_eq!(decode_block(b"\xE2\x82"), Ok(("", &b"\xE2\x82"[..])));
    assert_eq!(decode_block(b"x\xF0\x9F\x98"), Ok(("x", &b"\xF0\x9F\x98"[..])));
    assert_eq!(decode_block("x\u{1F600}".as_bytes()), Ok(("x\u{1F600}", &b""[..])));
    assert_eq!(decode_block(b"\x80"), Err(InvalidUtf8));
    assert_eq!(decode_block(b"\x80\x80\x80\x80"), Err(InvalidUtf8));
    assert_eq!(decode_block(b"a\xFF"), Err(InvalidUtf8));
    assert_eq!(decode_block(b"\xC3a"), Err(InvalidUtf8));
}

/// Decodes block by block as a stream does: sniff, byte order mark, then each block led by the rest of the last.
fn decode_in_blocks(bytes: &[u8], cuts: &[usize]) -> Result<String, NotText> {
    sniff(bytes)?;
    let body = without_bom(bytes);
    let (mut out, mut rest, mut from) = (String::new(), Vec::new(), 0);
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (body.len() + 1)).collect();
    ends.sort_unstable();
    ends.push(body.len());
    for end in ends {
        rest.extend_from_slice(&body[from..end]);
        from = end;
        let (text, left) = decode_block(&rest)?;
        assert!(left.len() <= 3);
        out.push_str(text);
        rest = left.to_vec();
    }
    if rest.is_empty() { Ok(out) } else { Err(InvalidUtf8) }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_blocks_give_the_text_of_the_whole(bytes in any_bytes(), cuts in prop::collection::vec(any::<usize>(), 0..6)) {
        let whole = decode(&bytes).map(str::to_owned);
        prop_assert_eq!(decode_in_blocks(&bytes, &cuts), whole);
        let every_byte: Vec<usize> = (0..bytes.len()).collect();
        prop_assert_eq!(decode_in_blocks(&bytes, &every_byte), decode(&bytes).map(str::to_owned));
    }

    #[test]
    fn decode_agrees_with_the_standard_library(bytes in any_bytes()) {
        let expected = match std::str::from_utf8(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes)) {
            _ if bytes.contains(&0) => Err(Binary),
            Ok(text) => Ok(text),
            Err(_) => Err(InvalidUtf8),
        };
        prop_assert_eq!(decode(&bytes), expected);
    }
}
