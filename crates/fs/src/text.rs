//! What counts as text: valid UTF-8 with no NUL in the first 8192 bytes; a byte order mark is not part of it.
//!
//! `read`, `edit` and the diff basis of a write all ask here, so that they agree.

use crate::NotText;

/// How many bytes from the start of a file are searched for a NUL.
pub const SNIFF_BYTES: usize = 8192;

/// The UTF-8 byte order mark.
pub const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Takes the byte order mark off, if there is one.
pub fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BOM).unwrap_or(bytes)
}

/// Reads a whole file's bytes as text, without its byte order mark.
pub fn decode(bytes: &[u8]) -> Result<&str, NotText> {
    sniff(bytes)?;
    simdutf8::basic::from_utf8(without_bom(bytes)).map_err(|_| NotText::InvalidUtf8)
}

/// The same for bytes that are given away, without copying them. A byte order mark stays at the front.
pub fn decode_owned(bytes: Vec<u8>) -> Result<String, NotText> {
    sniff(&bytes)?;
    String::from_utf8(bytes).map_err(|_| NotText::InvalidUtf8)
}

/// Refuses bytes that hold a NUL; `head` is the start of a file, of which the first [`SNIFF_BYTES`] count.
pub fn sniff(head: &[u8]) -> Result<(), NotText> {
    match memchr::memchr(0, &head[..head.len().min(SNIFF_BYTES)]) {
        Some(_) => Err(NotText::Binary),
        None => Ok(()),
    }
}

/// The longest prefix of `block` that ends between two characters, as text; the rest (at most 3 bytes) is the
/// start of a character whose end the next block holds.
///
/// Blocks decoded one after another, each led by the rest of the one before, give the text of the whole.
pub fn decode_block(block: &[u8]) -> Result<(&str, &[u8]), NotText> {
    let (whole, rest) = block.split_at(block.len() - unfinished(block));
    let text = simdutf8::basic::from_utf8(whole).map_err(|_| NotText::InvalidUtf8)?;
    Ok((text, rest))
}

/// How many bytes at the end of `block` begin a character that they do not end.
fn unfinished(block: &[u8]) -> usize {
    for back in 1..=block.len().min(3) {
        let needs = match block[block.len() - back] {
            0x80..=0xBF => continue,
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => 1,
        };
        return if needs > back { back } else { 0 };
    }
    0
}
