//! What the files were like that each session was shown or has written: digests of blocks of lines, no contents.
//!
//! When a guard no longer holds, they tell which lines changed, so that a session reads those and not the whole file. A block
//! ends with a line whose own digest says so, hence a line more or less moves no other block.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hasher as _};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dsh_fs::{Owner, TargetKey};

use crate::hint::budget::LARGEST_FILE;

/// The most files, of all sessions together, that something is kept of.
const MOST_FILES: usize = 64;
/// The most blocks that are kept of a file; with more lines than this, blocks get longer.
const MOST_BLOCKS: usize = 4096;

/// Some lines in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    digest: u64,
    lines: u32,
    /// Zeros at the end of the last line's digest.
    zeros: u32,
}

/// An odd number without pattern: the base of the digests of blocks.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

impl Block {
    /// Both, one behind the other.
    fn and(self, next: Self) -> Self {
        Self {
            digest: self.digest.wrapping_mul(BASE.wrapping_pow(next.lines)).wrapping_add(next.digest),
            lines: self.lines + next.lines,
            zeros: next.zeros,
        }
    }

    /// Is it the same text?
    fn is(&self, other: &Self) -> bool {
        (self.digest, self.lines) == (other.digest, other.lines)
    }
}

/// A text as blocks, made while it passes by.
#[derive(Debug, Default)]
pub(crate) struct BlockScan {
    blocks: Vec<Block>,
    open: Option<Block>,
    /// How many zeros end a block.
    level: u32,
    is_fixed: bool,
    unfinished: String,
    bytes: u64,
}

/// All blocks of a text.
#[derive(Debug)]
pub(crate) struct Blocks {
    blocks: Vec<Block>,
    level: u32,
}

impl BlockScan {
    /// Takes the next piece of the text, wherever it was cut. A file that is too large for hints is let go.
    pub(crate) fn push(&mut self, piece: &str) {
        self.bytes += piece.len() as u64;
        if self.bytes > LARGEST_FILE {
            *self = Self { bytes: self.bytes, ..Self::default() };
            return;
        }
        for part in piece.split_inclusive('\n') {
            if !part.ends_with('\n') {
                self.unfinished.push_str(part);
            } else if self.unfinished.is_empty() {
                self.line(part);
            } else {
                let mut line = std::mem::take(&mut self.unfinished);
                line.push_str(part);
                self.line(&line);
            }
        }
    }

    /// Ends the text; `None` for one that is too large.
    pub(crate) fn finish(mut self) -> Option<Blocks> {
        if self.bytes > LARGEST_FILE {
            return None;
        }
        let last = std::mem::take(&mut self.unfinished);
        if !last.is_empty() {
            self.line(&last);
        }
        self.blocks.extend(self.open.take());
        Some(Blocks { blocks: self.blocks, level: self.level })
    }

    fn line(&mut self, line: &str) {
        let mut hasher = DefaultHasher::new();
        let text = line.strip_suffix('\n').unwrap_or(line);
        hasher.write(text.strip_suffix('\r').unwrap_or(text).as_bytes());
        hasher.write_u8(u8::from(line.ends_with('\n')));
        let digest = hasher.finish();
        let block = Block { digest, lines: 1, zeros: digest.trailing_zeros() };
        self.add(block);
        while self.blocks.len() > MOST_BLOCKS && !self.is_fixed && self.level < u64::BITS {
            self.level += 1;
            let blocks = std::mem::take(&mut self.blocks);
            let open = self.open.take();
            blocks.into_iter().chain(open).for_each(|block| self.add(block));
        }
    }

    fn add(&mut self, block: Block) {
        let block = self.open.take().map_or(block, |open| open.and(block));
        if block.zeros >= self.level {
            self.blocks.push(block);
        } else {
            self.open = Some(block);
        }
    }
}

impl Blocks {
    /// Which lines of `now`, counted from 0, are not what they were, and how many lines `now` has. An empty range: lines are
    /// gone from there. `None` where no line differs.
    pub(crate) fn changed(&self, now: &str) -> Option<(Range<usize>, usize)> {
        let mut scan = BlockScan { level: self.level, is_fixed: true, ..BlockScan::default() };
        scan.push(now);
        let (old, new) = (&self.blocks, scan.finish()?.blocks);
        let equal =
            |pairs: &mut dyn Iterator<Item = (&Block, &Block)>| pairs.take_while(|(a, b)| a.is(b)).count();
        let head = equal(&mut old.iter().zip(&new));
        if head == old.len() && head == new.len() {
            return None;
        }
        let tail = equal(&mut old[head..].iter().rev().zip(new[head..].iter().rev()));
        let lines = |blocks: &[Block]| blocks.iter().map(|block| block.lines as usize).sum::<usize>();
        let total = lines(&new);
        Some((lines(&new[..head])..total - lines(&new[new.len() - tail..]), total))
    }
}

/// Of each session and file the last state that the session knows; the ones used last.
#[derive(Debug, Default)]
pub(crate) struct SeenBlocks(Mutex<VecDeque<(Owner, TargetKey, Blocks)>>);

impl SeenBlocks {
    /// Remembers a state in place of the one before.
    pub(crate) fn remember(&self, owner: Owner, file: &TargetKey, blocks: Option<Blocks>) {
        let mut seen = self.lock();
        seen.retain(|(other, key, _)| !(other.is_gone() || *other == owner && key == file));
        if let Some(blocks) = blocks {
            seen.push_front((owner, file.clone(), blocks));
            seen.truncate(MOST_FILES);
        }
    }

    /// [`Blocks::changed`] since the session knew the file; `None` too where that is not known any more.
    pub(crate) fn changed(
        &self,
        owner: &Owner,
        file: &TargetKey,
        now: &str,
    ) -> Option<(Range<usize>, usize)> {
        let seen = self.lock();
        let (_, _, blocks) = seen.iter().find(|(other, key, _)| other == owner && key == file)?;
        blocks.changed(now)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Owner, TargetKey, Blocks)>> {
        // Whatever a panic leaves, each entry is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests;
