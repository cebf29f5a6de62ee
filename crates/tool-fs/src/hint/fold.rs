//! Texts without what a model easily gets wrong: blanks, case, typographic signs, Unicode forms.
//!
//! Two texts with one [`skeleton`](Skeleton) are the same to a reader. That is never enough to edit by, but it is to point
//! at the place.

use std::ops::Range;

use memchr::memmem;
use unicode_normalization::char::decompose_compatible;

use crate::hint::budget::Deadline;

/// After this many characters the time is looked at.
const CHARACTERS_AT_ONCE: usize = 4096;

/// A text without its blanks, in small letters, signs that look alike as one; and the way back.
#[derive(Debug)]
pub(crate) struct Skeleton<'a> {
    of: &'a str,
    pub(crate) text: String,
    /// Where each line begins: in the text, and in its skeleton.
    lines: Vec<(usize, usize)>,
}

impl<'a> Skeleton<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let mut skeleton = Self { of: text, text: String::with_capacity(text.len()), lines: Vec::new() };
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            skeleton.lines.push((start, skeleton.text.len()));
            fold_into(&mut skeleton.text, line);
            start += line.len();
        }
        skeleton
    }

    /// The places whose skeleton is `wanted`, at most `most`, as spans of the text without the blanks around; none where the
    /// time is over.
    pub(crate) fn find(&self, wanted: &str, most: usize, deadline: Deadline) -> Vec<Range<usize>> {
        if wanted.is_empty() {
            return Vec::new();
        }
        let starts = memmem::find_iter(self.text.as_bytes(), wanted.as_bytes()).take(most);
        let mut cursor = Cursor::default();
        let spans = starts.map(|at| {
            let start = self.source(at, &mut cursor, deadline)?.start;
            Some(start..self.source(at + wanted.len() - 1, &mut cursor, deadline)?.end)
        });
        spans.collect::<Option<_>>().unwrap_or_default()
    }

    /// The skeleton of one line.
    pub(crate) fn line(&self, line: usize) -> &str {
        let start = |line: usize| self.lines.get(line).map_or(self.text.len(), |&(_, start)| start);
        &self.text[start(line)..start(line + 1)]
    }

    /// The character of the text that the byte at `at` of the skeleton came from, which is not before the cursor. `None`
    /// where the time is over.
    fn source(&self, at: usize, cursor: &mut Cursor, deadline: Deadline) -> Option<Range<usize>> {
        let line = self.lines.partition_point(|&(_, start)| start <= at).saturating_sub(1);
        let (start, folded) = self.lines.get(line).copied().unwrap_or_default();
        if start > cursor.text {
            *cursor = Cursor { text: start, folded };
        }
        let mut buffer = String::new();
        for (passed, character) in self.of[cursor.text..].chars().enumerate() {
            if passed % CHARACTERS_AT_ONCE == 0 && deadline.is_over() {
                return None;
            }
            buffer.clear();
            fold_character(&mut buffer, character);
            if cursor.folded + buffer.len() > at {
                return Some(cursor.text..cursor.text + character.len_utf8());
            }
            cursor.text += character.len_utf8();
            cursor.folded += buffer.len();
        }
        Some(self.of.len()..self.of.len())
    }
}

/// How far the way back has been gone: a character of the text, and where what it becomes begins in the skeleton.
#[derive(Debug, Default, PartialEq, Eq)]
struct Cursor {
    text: usize,
    folded: usize,
}

/// The skeleton of a text that no way back is wanted from.
pub(crate) fn skeleton(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_into(&mut folded, text);
    folded
}

fn fold_into(folded: &mut String, text: &str) {
    if text.is_ascii() {
        // Most lines are; so a file of a megabyte takes a fraction of the time.
        let seen = text.bytes().filter(|byte| !matches!(byte, b'\t'..=b'\r' | b' '));
        folded.extend(seen.map(|byte| char::from(byte.to_ascii_lowercase())));
        return;
    }
    for character in text.chars() {
        fold_character(folded, character);
    }
}

fn fold_character(folded: &mut String, character: char) {
    if character.is_ascii() {
        if !is_blank(character) {
            folded.push(character.to_ascii_lowercase());
        }
    } else if is_blank(character) || is_unseen(character) {
    } else if let Some(plain) = plain(character) {
        folded.push_str(plain);
    } else {
        decompose_compatible(character, |part| folded.extend(part.to_lowercase()));
    }
}

/// Does the character only make room?
pub(crate) fn is_blank(character: char) -> bool {
    character.is_whitespace()
}

/// Is it a character of no width?
pub(crate) fn is_unseen(character: char) -> bool {
    matches!(character, '\u{AD}' | '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}')
}

/// The ASCII that a typographic sign stands for, or is taken for.
pub(crate) fn plain(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{2018}'..='\u{201B}' | '\u{2032}' | '\u{2035}' | '\u{B4}' | '\u{2BC}' => "'",
        '\u{201C}'..='\u{201F}' | '\u{2033}' | '\u{2036}' | '\u{AB}' | '\u{BB}' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2043}' => "-",
        '\u{2026}' => "...",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn far() -> Deadline {
        Deadline::after(Duration::from_secs(60))
    }

    #[test]
    fn the_way_back_leads_over_lines_and_characters_that_become_several() {
        let file = Skeleton::of("A b…\n\n a\tB ... ab…");
        assert_eq!(file.text, "ab...ab...ab...");
        assert_eq!(file.find("ab", 8, far()), [0..3, 9..12, 17..19]);
        assert_eq!(file.find(".", 4, far()), [3..6, 3..6, 3..6, 13..14]);
        assert_eq!(file.find("ab...", 2, far()), [0..6, 9..16]);
    }

    #[test]
    fn hits_in_one_long_line_go_over_it_once() {
        let text = format!("{}{}", "x ".repeat(1 << 19), "a B".repeat(64));
        let file = Skeleton::of(&text);
        let found = file.find("ab", 64, far());
        let expected: Vec<_> = (0..64).map(|hit| (1 << 20) + 3 * hit).map(|at| at..at + 3).collect();
        assert_eq!(found, expected);
        assert_eq!(file.find("ab", 64, Deadline::after(Duration::ZERO)), []);
        // The second look begins where the first one ended, not at the start of the line.
        let mut cursor = Cursor::default();
        assert_eq!(file.source(1 << 19, &mut cursor, far()), Some(1 << 20..(1 << 20) + 1));
        assert_eq!(cursor, Cursor { text: 1 << 20, folded: 1 << 19 });
    }
}
