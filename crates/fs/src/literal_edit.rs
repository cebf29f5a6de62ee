//! The literal edit: what matches, and what the file holds afterwards.
//!
//! Exact matching only: no pattern, no unescaping, no folding of quotes, case or Unicode forms. The one
//! equivalence is the line ending: a `\n` of the request stands for `\n` or `\r\n` in the file. Nothing outside
//! the matched spans changes by a byte.

use std::borrow::Cow;
use std::collections::TryReserveError;
use std::iter::Peekable;
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

    /// Matches against a file. `file` is all of its text, a byte order mark included, which no match touches; it is kept as
    /// it is, so that of a large file nothing is copied.
    pub fn apply(&self, file: impl Into<String>) -> Result<Edited, NoSingleMatch> {
        let file = file.into();
        let mark = if file.as_bytes().starts_with(text::BOM) { text::BOM.len() } else { 0 };
        let before = to_lf(&file[mark..]);
        let starts = self.matches(&before)?;
        let before = match before {
            Cow::Borrowed(_) => None,
            Cow::Owned(before) => Some(before),
        };
        let crlf = (before.is_some() && self.new.contains('\n')).then(|| Crlf {
            majority: LineEndings::count(&file[mark..]).majority(),
            new: with_ending(&self.new, LineEnding::Crlf).into_owned(),
        });
        Ok(Edited { edit: self.clone(), starts, file, mark, before, crlf, texts: EditedTexts::default() })
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

/// An edit that fits a file. The old file is kept as it was given; what it holds afterwards is handed out in
/// [`pieces`](Self::pieces), and made whole only by [`into_texts`](Self::into_texts).
#[derive(Clone, Debug)]
pub struct Edited {
    edit: LiteralEdit,
    /// Where in the old text, every line ending a `\n`, the matches begin.
    starts: Vec<usize>,
    file: String,
    /// Bytes of the byte order mark at the start of `file`.
    mark: usize,
    /// The old text with every `\r\n` as `\n`, where that is another than the file's.
    before: Option<String>,
    /// What decides about the line endings of the new text, where there is something to decide.
    crlf: Option<Crlf>,
    /// Memory for what is told at the end.
    texts: EditedTexts,
}

/// The other way to write the new text, of a file that has `\r\n`.
#[derive(Clone, Debug)]
struct Crlf {
    /// What most line endings of the file are.
    majority: Option<LineEnding>,
    /// The new text with every `\n` as `\r\n`.
    new: String,
}

impl Edited {
    /// What the file holds now, byte order mark included: by turns a piece of the old file that stays, byte for byte, and
    /// the new text, with the line ending of its match (or else of most of the file, or else `\n`).
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut splices = self.splices();
        let (mut done, mut put, mut over) = (0, None, false);
        std::iter::from_fn(move || {
            if let Some(new) = put.take() {
                return Some(Piece::New(new));
            }
            let Some((span, new)) = splices.next() else {
                let rest = Piece::Kept { at: done, text: &self.file[done..] };
                return (!std::mem::replace(&mut over, true)).then_some(rest);
            };
            let kept = Piece::Kept { at: done, text: &self.file[done..span.start] };
            (done, put) = (span.end, Some(new));
            Some(kept)
        })
    }

    /// The bytes of the old file that are replaced, and what by.
    fn splices(&self) -> impl Iterator<Item = (Range<usize>, &str)> {
        let raw = &self.file[self.mark..];
        // Without a `\r\n` in the file both texts are one.
        let mut way = if self.before.is_some() { WayBack::through(raw) } else { WayBack::default() };
        let newlines = memchr::memchr_iter(b'\n', self.edit.old.as_bytes()).count();
        self.starts.iter().map(move |&start| {
            let from = way.raw(start);
            let crlf_before = way.crlf_passed;
            let to = way.raw(start + self.edit.old.len());
            let crlf = way.crlf_passed - crlf_before;
            let in_match = LineEndings { crlf, lf: newlines - crlf }.majority();
            let new = match &self.crlf {
                Some(other) if in_match.or(other.majority) == Some(LineEnding::Crlf) => &other.new,
                _ => &self.edit.new,
            };
            (self.mark + from..self.mark + to, new.as_str())
        })
    }

    /// Takes the memory that [`into_texts`](Self::into_texts) will need, so that it cannot fail once the change is made. Fails
    /// where there is not enough.
    pub fn reserve_texts(&mut self) -> Result<(), TryReserveError> {
        let old = self.before.as_deref().unwrap_or(&self.file[self.mark..]).len();
        let matches = self.starts.len();
        // Saturated, so that what no machine has is refused and not wrapped around.
        let put = self.edit.new.len().saturating_mul(matches);
        self.texts.after.try_reserve_exact(put.saturating_add(old - matches * self.edit.old.len()))?;
        self.texts.changes.try_reserve_exact(matches)
    }

    /// The old and the new text, and what was replaced. Lets go of the old file first.
    pub fn into_texts(self) -> EditedTexts {
        let Self { edit, starts, mut file, mark, before, texts, .. } = self;
        let before = if let Some(before) = before {
            // Three texts of a large file need not be held at once.
            drop(file);
            before
        } else {
            file.drain(..mark);
            file
        };
        let (old, new) = (edit.old.len(), edit.new.len());
        let EditedTexts { mut after, mut changes, .. } = texts;
        let mut done = 0;
        for start in starts {
            after.push_str(&before[done..start]);
            let put = after.len();
            after.push_str(&edit.new);
            done = start + old;
            changes.push(Change { before: start..done, after: put..put + new });
        }
        after.push_str(&before[done..]);
        EditedTexts { before, after, changes }
    }
}

/// A part of an edited file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// It stays; the first piece is always one of these.
    Kept {
        /// Where in the old file it stood, in bytes.
        at: usize,
        /// The very bytes of the old file; may be none.
        text: &'a str,
    },
    /// It was put in place of a match.
    New(&'a str),
}

impl<'a> Piece<'a> {
    /// What stands in the file.
    pub fn text(self) -> &'a str {
        match self {
            Self::Kept { text, .. } | Self::New(text) => text,
        }
    }
}

/// What an edit changed, told in texts whose line endings are all `\n`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditedTexts {
    /// The old text, every `\r\n` as `\n`, without a byte order mark.
    pub before: String,
    /// The new text, every kept `\r\n` as `\n`.
    pub after: String,
    /// What was replaced, in order.
    pub changes: Vec<Change>,
}

/// One replaced span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Bytes of [`EditedTexts::before`] that were replaced.
    pub before: Range<usize>,
    /// Bytes of [`EditedTexts::after`] that stand there now.
    pub after: Range<usize>,
}

/// The way from a text whose line endings are all `\n` back to the one it came from, from the start to the end.
#[derive(Default)]
struct WayBack<'a> {
    /// The `\r\n` that lie ahead.
    crlf: Option<Peekable<memmem::FindIter<'a, 'static>>>,
    /// How many lie behind: the text is so many bytes shorter up to here.
    crlf_passed: usize,
}

impl<'a> WayBack<'a> {
    fn through(raw: &'a str) -> Self {
        Self { crlf: Some(memmem::find_iter(raw.as_bytes(), b"\r\n").peekable()), crlf_passed: 0 }
    }

    /// Where `at` lies in the raw text. Places must be asked for in ascending order.
    fn raw(&mut self, at: usize) -> usize {
        while let Some(crlf) = &mut self.crlf
            && crlf.next_if(|raw| raw - self.crlf_passed < at).is_some()
        {
            self.crlf_passed += 1;
        }
        at + self.crlf_passed
    }
}
