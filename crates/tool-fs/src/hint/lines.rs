//! Where the lines of a text begin. Lines end with `\n`, as `read` counts them.

use std::ops::Range;

/// A text with the starts of its lines.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    pub(crate) text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        if starts.len() > 1 && starts.last() == Some(&text.len()) {
            starts.pop();
        }
        Self { text, starts }
    }

    /// How many there are; one at least.
    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    /// The line, from 0, that holds the byte at `offset`.
    pub(crate) fn at(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }

    /// The bytes of a line, its ending included; of no line behind the last.
    pub(crate) fn range(&self, line: usize) -> Range<usize> {
        let start = |line: usize| self.starts.get(line).copied().unwrap_or(self.text.len());
        start(line)..start(line + 1)
    }

    /// A line without its ending.
    pub(crate) fn line(&self, line: usize) -> &'a str {
        let text = &self.text[self.range(line)];
        text.strip_suffix('\n').unwrap_or(text)
    }

    /// First and last line, from 0, of a span; a line ending at its end does not reach into the next line.
    pub(crate) fn spanned(&self, span: &Range<usize>) -> (usize, usize) {
        (self.at(span.start), self.at(span.end.saturating_sub(1).max(span.start)))
    }
}

/// Lines from `first` to `last`, counted from 0, as a model counts them.
pub(crate) fn named(first: usize, last: usize) -> String {
    if first == last { format!("line {}", first + 1) } else { format!("lines {}-{}", first + 1, last + 1) }
}
