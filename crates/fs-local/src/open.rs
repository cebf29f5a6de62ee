//! Opening files so that nothing blocks and nothing but a regular file is ever read.
//!
//! The type is looked at before opening, because opening alone can have effects (a device) or wait (a FIFO), and
//! again on the descriptor, because the name may lead elsewhere by then.

use std::ffi::OsStr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use dsh_fs::{FsError, FsTarget};
use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, Stat, StatxAttributes, StatxFlags, accessat};
use rustix::fs::{openat, statat, statx};
use rustix::io::Errno;

use crate::identity::{Sighting, size};
use crate::work::Work;

/// An open regular file.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: OwnedFd,
    /// What it was when it was opened, before the first byte was read.
    pub(crate) seen: Sighting,
    pub(crate) stat: Stat,
    /// Without permission to read it, the descriptor still holds the inode, so that its number is not used again.
    pub(crate) readable: bool,
}

impl Opened {
    pub(crate) fn size(&self) -> u64 {
        size(&self.stat)
    }
}

/// Opens a target for reading, links followed unless the call is bounded.
pub(crate) fn for_reading(target: &FsTarget, work: &Work) -> Result<Opened, FsError> {
    let path = Path::new(OsStr::from_bytes(target.key().as_bytes()));
    let absent = |errno| match errno {
        Errno::NOENT | Errno::NOTDIR => FsError::not_found(work.op, &work.display),
        other => work.on_the_way(other),
    };
    regular(&work.start.stat(path).map_err(absent)?, work)?;
    let file = work.start.open(path, READING).map_err(|errno| match errno {
        // Nothing on the way says so, but somebody's lease on the file.
        Errno::AGAIN => work.os(errno),
        other => absent(other),
    })?;
    opened(file, true, work)
}

/// Opens the file `name` of a folder to be replaced, the name not followed; `None` when nothing is there.
pub(crate) fn for_replacing(
    parent: BorrowedFd<'_>,
    name: &[u8],
    work: &Work,
) -> Result<Option<Opened>, FsError> {
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => regular(&stat, work)?,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(work.os(errno)),
    }
    let here = |flags| openat(parent, name, flags | OFlags::NOFOLLOW, Mode::empty());
    let (file, readable) = match here(READING) {
        // Whoever may write a file need not be able to read it.
        Err(Errno::ACCESS) => (here(OFlags::PATH | OFlags::CLOEXEC), false),
        file => (file, true),
    };
    match file {
        Ok(file) => opened(file, readable, work).map(Some),
        Err(Errno::NOENT) => Ok(None),
        // A link now has the name.
        Err(Errno::LOOP) => Err(work.not_regular_file()),
        Err(errno) => Err(work.os(errno)),
    }
}

/// May the caller change this file? A rename would not ask, so we do.
pub(crate) fn writable(
    parent: BorrowedFd<'_>,
    name: &[u8],
    found: &Opened,
    work: &Work,
) -> Result<(), FsError> {
    match accessat(parent, name, Access::WRITE_OK, AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW) {
        // It vanished meanwhile: for the check before publication to find out.
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(work.os(errno)),
    }
    // No rename can put another file under a name that is a mount of its own.
    let attributes = statx(&found.file, c"", AtFlags::EMPTY_PATH, StatxFlags::empty());
    if attributes.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)) {
        return Err(FsError::io(work.op, &work.display, "the file is a mount point and cannot be replaced"));
    }
    Ok(())
}

const READING: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

fn opened(file: OwnedFd, readable: bool, work: &Work) -> Result<Opened, FsError> {
    let (seen, stat) = Sighting::of(&file).map_err(|errno| work.os(errno))?;
    regular(&stat, work)?;
    Ok(Opened { file, seen, stat, readable })
}

fn regular(stat: &Stat, work: &Work) -> Result<(), FsError> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        _ => Err(work.not_regular_file()),
    }
}
