//! What a change puts in a file, and how it gets there: in parts, digested on the way.
//!
//! An edit of a large file leaves most of it where it was. Where the file system can share blocks between two files
//! (`FICLONE`: btrfs, xfs, bcachefs), such a file is cloned and only what differs is written.

use std::os::fd::BorrowedFd;

use dsh_fs::FsError;
use dsh_fs::digest::{Digest, Digester};
use rustix::fs::{fstat, ftruncate, ioctl_ficlone};
use rustix::io::{Errno, pwrite};

use crate::identity::{Sighting, size};
use crate::open::Opened;
use crate::scan::BLOCK;
use crate::work::Work;

/// How many bytes have to stay in place at the start for a clone to cost less than writing them.
const WORTH_A_CLONE: usize = 1 << 20;

/// How many bytes in place are worth a call of their own to leave them out; fewer are written again.
const WORTH_LEAVING_OUT: usize = 64 << 10;

/// The bytes of a new file.
pub(crate) trait Content {
    /// All of them, in order.
    fn parts(&self) -> Box<dyn Iterator<Item = Part<'_>> + '_>;
}

/// Some bytes of a new file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) bytes: &'a [u8],
    /// The old file has the same bytes at the same place.
    pub(crate) in_place: bool,
}

/// Writes `content` into the empty `file`, which replaces `old`, if that is given.
pub(crate) fn put(
    content: &dyn Content,
    file: BorrowedFd<'_>,
    old: Option<&Opened>,
    work: &Work,
) -> Result<Digest, FsError> {
    let mut parts = content.parts().peekable();
    let large = parts.peek().is_some_and(|head| head.in_place && head.bytes.len() >= WORTH_A_CLONE);
    let cloned = match old {
        Some(old) if large => clone(old, file, work)?,
        _ => false,
    };
    put_over(parts, file, cloned, work)
}

/// Writes the parts over a clone of the old file, of which those in place need not be written, or into an empty file.
fn put_over<'c>(
    parts: impl Iterator<Item = Part<'c>>,
    file: BorrowedFd<'_>,
    cloned: bool,
    work: &Work,
) -> Result<Digest, FsError> {
    let mut sink = Sink { file, digester: Digester::new(), gathered: Vec::new(), at: 0, work };
    for part in parts {
        let leave_out = cloned && part.in_place && part.bytes.len() >= WORTH_LEAVING_OUT;
        for bytes in part.bytes.chunks(BLOCK) {
            work.check()?;
            if leave_out { sink.pass(bytes)? } else { sink.take(bytes)? }
        }
    }
    sink.flush()?;
    if cloned {
        ftruncate(file, sink.at).map_err(|errno| work.os(errno))?;
    }
    Ok(sink.digester.finish())
}

/// Makes `file` share the blocks of `old`; else it is empty. Only of a file that had been left alone when it was seen, and that
/// is provably the same afterwards: otherwise blocks might be shared that nobody has digested. And only all of it: some
/// kernels share a part and report success.
fn clone(old: &Opened, file: BorrowedFd<'_>, work: &Work) -> Result<bool, FsError> {
    if !old.readable || !old.seen.settled() {
        return Ok(false);
    }
    let shared = ioctl_ficlone(file, &old.file).is_ok()
        && fstat(file).is_ok_and(|stat| size(&stat) == old.size())
        && Sighting::of(&old.file).is_ok_and(|(now, _)| now.identity == old.seen.identity);
    if !shared {
        ftruncate(file, 0).map_err(|errno| work.os(errno))?;
    }
    Ok(shared)
}

/// Where the parts go: small ones are gathered, so that ten thousand matches are no ten thousand calls.
struct Sink<'a> {
    file: BorrowedFd<'a>,
    digester: Digester,
    gathered: Vec<u8>,
    /// Where in the file the gathered bytes will stand.
    at: u64,
    work: &'a Work,
}

impl Sink<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<(), FsError> {
        if self.gathered.len() + bytes.len() > BLOCK {
            self.flush()?;
        }
        if bytes.len() == BLOCK {
            return self.write(bytes);
        }
        self.gathered.extend_from_slice(bytes);
        Ok(())
    }

    /// The file has these bytes already.
    fn pass(&mut self, bytes: &[u8]) -> Result<(), FsError> {
        self.flush()?;
        self.digester.update(bytes);
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), FsError> {
        let mut gathered = std::mem::take(&mut self.gathered);
        self.write(&gathered)?;
        gathered.clear();
        self.gathered = gathered;
        Ok(())
    }

    fn write(&mut self, mut bytes: &[u8]) -> Result<(), FsError> {
        self.digester.update(bytes);
        while !bytes.is_empty() {
            match pwrite(self.file, bytes, self.at) {
                Ok(count) => {
                    bytes = &bytes[count..];
                    self.at += count as u64;
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.work.os(errno)),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
