//! Line endings: counting them, taking them off for comparison, and putting a file's own back on.

use std::borrow::Cow;

use memchr::memmem;

use crate::text;

/// One line ending. A lone CR is an ordinary character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineEnding {
    /// `\n`
    Lf,
    /// `\r\n`
    Crlf,
}

impl LineEnding {
    /// The characters of this ending.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::Crlf => "\r\n",
        }
    }
}

/// How many line endings of each kind a text has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineEndings {
    /// Number of `\n` without a `\r` before it.
    pub lf: usize,
    /// Number of `\r\n`.
    pub crlf: usize,
}

impl LineEndings {
    /// Counts the line endings of `text`.
    pub fn count(text: &str) -> Self {
        let crlf = memmem::find_iter(text.as_bytes(), b"\r\n").count();
        Self { lf: memchr::memchr_iter(b'\n', text.as_bytes()).count() - crlf, crlf }
    }

    /// The more frequent ending; `None` for a tie or where there is none.
    pub fn majority(self) -> Option<LineEnding> {
        match self.crlf.cmp(&self.lf) {
            std::cmp::Ordering::Greater => Some(LineEnding::Crlf),
            std::cmp::Ordering::Less => Some(LineEnding::Lf),
            std::cmp::Ordering::Equal => None,
        }
    }

    /// Is every line ending a `\r\n`, and is there one?
    pub fn all_crlf(self) -> bool {
        self.crlf > 0 && self.lf == 0
    }
}

/// The text with every `\r\n` as `\n`. Lone CRs stay.
pub fn to_lf(text: &str) -> Cow<'_, str> {
    replaced(text, "\r\n", "\n")
}

/// The text, whose line endings are all `\n`, with `ending` in their place.
pub fn with_ending(lf_text: &str, ending: LineEnding) -> Cow<'_, str> {
    match ending {
        LineEnding::Lf => Cow::Borrowed(lf_text),
        LineEnding::Crlf => replaced(lf_text, "\n", "\r\n"),
    }
}

/// What a whole-file write keeps of the text it replaces: the byte order mark, and CRLF where it was the rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dress {
    /// The file began with a byte order mark.
    pub bom: bool,
    /// Every line ending of the file was `\r\n`, and there was one.
    pub crlf: bool,
}

impl Dress {
    /// The dress of a file: its bytes, and what [`text::decode`] made of them.
    pub fn of(bytes: &[u8], decoded: &str) -> Self {
        Self { bom: bytes.starts_with(text::BOM), crlf: LineEndings::count(decoded).all_crlf() }
    }

    /// The bytes to write for `content`. The byte order mark is never doubled; the `\n` of `content` become `\r\n`
    /// only if it has no `\r`. Without either, and for a new file, the text is written as given.
    pub fn put_on(self, content: &str) -> Cow<'_, [u8]> {
        let body = if self.crlf && memchr::memchr(b'\r', content.as_bytes()).is_none() {
            with_ending(content, LineEnding::Crlf)
        } else {
            Cow::Borrowed(content)
        };
        if self.bom && !content.as_bytes().starts_with(text::BOM) {
            return Cow::Owned([text::BOM, body.as_bytes()].concat());
        }
        match body {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }
    }
}

fn replaced<'a>(text: &'a str, from: &str, to: &str) -> Cow<'a, str> {
    let mut places = memmem::find_iter(text.as_bytes(), from).peekable();
    if places.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let mut done = 0;
    for at in places {
        out.push_str(&text[done..at]);
        out.push_str(to);
        done = at + from.len();
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}
