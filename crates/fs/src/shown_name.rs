//! How a path is shown to a model: as it is where it is plain text, else escaped and marked.

use std::borrow::Cow;
use std::fmt::Write as _;

/// What follows a path that could not be shown as it is.
pub const MARK: &str = " (name escaped)";

/// The path as a model may be shown it.
///
/// UTF-8 without control characters stays as it is. In anything else, control characters, bytes that are not UTF-8 and the
/// backslash are written as in a Rust string (`\n`, `\u{1b}`, `\xff`, `\\`), and [`MARK`] follows, so that it is one line and
/// nobody takes it for the name.
pub fn shown(path: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(path) {
        Ok(text) if !text.contains(char::is_control) => Cow::Borrowed(text),
        _ => Cow::Owned(escaped(path)),
    }
}

/// Is this how [`shown`] writes a path that could not be shown as it is? No file can be opened by it.
pub fn is_marked(path: &str) -> bool {
    path.ends_with(MARK)
}

fn escaped(path: &[u8]) -> String {
    let mut shown = String::with_capacity(path.len() + MARK.len() + 8);
    for chunk in path.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() || character == '\\' {
                shown.extend(character.escape_default());
            } else {
                shown.push(character);
            }
        }
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown + MARK
}
