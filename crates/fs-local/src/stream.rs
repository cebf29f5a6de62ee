//! Text in chunks: a file of any size, read in two blocks of memory.
//!
//! The first block is read where the file is opened. From then on, while the caller looks at one block the next is read on
//! another thread, so that a long read costs the slower of the two, not their sum. A block is lent in pieces, each digested
//! and decoded right before: whoever looks at one finds it in the cache.
//!
//! A stream may start in the middle ([`Begun::Resumed`]) if the file is provably the one that an earlier read saw. Nothing is
//! digested then; instead the file is looked at again after each block.

use std::future;
use std::mem;
use std::ops::Range;

use async_trait::async_trait;
use dsh_fs::{
    FsCall, FsError, FsErrorCode, FsOp, FsVersion, NotText, ResumePoint, TextChunk, TextChunks, text,
};
use rustix::fs::{SeekFrom, seek};

use crate::hop::{Task, start};
use crate::identity::{Sighting, Token};
use crate::open::Opened;
use crate::scan::{self, Limits, Scan};
use crate::work::Work;

/// The longest start of a character that a block can end in. Each block keeps that much room before its bytes, where
/// the start that the block before left over is put.
const CARRY: usize = 3;

/// How much a resumed stream reads first: a window of usual size, and few pages behind it.
const FIRST_RESUMED: usize = 64 * 1024;

/// The most bytes that are lent at once. The first piece holds all that decides whether a file is text.
const PIECE: usize = 256 << 10;
const _: () = assert!(PIECE >= text::SNIFF_BYTES);

/// The text of one open file.
pub(crate) struct Chunks {
    source: Source,
    /// How many bytes the block after next has: they grow up to [`Limits::long_block`].
    step: usize,
    /// The block that is lent piece by piece; its memory takes the block after next.
    lent: Block,
    /// Where in the memory of `lent` the next piece begins.
    passed: usize,
    /// Where in it the start of an unfinished character lies.
    unfinished: Range<usize>,
    /// Where in the file the next piece begins.
    at: u64,
    head: Head,
}

/// Where the blocks come from, and what is known of those before.
struct Source {
    work: Work,
    limits: Limits,
    begun: Begun,
    next: Next,
}

/// What the first bytes of the next piece are.
enum Head {
    /// Those of the file, which decide whether it is text, and of which a byte order mark is none.
    OfFile,
    /// The line ending before the line that a resumed stream starts with.
    LineEnding,
    /// Text that goes on.
    Passed,
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
    /// Nothing is digested, so each block is only told if the file is still the one that was opened.
    must_be_the_same: bool,
}

/// Where a stream began, and so what its end says.
#[expect(clippy::large_enum_variant, reason = "there is one for a stream")]
enum Begun {
    /// At the first byte: the version is the digest of all that was lent.
    FromStart(Scan),
    /// At a place that an earlier read passed: the version is the one with which that read ended.
    Resumed(FsVersion),
}

#[derive(Default)]
struct Block {
    memory: Vec<u8>,
    /// Bytes from the file; they start at [`CARRY`].
    filled: usize,
    last: bool,
}

impl Block {
    fn end(&self) -> usize {
        CARRY + self.filled
    }
}

impl Chunks {
    /// A stream of the whole file. Reads its first block; blocks.
    pub(crate) fn open(opened: Opened, limits: Limits, work: &Work) -> Self {
        let size = usize::try_from(opened.size()).unwrap_or(usize::MAX);
        // A small file needs no large block; one more byte than expected, so that its end is seen at once.
        let first = size.saturating_add(1).clamp(text::SNIFF_BYTES, limits.first_block());
        let pump = Box::new(Pump { opened, must_be_the_same: false });
        let here = pump.fill(Block::default(), first, work);
        Self::new(Begun::FromStart(Scan::new()), here, limits, work)
    }

