//! Reading bytes, and making text of them: the one place that does.
//!
//! Everything is read in blocks, digested on the way, and can be cancelled between two blocks.

use std::os::fd::AsFd;

use dsh_fs::digest::{Digest, Digester};
use dsh_fs::{BytesRead, FsError, FsOp, FsVersion, NotText, TextRead, text};
use rustix::io::{Errno, read};

use crate::identity::{Sighting, Token};
use crate::open::Opened;
use crate::work::Work;

/// How many bytes of a stream are read at a time, at first: so many that calls and checks cost nothing.
pub(crate) const BLOCK: usize = 1 << 20;

/// How many bytes of a long stream are read while the caller looks at those before: so many that waking a thread, which
/// takes as long as reading some 500 KB, does not count.
pub(crate) const LONG_BLOCK: usize = 4 << 20;

/// The most bytes that are read and then digested: they are still in the cache.
const CACHED: usize = 256 << 10;

/// Sizes that a read keeps to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes a block; [`BLOCK`] except in tests.
    pub(crate) block: usize,
    /// Bytes a block of a stream that goes on; [`LONG_BLOCK`] except in tests.
    pub(crate) long_block: usize,
    /// Up to which size a file that is not text is read to its end, only to tell its version.
    pub(crate) digest_refused: u64,
}

impl Limits {
    /// The first block must hold all that decides whether a file is text.
    pub(crate) fn first_block(&self) -> usize {
        self.block.max(text::SNIFF_BYTES)
    }
}

/// The bytes of an open file, one after another.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    digester: Digester,
    read: u64,
}

impl Scan {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Digest of what was read so far.
    pub(crate) fn digest(&self) -> Digest {
        self.digester.finish()
    }

    /// Takes bytes that were read elsewhere, the next ones of the file.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.digester.update(bytes);
        self.read += bytes.len() as u64;
    }

    /// Fills `block`; fewer bytes than it holds mean the end of the file.
    fn fill(&mut self, file: impl AsFd, block: &mut [u8], work: &Work) -> Result<usize, FsError> {
        let filled = fill(file, block, work)?;
        self.take(&block[..filled]);
        Ok(filled)
    }

    /// Appends the next block, and with it at most `max` bytes in all. Was it the last?
    fn append(
        &mut self,
        opened: &Opened,
        max: u64,
        block: usize,
        bytes: &mut Vec<u8>,
        work: &Work,
    ) -> Result<bool, FsError> {
        let start = bytes.len();
        let left = usize::try_from(max.saturating_sub(start as u64)).unwrap_or(usize::MAX);
        let most = self.step(opened, block).min(left);
        reserve(bytes, most, work)?;
        bytes.resize(start + most, 0);
        let filled = self.fill(&opened.file, &mut bytes[start..], work);
        bytes.truncate(start + *filled.as_ref().unwrap_or(&0));
        Ok(filled? < most || bytes.len() as u64 >= max)
    }

    /// Appends what is left of the file, at most `max` bytes in all.
    pub(crate) fn rest(
        &mut self,
        opened: &Opened,
        max: u64,
        block: usize,
        bytes: &mut Vec<u8>,
        work: &Work,
    ) -> Result<(), FsError> {
        // Reserving all at once saves copying, and touches no memory yet.
        let expected = opened.size().saturating_add(1).min(max).saturating_sub(bytes.len() as u64);
        reserve(bytes, usize::try_from(expected).unwrap_or(usize::MAX), work)?;
        while !self.append(opened, max, block, bytes, work)? {}
        Ok(())
    }

    /// Digests what is left of the file; `None` when the file is longer than `max` bytes in all.
    pub(crate) fn digest_rest(
        &mut self,
        opened: &Opened,
        max: u64,
        block: usize,
        work: &Work,
    ) -> Result<Option<Digest>, FsError> {
        let mut buffer = vec![0; self.step(opened, block)];
        while self.read <= max {
            if self.fill(&opened.file, &mut buffer, work)? < buffer.len() {
                return Ok((self.read <= max).then(|| self.digest()));
            }
        }
        Ok(None)
    }

    /// How much to read next: a block, but of a file that is nearly over only what is left, and one byte more, so
    /// that its end is seen in the same step.
    fn step(&self, opened: &Opened, block: usize) -> usize {
        let left = opened.size().saturating_sub(self.read).saturating_add(1);
        usize::try_from(left).unwrap_or(usize::MAX).clamp(text::SNIFF_BYTES.min(block), block.min(CACHED))
    }

    /// The refusal of a file that is not text. It carries the version of the bytes: by digest if the file is small
    /// enough to be read to its end for that, else by identity.
    pub(crate) fn refuse(
        &mut self,
        opened: &Opened,
        why: NotText,
        limits: Limits,
        work: &Work,
    ) -> Result<FsError, FsError> {
        let digest = if opened.size() <= limits.digest_refused {
            self.digest_rest(opened, limits.digest_refused, limits.block, work)?
        } else {
            None
        };
        let met = Token { digest, seen: opened.seen }.version();
        Ok(FsError::not_text(FsOp::Read, &work.display, why).with_met(met))
    }
}

