//! The literal edit: what matches, and what the file holds afterwards.
//!
//! Exact matching only: no pattern, no unescaping, no folding of quotes, case or Unicode forms. The one
//! equivalence is the line ending: a `\n` of the request stands for `\n` or `\r\n` in the file. Nothing outside
//! the matched spans changes by a byte.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use crate::line_endings::{LineEnding, LineEndings, to_lf, with_ending};
use crate::{FsError, text};

/// A request to replace literal text, checked when made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiteralEdit {
    old: String,
    new: String,
    replace_all: bool,
}

/// Why a request cannot be an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEdit {
    /// There is nothing to look for.
    #[error("old_string must be a non-empty string")]
    EmptyOldString,
    /// Both texts are the same, line endings aside.
    #[error("old_string and new_string must differ")]
    SameText,
}

impl LiteralEdit {
    /// Replaces `old` (exactly one match, or every match with `replace_all`) by `new`; an empty `new` deletes.
    pub fn new(old: &str, new: &str, replace_all: bool) -> Result<Self, InvalidEdit> {
        if old.is_empty() {
            return Err(InvalidEdit::EmptyOldString);
        }
        let (old, new) = (to_lf(old).into_owned(), to_lf(new).into_owned());
        if old == new {
            return Err(InvalidEdit::SameText);
        }
        Ok(Self { old, new, replace_all })
    }

    /// Matches against the text of a file (without its byte order mark) and replaces.
    pub fn apply(&self, text: &str) -> Result<Edited, NoSingleMatch> {
        let before = Normalised::of(text);
        let starts = self.matches(&before.text)?;
        let majority = LineEndings { crlf: before.crlf.len(), lf: before.lf_only() }.majority();

        let mut edited = Edited {
            raw: String::with_capacity(text.len() + starts.len() * self.new.len()),
            after: String::with_capacity(before.text.len() + starts.len() * self.new.len()),
            before: String::new(),
            changes: Vec::with_capacity(starts.len()),
        };
        let mut done = 0;
        for start in starts {
            let span = start..start + self.old.len();
            let ending = before.endings_in(&span).majority().or(majority).unwrap_or(LineEnding::Lf);
            edited.raw.push_str(before.raw(text, done..span.start));
            edited.raw.push_str(&with_ending(&self.new, ending));
            edited.after.push_str(&before.text[done..span.start]);
            let put = edited.after.len();
            edited.after.push_str(&self.new);
            done = span.end;
            edited.changes.push(Change { before: span, after: put..edited.after.len() });
        }
        edited.raw.push_str(before.raw(text, done..before.text.len()));
        edited.after.push_str(&before.text[done..]);
        edited.before = before.text.into_owned();
        Ok(edited)
    }

    /// Where the replacements go: left to right, without overlap.
    fn matches(&self, text: &str) -> Result<Vec<usize>, NoSingleMatch> {
        let finder = memmem::Finder::new(&self.old);
        let mut starts = finder.find_iter(text.as_bytes());
        let Some(first) = starts.next() else {
            return Err(NoSingleMatch { matches: 0 });
        };
        if self.replace_all {
            return Ok(std::iter::once(first).chain(starts).collect());
        }
        let more = starts.count();
        if more > 0 {
            return Err(NoSingleMatch { matches: more + 1 });
        }
        // One match by that count, but another place may overlap it: which of the two was meant?
        if finder.find(&text.as_bytes()[first + 1..]).is_some() {
            return Err(NoSingleMatch { matches: 2 });
        }
        Ok(vec![first])
    }
}

/// The text is in the file not at all (0) or at several places where one was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSingleMatch {
    /// How many places there are: what `replace_all` would replace, or 2 where two places overlap.
    pub matches: usize,
}

impl NoSingleMatch {
    /// The failure as a backend reports it for the file with this display path.
    pub fn in_file(self, path: &str) -> FsError {
        if self.matches == 0 {
            FsError::edit_not_found(path)
        } else {
            FsError::ambiguous_edit(path, self.matches)
        }
    }
}

/// What an edit made of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The new text with the file's own line endings: what goes to disk, after the byte order mark.
    pub raw: String,
    /// The old text, every `\r\n` as `\n`.
    pub before: String,
    /// The new text, every kept `\r\n` as `\n`.
    pub after: String,
    /// What was replaced, in order.
    pub changes: Vec<Change>,
}

impl Edited {
    /// The bytes to write over a file that held `old`: the new text behind the old byte order mark, if any.
    pub fn bytes_like(&self, old: &[u8]) -> Vec<u8> {
        let bom = if old.starts_with(text::BOM) { text::BOM } else { b"" };
        [bom, self.raw.as_bytes()].concat()
    }
}

/// One replaced span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Bytes of [`Edited::before`] that were replaced.
    pub before: Range<usize>,
    /// Bytes of [`Edited::after`] that stand there now.
    pub after: Range<usize>,
}

/// A text with `\r\n` as `\n`, and the way back to the bytes it came from.
struct Normalised<'a> {
    text: Cow<'a, str>,
    /// Where in `text` the `\n` stand that were `\r\n`, ascending.
    crlf: Vec<usize>,
}

impl<'a> Normalised<'a> {
    fn of(raw: &'a str) -> Self {
        let crlf = memmem::find_iter(raw.as_bytes(), b"\r\n").enumerate().map(|(n, at)| at - n).collect();
        Self { text: to_lf(raw), crlf }
    }

    fn lf_only(&self) -> usize {
        memchr::memchr_iter(b'\n', self.text.as_bytes()).count() - self.crlf.len()
    }

    fn endings_in(&self, span: &Range<usize>) -> LineEndings {
        let all = memchr::memchr_iter(b'\n', &self.text.as_bytes()[span.clone()]).count();
        let crlf = self.crlf_before(span.end) - self.crlf_before(span.start);
        LineEndings { crlf, lf: all - crlf }
    }

    fn crlf_before(&self, at: usize) -> usize {
        self.crlf.partition_point(|&newline| newline < at)
    }

    /// The bytes that a span of the normalised text came from.
    fn raw<'r>(&self, raw: &'r str, span: Range<usize>) -> &'r str {
        &raw[span.start + self.crlf_before(span.start)..span.end + self.crlf_before(span.end)]
    }
}
