//! Text in chunks: a file of any size, read in two blocks of memory.
//!
//! While the caller looks at one block the next is read and digested on another thread, so that a long read costs
//! the slower of the two, not their sum.

use std::mem;

use async_trait::async_trait;
use dsh_fs::{FsCall, FsError, FsOp, FsVersion, NotText, TextChunk, TextChunks, text};

use crate::identity::Token;
use crate::open::Opened;
use crate::scan::{Limits, Scan};
use crate::work::{Task, Work, start};

/// The longest start of a character that a block can end in. Each block keeps that much room before its bytes, where
/// the start that the block before left over is put.
const CARRY: usize = 3;

/// The text of one open file.
pub(crate) struct Chunks {
    work: Work,
    limits: Limits,
    next: Next,
    /// The block that was lent last; its memory takes the block after next.
    lent: Block,
    /// Where in `lent` the start of an unfinished character lies.
    unfinished: std::ops::Range<usize>,
    started: bool,
}

/// Where the next block is.
enum Next {
    Coming(Task<Filled>),
    /// There is none: the file ended.
    Ended(Box<Pump>),
    /// The stream is over.
    Over,
}

type Filled = (Box<Pump>, Block, Result<(), FsError>);

/// What reads: goes to the thread that does, and comes back with a block.
struct Pump {
    opened: Opened,
    scan: Scan,
}

#[derive(Default)]
struct Block {
    memory: Vec<u8>,
    /// Bytes from the file; they start at [`CARRY`].
    filled: usize,
    last: bool,
}

impl Chunks {
    /// Starts reading at once.
    pub(crate) fn open(opened: Opened, limits: Limits, call: &FsCall, display: &str) -> Self {
        let work = Work::new(FsOp::Read, display, call);
        let size = usize::try_from(opened.size()).unwrap_or(usize::MAX);
        // A small file needs no large block; one more byte than expected, so that its end is seen at once.
        let first = size.saturating_add(1).clamp(text::SNIFF_BYTES, limits.first_block());
        let pump = Box::new(Pump { opened, scan: Scan::new() });
        let next = Next::Coming(pump.fill(Block::default(), first, work.clone()));
        Self { work, limits, next, lent: Block::default(), unfinished: 0..0, started: false }
    }

    /// The next block with what the one before left over put before it; `None` at the end of the file.
    ///
    /// If this future is dropped half way, nothing is lost: the task stays where it is.
    async fn advance(&mut self) -> Result<Option<std::ops::Range<usize>>, FsError> {
        let Next::Coming(task) = &mut self.next else { return Ok(None) };
        let (pump, mut block, result) = task.await.map_err(|error| self.work.died(error))?;
        self.next = Next::Over;
        result?;
        let start = CARRY - self.unfinished.len();
        block.memory[start..CARRY].copy_from_slice(&self.lent.memory[self.unfinished.clone()]);
        let end = CARRY + block.filled;
        let last = block.last;
        let free = mem::replace(&mut self.lent, block);
        self.next = if last {
            Next::Ended(pump)
        } else {
            Next::Coming(pump.fill(free, self.limits.block, self.work.clone()))
        };
        Ok(Some(start..end))
    }
}

impl Next {
    /// Ends the stream with the version of all that was read.
    fn end(&mut self, work: &Work) -> Result<FsVersion, FsError> {
        match mem::replace(self, Self::Over) {
            Self::Ended(pump) => {
                Ok(Token { digest: Some(pump.scan.digest()), seen: pump.opened.seen }.version())
            }
            Self::Coming(_) | Self::Over => Err(FsError::io(FsOp::Read, &work.display, "the read is over")),
        }
    }

    /// Ends the stream because the file is not text.
    async fn refuse(&mut self, why: NotText, limits: Limits, work: &Work) -> FsError {
        let pump = match mem::replace(self, Self::Over) {
            Self::Ended(pump) => pump,
            Self::Coming(task) => match task.await {
                Ok((pump, _, Ok(()))) => pump,
                Ok((_, _, Err(failure))) => return failure,
                Err(error) => return work.died(error),
            },
            Self::Over => return FsError::not_text(FsOp::Read, &work.display, why),
        };
        let there = work.clone();
        let refusal = start(move || {
            let Pump { opened, mut scan } = *pump;
            match scan.refuse(&opened, why, limits, &there) {
                Ok(refusal) | Err(refusal) => refusal,
            }
        });
        refusal.await.unwrap_or_else(|error| work.died(error))
    }
}

#[async_trait]
impl TextChunks for Chunks {
    async fn next(&mut self) -> Result<TextChunk<'_>, FsError> {
        self.work.check()?;
        let Some(mut bytes) = self.advance().await? else {
            if !self.unfinished.is_empty() {
                return Err(self.next.refuse(NotText::InvalidUtf8, self.limits, &self.work).await);
            }
            return self.next.end(&self.work).map(TextChunk::End);
        };
        if !mem::replace(&mut self.started, true) {
            let head = &self.lent.memory[bytes.clone()];
            if let Err(why) = text::sniff(head) {
                return Err(self.next.refuse(why, self.limits, &self.work).await);
            }
            bytes.start += head.len() - text::without_bom(head).len();
        }
        match text::decode_block(&self.lent.memory[bytes.clone()]) {
            Ok((text, rest)) => {
                self.unfinished = bytes.end - rest.len()..bytes.end;
                Ok(TextChunk::Text(text))
            }
            Err(why) => Err(self.next.refuse(why, self.limits, &self.work).await),
        }
    }
}

impl Pump {
    fn fill(mut self: Box<Self>, mut block: Block, size: usize, work: Work) -> Task<Filled> {
        start(move || {
            block.memory.resize(CARRY + size, 0);
            let filled = self.scan.fill(&self.opened.file, &mut block.memory[CARRY..], &work);
            block.filled = *filled.as_ref().unwrap_or(&0);
            block.last = block.filled < size;
            (self, block, filled.map(drop))
        })
    }
}
