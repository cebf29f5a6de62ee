//! Any text as the name of a file.

use std::fmt::Write as _;

/// Letters, digits, `.`, `_` and `-` as they are, any other UTF-16 unit as `~XXXX`; never empty, `.` or `..`.
pub(crate) fn encoded(name: &str) -> String {
    match name {
        "" => return "~".to_owned(),
        "." | ".." => return name.replace('.', "~002E"),
        _ => {}
    }
    let mut encoded = String::new();
    for unit in name.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) => encoded.push(byte.into()),
            // Writing to a `String` cannot fail.
            _ => drop(write!(encoded, "~{unit:04X}")),
        }
    }
    encoded
}

/// The text that [`encoded`] was given; `None` for a name that it does not make.
pub(crate) fn decoded(name: &str) -> Option<String> {
    if name == "~" {
        return Some(String::new());
    }
    let mut units = Vec::new();
    let mut rest = name;
    while let Some(at) = rest.find('~') {
        units.extend(rest[..at].encode_utf16());
        units.push(u16::from_str_radix(rest.get(at + 1..at + 5)?, 16).ok()?);
        rest = &rest[at + 5..];
    }
    units.extend(rest.encode_utf16());
    String::from_utf16(&units).ok().filter(|text| encoded(text) == name)
}