    /// A stream from a place that an earlier read passed; `None` if the file may be another by now, or if no line
    /// begins there. Reads its first block; blocks.
    pub(crate) fn resume(
        opened: Opened,
        from: &ResumePoint,
        limits: Limits,
        work: &Work,
    ) -> Result<Option<Self>, FsError> {
        let same = Token::parse(&from.version)
            .is_some_and(|then| then.digest.is_some() && then.seen.proves(&opened.seen));
        if !same || from.offset > opened.size() {
            return Ok(None);
        }
        let pump = Box::new(Pump { opened, must_be_the_same: true });
        let step = FIRST_RESUMED.min(limits.first_block());
        let before = from.offset.saturating_sub(1);
        seek(&pump.opened.file, SeekFrom::Start(before)).map_err(|errno| work.os(errno))?;
        let (pump, block, result) = pump.fill(Block::default(), step, work);
        match result {
            Err(changed) if changed.code() == FsErrorCode::StaleVersion => return Ok(None),
            result => result?,
        }
        let head = match block.memory[CARRY..block.end()].first() {
            _ if from.offset == 0 => Head::OfFile,
            Some(b'\n') => Head::LineEnding,
            // A line begins behind a line ending and nowhere else.
            _ => return Ok(None),
        };
        let (begun, here) = (Begun::Resumed(from.version.clone()), (pump, block, Ok(())));
        Ok(Some(Self { step, at: before, head, ..Self::new(begun, here, limits, work) }))
    }

    /// The same stream, ended by the call that goes on reading it and not with the one that opened it.
    pub(crate) fn cancelled_by(mut self, call: &FsCall) -> Self {
        self.source.work.cancel = call.cancel.clone();
        self
    }

    fn new(begun: Begun, here: Filled, limits: Limits, work: &Work) -> Self {
        let next = Next::Coming(Box::pin(future::ready(Ok(here))));
        Self {
            source: Source { work: work.clone(), limits, begun, next },
            step: limits.block,
            lent: Block::default(),
            passed: CARRY,
            unfinished: CARRY..CARRY,
            at: 0,
            head: Head::OfFile,
        }
    }

    /// The next piece with what the one before left over before it; `None` at the end of the file.
    async fn advance(&mut self) -> Result<Option<Range<usize>>, FsError> {
        if self.passed >= self.lent.end() && !self.turn().await? {
            return Ok(None);
        }
        let (start, end) = (self.passed, self.lent.end().min(self.passed + PIECE));
        if let Begun::FromStart(scan) = &mut self.source.begun {
            scan.take(&self.lent.memory[start..end]);
        }
        self.passed = end;
        self.at += (end - start) as u64;
        Ok(Some(start - self.unfinished.len()..end))
    }

    /// Goes on to the next block; `false` at the end of the file.
    ///
    /// If this future is dropped half way, nothing is lost: the task stays where it is.
    async fn turn(&mut self) -> Result<bool, FsError> {
        let Source { work, limits, next, .. } = &mut self.source;
        let Next::Coming(task) = next else { return Ok(false) };
        let (pump, mut block, result) = task.await.map_err(|error| work.died(error))?;
        *next = Next::Over;
        result?;
        let start = CARRY - self.unfinished.len();
        if start < CARRY {
            block.memory[start..CARRY].copy_from_slice(&self.lent.memory[self.unfinished.clone()]);
        }
        (self.passed, self.unfinished) = (CARRY, start..CARRY);
        let last = block.last;
        let free = mem::replace(&mut self.lent, block);
        *next = if last {
            Next::Ended(pump)
        } else {
            self.step = self.step.saturating_mul(4).min(limits.long_block);
            Next::Coming(pump.start_filling(free, self.step, work.clone()))
        };
        Ok(true)
    }
}

