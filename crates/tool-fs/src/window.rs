//! The window that one `read` shows: which lines, how long, and how many there are in all.
//!
//! Text goes in piece by piece, wherever it is cut; the window comes out. The whole text is always counted, only
//! the window is kept. Lengths are UTF-16 code units, as the reference counts them, but no character is ever split.

use dsh_fs::FsError;
use dsh_fs::FsErrorCode;
use serde::{Deserialize, Serialize};

/// What bounds a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowLimits {
    /// First line to show, from 1.
    pub offset: u64,
    /// Most lines to show.
    pub limit: u64,
    /// Most UTF-16 code units of a line; a longer line is cut and marked.
    pub max_line_length: usize,
    /// Most bytes of all shown lines, counting one between two lines. The first line is shown in any case, cut to
    /// this if need be, so that paging always moves on.
    pub max_bytes: usize,
}

/// One shown line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Its number, from 1.
    pub number: u64,
    /// Its text without line ending, perhaps cut and marked.
    pub text: String,
}

/// What one read shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The shown lines, in order and without gaps.
    pub lines: Vec<Line>,
    /// How many lines the whole text has. A last line without line ending counts, an empty one after the last line
    /// ending does not.
    pub total_lines: u64,
}

/// A window in the making.
#[derive(Debug)]
pub struct WindowScan {
    limits: WindowLimits,
    lines: Vec<Line>,
    bytes: usize,
    full: bool,
    /// Line endings seen so far.
    endings: u64,
    /// Does the text so far end in the middle of a line?
    in_line: bool,
    current: CurrentLine,
    /// How many lines the text has, where that is known before it was read.
    total_lines: Option<u64>,
}

impl WindowScan {
    /// Starts at the beginning of a text.
    pub fn new(limits: WindowLimits) -> Self {
        Self {
            limits,
            lines: Vec::new(),
            bytes: 0,
            full: limits.limit == 0,
            endings: 0,
            in_line: false,
            current: CurrentLine::default(),
            total_lines: None,
        }
    }

    /// Starts at the beginning of line `line` of a text with `total_lines` lines, which is not behind the window.
    pub fn resumed(limits: WindowLimits, line: u64, total_lines: u64) -> Self {
        let nothing_to_show = limits.offset > total_lines;
        let new = Self::new(limits);
        Self {
            endings: line.saturating_sub(1),
            total_lines: Some(total_lines),
            full: new.full || nothing_to_show,
            ..new
        }
    }

    /// Whether all lines of the window are there, so that what follows is only counted.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// How many line endings were passed, those before the text included.
    pub fn lines_ended(&self) -> u64 {
        self.endings
    }

    /// How many lines the text so far has: one that has begun counts.
    pub fn lines_begun(&self) -> u64 {
        self.endings + u64::from(self.in_line)
    }

    /// Takes the next piece of the text.
    pub fn push(&mut self, mut piece: &str) {
        let Some(&last) = piece.as_bytes().last() else { return };
        self.in_line = last != b'\n';
        piece = self.skip_to_window(piece);
        while !self.full && !piece.is_empty() {
            let Some(end) = memchr::memchr(b'\n', piece.as_bytes()) else {
                self.current.push(piece, self.limits.max_line_length);
                return;
            };
            self.current.push(&piece[..end], self.limits.max_line_length);
            self.endings += 1;
            self.take_current();
            piece = &piece[end + 1..];
        }
        self.endings += memchr::memchr_iter(b'\n', piece.as_bytes()).count() as u64;
    }

    /// Ends the text. Fails when the window begins behind the last line; `path` and
    /// `offset` (as the model wrote it) are for that message.
    pub fn finish(mut self, path: &str, offset: &str) -> Result<Window, FsError> {
        let begun = self.lines_begun();
        if self.in_line && !self.full && begun >= self.limits.offset {
            self.endings = begun;
            self.take_current();
        }
        let total_lines = self.total_lines.unwrap_or(begun);
        let empty_from_the_top = total_lines == 0 && self.limits.offset == 1;
        if self.limits.offset > total_lines && !empty_from_the_top {
            return Err(out_of_range(offset, path, total_lines));
        }
        Ok(Window { lines: self.lines, total_lines })
    }

