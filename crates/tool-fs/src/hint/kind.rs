//! How a text differs from the one that was meant: the kinds, and finding out which.

use unicode_normalization::UnicodeNormalization as _;

use crate::hint::fold::{is_blank, is_unseen, plain};

/// One way in which `old_string` differs from the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Tabs for spaces, or another depth.
    Indentation,
    /// Blanks at the ends of lines.
    TrailingBlanks,
    /// Signs that look alike: quotes, dashes, blanks that are no spaces.
    LookAlikes,
    /// Capital and small letters.
    Case,
    /// The same characters, composed differently.
    NormalForm,
    /// `\n`, `\t` or `\"` where the file has the characters themselves.
    EscapesWrittenOut,
    /// The characters themselves where the file has them written out.
    EscapesMissing,
    /// The line numbers of a read.
    Gutter,
    /// A mark of a line that was cut, or what surrounds the lines of a read.
    Marker,
    /// Lone carriage returns as line endings.
    LineEndings,
    /// A line ending behind the last line, which has none.
    FinalNewline,
    /// Blanks inside lines, or empty lines.
    Spacing,
    /// Other text.
    Text,
}

impl Kind {
    /// Behind "differs in".
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Indentation => "indentation",
            Self::TrailingBlanks => "blanks at the end of a line",
            Self::LookAlikes => "quotes, dashes or blanks that look alike",
            Self::Case => "letter case",
            Self::NormalForm => "Unicode normal form",
            Self::EscapesWrittenOut => "escapes written out (\\n, \\t, \\\") in old_string",
            Self::EscapesMissing => "escapes that the file has written out (\\n, \\t, \\\")",
            Self::Gutter => "line numbers copied into old_string",
            Self::Marker => "a truncation mark or footer copied into old_string",
            Self::LineEndings => "line endings (a lone carriage return, \\r, in the file)",
            Self::FinalNewline => "a missing final newline (the file ends there without one)",
            Self::Spacing => "spacing",
            Self::Text => "text",
        }
    }

    /// The text without this difference.
    fn without(self, text: &str) -> String {
        let lines = |one: fn(&str) -> &str| text.split('\n').map(one).collect::<Vec<_>>().join("\n");
        match self {
            Self::Indentation => lines(|line| line.trim_start_matches([' ', '\t'])),
            Self::TrailingBlanks => lines(|line| line.trim_end_matches([' ', '\t'])),
            Self::LookAlikes => {
                let mut same = String::with_capacity(text.len());
                for character in text.chars().filter(|character| !is_unseen(*character)) {
                    match plain(character) {
                        Some(plain) => same.push_str(plain),
                        None if !character.is_ascii() && is_blank(character) => same.push(' '),
                        None => same.push(character),
                    }
                }
                same
            }
            Self::Case => text.to_lowercase(),
            Self::NormalForm => text.nfkc().collect(),
            Self::LineEndings => text.replace('\r', "\n"),
            Self::FinalNewline => text.strip_suffix('\n').unwrap_or(text).to_owned(),
            Self::Spacing => text.chars().filter(|character| !is_blank(*character)).collect(),
            Self::EscapesWrittenOut | Self::EscapesMissing | Self::Gutter | Self::Marker | Self::Text => {
                text.to_owned()
            }
        }
    }
}

/// Those that can be told by taking them away, the more telling ones first.
const TOLD_APART: [Kind; 8] = [
    Kind::LineEndings,
    Kind::FinalNewline,
    Kind::TrailingBlanks,
    Kind::Indentation,
    Kind::LookAlikes,
    Kind::Case,
    Kind::NormalForm,
    Kind::Spacing,
];

/// In what two texts of one skeleton differ: the one kind that makes the whole difference, else as few as do. Nothing
/// where they are equal.
pub(crate) fn between(a: &str, b: &str) -> Vec<Kind> {
    if a == b {
        return Vec::new();
    }
    if let Some(kind) = TOLD_APART.into_iter().find(|kind| kind.without(a) == kind.without(b)) {
        return vec![kind];
    }
    let same_without = |kinds: &[Kind]| {
        let without =
            |text: &str| kinds.iter().fold(text.to_owned(), |text: String, kind: &Kind| kind.without(&text));
        without(a) == without(b)
    };
    let mut kinds = TOLD_APART.to_vec();
    if !same_without(&kinds) {
        return vec![Kind::Text];
    }
    for unneeded in TOLD_APART.into_iter().rev() {
        let rest: Vec<Kind> = kinds.iter().copied().filter(|kind| *kind != unneeded).collect();
        if same_without(&rest) {
            kinds = rest;
        }
    }
    kinds
}

/// The kinds as a list in words.
pub(crate) fn listed(kinds: &[Kind]) -> String {
    kinds.iter().map(|kind| kind.words()).collect::<Vec<_>>().join(", and ")
}
