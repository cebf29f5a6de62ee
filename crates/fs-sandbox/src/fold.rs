//! Spellings that some file system takes for one name.
//!
//! Folding goes further than any one file system does: a name too many that counts as protected costs a refusal, a name
//! too few is a hole.

use unicode_normalization::UnicodeNormalization;

/// The text without case, in one Unicode form, without the characters that are not to be seen.
///
/// To capitals first, since some characters (`ſ`, `ﬁ`) meet their letters only there.
pub(crate) fn text(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfc()
        .filter(|character| !is_ignorable(*character))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfc()
        .collect()
}

/// The same for one component of a path: neither what follows a `:` (a stream of NTFS) nor dots and spaces at the end count.
pub(crate) fn name(name: &str) -> String {
    let mut folded = text(name);
    folded.truncate(cut(&folded).len());
    folded
}

/// The part of a component that counts.
pub(crate) fn cut(name: &str) -> &str {
    name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' '])
}

/// Could `given`, folded, be the short name (`GIT~1`) that a FAT or NTFS volume made up for `long`, folded?
///
/// Such a name begins with the first letters of the long one, or with two of them and a hash.
pub(crate) fn is_short_name_of(given: &str, long: &str) -> bool {
    let stem = given.split('.').next().unwrap_or_default();
    let Some((head, number)) = stem.split_once('~') else { return false };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let letters = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).take(2).collect::<String>();
    is_number && !head.is_empty() && letters(head) == letters(long)
}

/// What HFS+ and case-folding ext4 leave out when they compare names.
fn is_ignorable(character: char) -> bool {
    matches!(character,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}