impl Source {
    /// Ends the stream with the version of all that was read.
    fn end(&mut self) -> Result<FsVersion, FsError> {
        match (mem::replace(&mut self.next, Next::Over), &self.begun) {
            (Next::Ended(pump), Begun::FromStart(scan)) => {
                Ok(Token { digest: Some(scan.digest()), seen: pump.opened.seen }.version())
            }
            (Next::Ended(_), Begun::Resumed(version)) => Ok(version.clone()),
            (Next::Coming(_) | Next::Over, _) => {
                Err(FsError::io(FsOp::Read, &self.work.display, "the read is over"))
            }
        }
    }

    /// Ends the stream because the file is not text. `ahead`: what was read of it and not taken yet.
    async fn refuse(&mut self, why: NotText, ahead: &[u8]) -> FsError {
        let (work, limits) = (&self.work, self.limits);
        // Where an earlier read found text, something else stands now.
        let Begun::FromStart(scan) = &mut self.begun else {
            return FsError::changed(FsOp::Read, &work.display);
        };
        let mut scan = mem::take(scan);
        scan.take(ahead);
        let pump = match mem::replace(&mut self.next, Next::Over) {
            Next::Ended(pump) => pump,
            Next::Coming(task) => match task.await {
                Ok((pump, block, Ok(()))) => {
                    scan.take(&block.memory[CARRY..block.end()]);
                    pump
                }
                Ok((_, _, Err(failure))) => return failure,
                Err(error) => return work.died(error),
            },
            Next::Over => return FsError::not_text(FsOp::Read, &work.display, why),
        };
        let there = work.clone();
        let refusal = start(move || match scan.refuse(&pump.opened, why, limits, &there) {
            Ok(refusal) | Err(refusal) => refusal,
        });
        refusal.await.unwrap_or_else(|error| work.died(error))
    }
}

#[async_trait]
impl TextChunks for Chunks {
    async fn next(&mut self) -> Result<TextChunk<'_>, FsError> {
        self.source.work.check()?;
        let Some(mut bytes) = self.advance().await? else {
            if !self.unfinished.is_empty() {
                return Err(self.source.refuse(NotText::InvalidUtf8, &[]).await);
            }
            return self.source.end().map(TextChunk::End);
        };
        let memory = &self.lent.memory[..self.lent.end()];
        let ahead = &memory[bytes.end..];
        match mem::replace(&mut self.head, Head::Passed) {
            Head::Passed => {}
            Head::LineEnding => bytes.start += 1,
            Head::OfFile => {
                let head = &memory[bytes.clone()];
                if let Err(why) = text::sniff(head) {
                    return Err(self.source.refuse(why, ahead).await);
                }
                bytes.start += head.len() - text::without_bom(head).len();
            }
        }
        let at = self.at - bytes.len() as u64;
        match text::decode_block(&memory[bytes.clone()]) {
            Ok((text, rest)) => {
                self.unfinished = bytes.end - rest.len()..bytes.end;
                Ok(TextChunk::Text { at, text })
            }
            Err(why) => Err(self.source.refuse(why, ahead).await),
        }
    }
}

impl Pump {
    /// Reads the next block into memory that is free again.
    fn fill(self: Box<Self>, mut block: Block, size: usize, work: &Work) -> Filled {
        block.memory.resize(CARRY + size, 0);
        let filled = self.read(&mut block.memory[CARRY..], work);
        block.filled = *filled.as_ref().unwrap_or(&0);
        block.last = block.filled < size;
        (self, block, filled.map(drop))
    }

    /// The same on a thread that may block.
    fn start_filling(self: Box<Self>, block: Block, size: usize, work: Work) -> Task<Filled> {
        start(move || self.fill(block, size, &work))
    }

    fn read(&self, block: &mut [u8], work: &Work) -> Result<usize, FsError> {
        let filled = scan::fill(&self.opened.file, block, work)?;
        if self.must_be_the_same {
            let (now, _) = Sighting::of(&self.opened.file).map_err(|errno| work.os(errno))?;
            if now.identity != self.opened.seen.identity {
                return Err(FsError::changed(FsOp::Read, &work.display));
            }
        }
        Ok(filled)
    }
}
