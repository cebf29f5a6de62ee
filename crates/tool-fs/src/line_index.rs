//! Where lines begin in large files that were read to their end, so that a later window of an unchanged file costs its own
//! bytes.
//!
//! An index holds a mark every 64 KiB or so, not every line: that costs a reader one pass over at most so many bytes, and
//! an index next to nothing. It is worth what the backend says of it: each use asks for the text behind a mark by a
//! [`ResumePoint`], and a file that may have changed is read from its start again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use dsh_fs::{FsVersion, ResumePoint, TargetKey};

use crate::window::WindowScan;

/// Bytes between two marks of a file that is not huge.
const SPACING: u64 = 64 * 1024;

/// Most marks of a file, 256 KiB of them. One that gets more keeps every second one: from 1 GB on a window costs an 8192nd of
/// the file at most, instead of 64 KiB.
const MOST_MARKS: usize = 16 * 1024;

/// Most files whose indexes are kept; the one that was not used for longest goes.
const MOST_FILES: usize = 32;

/// The start of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    /// The number of the line, from 1.
    line: u64,
    /// Where it begins: bytes from the start of the file.
    at: u64,
}

/// Where lines begin in one version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    version: FsVersion,
    /// Ascending; the first is the start of the file.
    marks: Vec<Mark>,
    total_lines: u64,
}

impl LineIndex {
    /// The version of the file that this is the index of.
    pub fn version(&self) -> &FsVersion {
        &self.version
    }

    /// How many lines the file has.
    pub fn total_lines(&self) -> u64 {
        self.total_lines
    }

    /// The last marked line that is not behind `line`: its number, and where to go on reading.
    pub fn before(&self, line: u64) -> (u64, ResumePoint) {
        let behind = self.marks.partition_point(|mark| mark.line <= line);
        let mark = behind.checked_sub(1).map_or(Mark { line: 1, at: 0 }, |last| self.marks[last]);
        (mark.line, ResumePoint { offset: mark.at, version: self.version.clone() })
    }
}

/// An index in the making: passes text on to a window and notes where lines begin.
#[derive(Debug)]
pub struct LineMarker {
    spacing: u64,
    marks: Vec<Mark>,
}

impl LineMarker {
    /// Starts at the beginning of a file.
    pub fn new() -> Self {
        Self { spacing: SPACING, marks: vec![Mark { line: 1, at: 0 }] }
    }

    /// Passes on the next text of the file, which begins at byte `at` of it.
    pub fn push(&mut self, mut at: u64, mut text: &str, window: &mut WindowScan) {
        while let Some(end) = self.next_mark(at, text) {
            let (before, behind) = text.split_at(end);
            window.push(before);
            at += before.len() as u64;
            self.mark(Mark { line: window.lines_ended() + 1, at });
            text = behind;
        }
        window.push(text);
    }

    /// The index of a file that was read to its end.
    pub fn finish(mut self, version: FsVersion, total_lines: u64) -> LineIndex {
        self.marks.shrink_to_fit();
        LineIndex { version, marks: self.marks, total_lines }
    }

    /// Where in `text` the first line begins that is far enough from the last mark.
    fn next_mark(&self, at: u64, text: &str) -> Option<usize> {
        let wanted = self.marks.last().map_or(0, |mark| mark.at) + self.spacing;
        // A line that begins right there ends one byte before.
        let from = usize::try_from((wanted - 1).saturating_sub(at)).ok()?;
        let newline = memchr::memchr(b'\n', text.as_bytes().get(from..)?)?;
        Some(from + newline + 1)
    }

    fn mark(&mut self, mark: Mark) {
        if self.marks.len() == MOST_MARKS {
            let mut nth = 0;
            self.marks.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            self.spacing *= 2;
        }
        self.marks.push(mark);
    }
}

impl Default for LineMarker {
    fn default() -> Self {
        Self::new()
    }
}

/// The latest index of each file, shared by all sessions. What one of them may read is for the backend to say, at each use.
#[derive(Debug, Default)]
pub(crate) struct LineIndexes {
    /// The one used last is at the end.
    kept: Mutex<VecDeque<(TargetKey, Arc<LineIndex>)>>,
}

impl LineIndexes {
    pub(crate) fn get(&self, file: &TargetKey) -> Option<Arc<LineIndex>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(key, _)| key == file)?;
        let entry = kept.remove(at)?;
        let index = entry.1.clone();
        kept.push_back(entry);
        Some(index)
    }

    pub(crate) fn keep(&self, file: &TargetKey, index: LineIndex) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(key, _)| key != file);
        if kept.len() == MOST_FILES {
            kept.pop_front();
        }
        kept.push_back((file.clone(), Arc::new(index)));
    }

    /// Forgets this index, which does not hold any more, but not one that somebody else has made meanwhile.
    pub(crate) fn forget(&self, index: &Arc<LineIndex>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(_, other)| !Arc::ptr_eq(other, index));
    }
}

#[cfg(test)]
mod tests;