/// Fills `block` with what comes next; fewer bytes than it holds mean the end of the file.
pub(crate) fn fill(file: impl AsFd, block: &mut [u8], work: &Work) -> Result<usize, FsError> {
    work.check()?;
    let mut filled = 0;
    while filled < block.len() {
        match read(&file, &mut block[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(work.os(errno)),
        }
    }
    Ok(filled)
}

/// The whole file as text.
pub(crate) fn read_text(opened: &Opened, limits: Limits, work: &Work) -> Result<TextRead, FsError> {
    let mut scan = Scan::new();
    let mut bytes = Vec::new();
    // The head alone decides about most files that are not text, before the rest is held.
    let ended = scan.append(opened, u64::MAX, limits.first_block(), &mut bytes, work)?;
    if let Err(why) = text::sniff(&bytes) {
        drop(bytes);
        return Err(scan.refuse(opened, why, limits, work)?);
    }
    if !ended {
        scan.rest(opened, u64::MAX, limits.block, &mut bytes, work)?;
    }
    work.check()?;
    match text::decode_owned(bytes) {
        Ok(mut text) => {
            let bom = text.len() - text::without_bom(text.as_bytes()).len();
            text.drain(..bom);
            Ok(TextRead { text, version: version(&scan, opened.seen) })
        }
        Err(why) => {
            Err(FsError::not_text(FsOp::Read, &work.display, why).with_met(version(&scan, opened.seen)))
        }
    }
}

/// The whole file, at most `max` bytes.
pub(crate) fn read_bytes(opened: &Opened, max: u64, block: usize, work: &Work) -> Result<BytesRead, FsError> {
    if opened.size() > max {
        return Err(FsError::too_large(&work.display, opened.size(), max));
    }
    let mut scan = Scan::new();
    let mut bytes = Vec::new();
    scan.rest(opened, max.saturating_add(1), block, &mut bytes, work)?;
    work.check()?;
    if bytes.len() as u64 > max {
        return Err(FsError::grew_too_large(&work.display, max));
    }
    Ok(BytesRead { bytes, version: version(&scan, opened.seen) })
}

/// The digest of all bytes of a file that was just opened.
pub(crate) fn digest_all(opened: &Opened, block: usize, work: &Work) -> Result<Digest, FsError> {
    let mut scan = Scan::new();
    scan.digest_rest(opened, u64::MAX, block, work)?;
    Ok(scan.digest())
}

/// Does a file that was just opened hold the bytes of this digest? One of another size is not read.
pub(crate) fn has_digest(
    opened: &Opened,
    digest: Digest,
    block: usize,
    work: &Work,
) -> Result<bool, FsError> {
    let same_size = opened.size() == digest.len();
    Ok(same_size && Scan::new().digest_rest(opened, digest.len(), block, work)? == Some(digest))
}

fn version(scan: &Scan, seen: Sighting) -> FsVersion {
    Token { digest: Some(scan.digest()), seen }.version()
}

/// A file too large for this machine is a failure of the call, not the end of the process.
fn reserve(bytes: &mut Vec<u8>, more: usize, work: &Work) -> Result<(), FsError> {
    bytes.try_reserve(more).map_err(|_| work.os(Errno::NOMEM))
}
