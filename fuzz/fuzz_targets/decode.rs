//! Any bytes, in any blocks: what is text, and what it says.
//!
//! Input: the sizes of the blocks, then the bytes of a file.

#![no_main]

use dsh_fs::NotText;
use dsh_fs::text::{BOM, SNIFF_BYTES, decode, decode_block, sniff, without_bom};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let (sizes, bytes) = dsh_fuzz::sizes(input);
    let whole = decode(bytes);
    assert_eq!(whole, by_the_book(bytes));
    assert_eq!(in_blocks(bytes, sizes), whole.map(str::to_owned));
});

/// The rules as the module page has them, by means of the standard library.
fn by_the_book(bytes: &[u8]) -> Result<&str, NotText> {
    let head = &bytes[..bytes.len().min(SNIFF_BYTES)];
    assert_eq!(sniff(bytes).is_err(), head.contains(&0));
    if head.contains(&0) {
        return Err(NotText::Binary);
    }
    let body = if bytes.starts_with(BOM) { &bytes[BOM.len()..] } else { bytes };
    std::str::from_utf8(body).map_err(|_| NotText::InvalidUtf8)
}

/// Block by block, as a stream does it.
fn in_blocks(bytes: &[u8], sizes: &[u8]) -> Result<String, NotText> {
    sniff(bytes)?;
    let body = without_bom(bytes);
    let (mut all, mut block, mut from) = (String::new(), Vec::new(), 0);
    for end in dsh_fuzz::cuts(sizes, body.len()) {
        block.extend_from_slice(&body[from..end]);
        from = end;
        let (text, rest) = decode_block(&block)?;
        assert_eq!([text.as_bytes(), rest].concat(), block, "nothing is lost or added");
        if let [first, more @ ..] = rest {
            // Whether more of the character would be right, the next block tells.
            let needs = [0xC2..=0xDF, 0xE0..=0xEF, 0xF0..=0xF4]
                .iter()
                .position(|first_bytes| first_bytes.contains(first));
            assert!(needs.is_some_and(|needs| more.len() <= needs), "{rest:?} is the start of one character");
            assert!(more.iter().all(|byte| (0x80..=0xBF).contains(byte)), "{rest:?} is one character");
        }
        all.push_str(text);
        block = rest.to_vec();
    }
    if block.is_empty() { Ok(all) } else { Err(NotText::InvalidUtf8) }
}
