//! The folder a mutation works in: held by descriptor from the first step to the last, made if it is missing.

use std::cell::Cell;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use dsh_fs::{FsError, FsTarget};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, fsync, mkdirat, openat, openat2, unlinkat};
use rustix::io::Errno;

use crate::work::Work;

/// Where a target lies: a folder that is there, and the segments below it.
#[derive(Debug)]
pub(crate) struct Place {
    /// The deepest folder that exists.
    folder: OwnedFd,
    /// Folders to be made below it, from the top down.
    missing: Vec<Vec<u8>>,
    /// The name of the file.
    pub(crate) name: Vec<u8>,
}

impl Place {
    /// Opens the folder of a target.
    pub(crate) fn find(target: &FsTarget, work: &Work) -> Result<Self, FsError> {
        let path = Path::new(OsStr::from_bytes(target.key().as_bytes()));
        // Only the root has no name.
        let (Some(mut above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(work.not_regular_file());
        };
        let mut missing = Vec::new();
        loop {
            match open_without_links(above) {
                Ok(folder) => {
                    missing.reverse();
                    return Ok(Self { folder, missing, name: name.as_bytes().to_vec() });
                }
                Err(Errno::NOENT) => {
                    let (Some(next), Some(name)) = (above.parent(), above.file_name()) else {
                        return Err(work.os(Errno::NOENT));
                    };
                    missing.push(name.as_bytes().to_vec());
                    above = next;
                }
                Err(Errno::LOOP) => {
                    return Err(FsError::io(
                        work.op,
                        &work.display,
                        "a folder on the way has become a symbolic link",
                    ));
                }
                Err(errno) => return Err(work.os(errno)),
            }
        }
    }

    /// The folder that the file is in; `None` while it is to be made.
    pub(crate) fn parent(&self) -> Option<BorrowedFd<'_>> {
        self.missing.is_empty().then(|| self.folder.as_fd())
    }

    /// Makes the missing folders. `None`: somebody removed one of them meanwhile.
    pub(crate) fn make(self, work: &Work) -> Result<Option<Folder>, FsError> {
        let mut folder = Folder { chain: vec![self.folder], made: Vec::new(), keep: Cell::new(false) };
        for name in self.missing {
            let parent = folder.as_fd();
            let made = match mkdirat(parent, name.as_slice(), Mode::from_raw_mode(0o777)) {
                Ok(()) => true,
                Err(Errno::EXIST) => false,
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(work.os(errno)),
            };
            let opened = openat(parent, name.as_slice(), FOLDER | OFlags::NOFOLLOW, Mode::empty());
            if made {
                folder.made.push((folder.chain.len() - 1, name));
            }
            match opened {
                Ok(opened) => folder.chain.push(opened),
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(work.os(errno)),
            }
        }
        Ok(Some(folder))
    }
}

/// A folder that is there. Unless it is kept, the folders that were made for it are removed again, as far as they
/// are empty.
#[derive(Debug)]
pub(crate) struct Folder {
    /// From the deepest folder that existed down to this one.
    chain: Vec<OwnedFd>,
    /// What was made, from the top down: in which folder of the chain, and its name.
    made: Vec<(usize, Vec<u8>)>,
    keep: Cell<bool>,
}

impl Folder {
    /// Keeps what was made.
    pub(crate) fn keep(&self) {
        self.keep.set(true);
    }

    /// Brings the new names in it to the disk, and those of the folders that were made.
    pub(crate) fn sync(&self) -> rustix::io::Result<()> {
        let mut parents: Vec<usize> = self.made.iter().map(|(at, _)| *at).collect();
        parents.push(self.chain.len() - 1);
        for at in parents {
            // The descriptors held are for paths only and cannot be synced.
            let readable = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            fsync(openat(&self.chain[at], c".", readable, Mode::empty())?)?;
        }
        Ok(())
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.chain[self.chain.len() - 1].as_fd()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.keep.get() {
            return;
        }
        for (at, name) in self.made.iter().rev() {
            // Not empty: someone else has put something there meanwhile, and it stays.
            let _ = unlinkat(&self.chain[*at], name.as_slice(), AtFlags::REMOVEDIR);
        }
    }
}

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A key holds no links, so one that is met now was put there since, and might lead out of where the caller's
/// policies looked.
fn open_without_links(path: &Path) -> rustix::io::Result<OwnedFd> {
    let no_links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(CWD, path, FOLDER, Mode::empty(), no_links) {
        // Kernels before 5.6, and containers that forbid what they do not know.
        Err(Errno::NOSYS | Errno::PERM) => openat(CWD, path, FOLDER | OFlags::NOFOLLOW, Mode::empty()),
        answer => answer,
    }
}