    /// Counts lines before the window without looking at them; gives back what lies in or behind it.
    fn skip_to_window<'a>(&mut self, piece: &'a str) -> &'a str {
        let before = self.limits.offset.saturating_sub(1).saturating_sub(self.endings);
        if before == 0 {
            return piece;
        }
        let mut skipped = 0;
        for at in memchr::memchr_iter(b'\n', piece.as_bytes()) {
            skipped += 1;
            if skipped == before {
                self.endings += skipped;
                return &piece[at + 1..];
            }
        }
        self.endings += skipped;
        ""
    }

    /// The current line is complete and its number is `endings`: shows it if it fits.
    fn take_current(&mut self) {
        let line = std::mem::take(&mut self.current);
        let first = self.lines.is_empty();
        let mut text = line.shown(self.limits.max_line_length);
        if first && text.len() > self.limits.max_bytes {
            text = line.cut_to_bytes(self.limits.max_bytes);
            self.full = true;
        }
        let cost = text.len() + usize::from(!first);
        if !first && self.bytes + cost > self.limits.max_bytes {
            self.full = true;
            return;
        }
        self.bytes += cost;
        self.lines.push(Line { number: self.endings, text });
        self.full |= self.lines.len() as u64 >= self.limits.limit;
    }
}

/// The failure of a window that begins behind the last line.
fn out_of_range(offset: &str, path: &str, total_lines: u64) -> FsError {
    FsError::new(
        FsErrorCode::NotFound,
        format!("offset {offset} is out of range for \"{path}\" ({total_lines} lines)"),
    )
}

/// The line that is being read: as much of its start as can ever be shown.
#[derive(Debug, Default)]
struct CurrentLine {
    start: String,
    /// `start` holds more than will be shown, so the rest of the line is let go.
    enough: bool,
    /// What was let go was not only carriage returns.
    lost: bool,
}

impl CurrentLine {
    fn push(&mut self, piece: &str, max_units: usize) {
        // One unit more than fits tells that a line is too long; another may turn out to be the CR of its ending.
        let wanted = max_units.saturating_add(2);
        // A character has at least as many bytes as units, so short pieces need no counting.
        if !self.enough && self.start.len() + piece.len() < wanted {
            self.start.push_str(piece);
            return;
        }
        let mut rest = piece.chars();
        if !self.enough {
            let mut units = units_of(&self.start);
            while units < wanted
                && let Some(c) = rest.next()
            {
                self.start.push(c);
                units += c.len_utf16();
            }
            self.enough = units >= wanted;
        }
        self.lost = self.lost || rest.any(|c| c != '\r');
    }

    fn text(&self) -> &str {
        if self.enough { &self.start } else { self.start.strip_suffix('\r').unwrap_or(&self.start) }
    }

    /// The line as it is shown: whole, or its first `max_units` and a mark. Carriage returns at the end of a line are
    /// no loss worth a mark.
    fn shown(&self, max_units: usize) -> String {
        let text = self.text();
        if text.len() <= max_units {
            return text.to_owned();
        }
        let mut units = 0;
        let cut = text.char_indices().find(|(_, c)| {
            units += c.len_utf16();
            units > max_units
        });
        let (kept, rest) = text.split_at(cut.map_or(text.len(), |(at, _)| at));
        if self.lost || rest.contains(|c| c != '\r') { marked(kept, max_units) } else { kept.to_owned() }
    }

    /// The line cut so that it fits into `max_bytes` with its mark, but to one character at least.
    fn cut_to_bytes(&self, max_bytes: usize) -> String {
        let text = self.text();
        let mut end = max_bytes.saturating_sub(marked("", max_bytes).len()).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        if end == 0 {
            end = text.chars().next().map_or(0, char::len_utf8);
        }
        marked(&text[..end], units_of(&text[..end]))
    }
}

fn marked(kept: &str, units: usize) -> String {
    format!("{kept}... (line truncated to {units} chars)")
}

fn units_of(text: &str) -> usize {
    text.encode_utf16().count()
}
