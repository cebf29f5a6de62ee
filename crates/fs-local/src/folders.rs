//! The folder a mutation works in: held by descriptor from the first step to the last, made if it is missing.

use std::cell::Cell;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dsh_fs::{FsError, FsTarget};
use rustix::fs::{AtFlags, Mode, OFlags, fstat, fsync, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use crate::flock;
use crate::work::Work;

/// Where a target lies: a folder that is there, and the segments below it.
#[derive(Debug)]
pub(crate) struct Place {
    /// The deepest folder that exists.
    folder: OwnedFd,
    /// The same, open for reading, to lock and to sync it. `None` where its caller may not read it: best effort.
    readable: Option<OwnedFd>,
    /// Where the file's folder is, for people.
    path: PathBuf,
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
        // What is above it is out of bounds, but it is there and a folder.
        if work.start.is_at(path) {
            return Err(work.not_regular_file());
        }
        let mut missing = Vec::new();
        loop {
            // A key holds no links, so one that is met now was put there since, and might lead out of where the caller's
            // policies looked.
            match work.start.open_without_links(above, FOLDER) {
                Ok(folder) => {
                    missing.reverse();
                    let readable = match open_to_read(&folder) {
                        Ok(readable) => Some(readable),
                        // Gone already: the steps to come will find that out.
                        Err(Errno::ACCESS | Errno::PERM | Errno::NOENT) => None,
                        Err(errno) => return Err(work.os(errno)),
                    };
                    let path = path.parent().unwrap_or(above).to_owned();
                    return Ok(Self { folder, readable, path, missing, name: name.as_bytes().to_vec() });
                }
                Err(Errno::NOENT) => {
                    let (Some(next), Some(name)) = (above.parent(), above.file_name()) else {
                        return Err(work.os(Errno::NOENT));
                    };
                    missing.push(name.as_bytes().to_vec());
                    above = next;
                }
                Err(Errno::LOOP) if !work.start.is_bounded() => {
                    return Err(FsError::io(
                        work.op,
                        &work.display,
                        "a folder on the way has become a symbolic link",
                    ));
                }
                Err(errno) => return Err(work.on_the_way(errno)),
            }
        }
    }

    /// The folder that the file is in; `None` while it is to be made.
    pub(crate) fn parent(&self) -> Option<BorrowedFd<'_>> {
        self.missing.is_empty().then(|| self.folder.as_fd())
    }

    /// Locks the folder that the file is in, until it is dropped or what [`make`](Self::make) makes of it is. Did that
    /// take time?
    ///
    /// A folder that is to be made is not locked: nothing in it can be replaced, and creating never replaces. Nor is
    /// one that its caller may not read.
    pub(crate) fn lock(&self, patience: &mut Duration, work: &Work) -> Result<bool, FsError> {
        match &self.readable {
            Some(folder) if self.missing.is_empty() => flock::lock(folder, patience, work),
            _ => Ok(false),
        }
    }

    /// Was the folder removed?
    pub(crate) fn is_gone(&self) -> bool {
        is_gone(&self.folder)
    }

    /// Makes the missing folders. `None`: somebody removed one of them meanwhile.
    pub(crate) fn make(self, work: &Work) -> Result<Option<Folder>, FsError> {
        let mut folder = Folder {
            chain: vec![self.folder],
            readable: self.readable,
            path: self.path,
            made: Vec::new(),
            keep: Cell::new(false),
        };
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
    /// The first of the chain, open for reading; holds its lock.
    readable: Option<OwnedFd>,
    path: PathBuf,
    /// What was made, from the top down: in which folder of the chain, and its name.
    made: Vec<(usize, Vec<u8>)>,
    keep: Cell<bool>,
}

impl Folder {
    /// Keeps what was made.
    pub(crate) fn keep(&self) {
        self.keep.set(true);
    }

    /// Was it removed?
    pub(crate) fn is_gone(&self) -> bool {
        is_gone(self)
    }

    /// The path of a file in it, for people.
    pub(crate) fn path_of(&self, name: &[u8]) -> String {
        self.path.join(OsStr::from_bytes(name)).to_string_lossy().into_owned()
    }

    /// Brings the new names in it to the disk, and those of the folders that were made.
    pub(crate) fn sync(&self) -> rustix::io::Result<()> {
        let mut parents: Vec<usize> = self.made.iter().map(|(at, _)| *at).collect();
        parents.push(self.chain.len() - 1);
        for at in parents {
            match &self.readable {
                Some(first) if at == 0 => fsync(first)?,
                // The others are held for paths only and cannot be synced.
                _ => fsync(open_to_read(&self.chain[at])?)?,
            }
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

fn open_to_read(folder: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    openat(folder, c".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

fn is_gone(folder: impl AsFd) -> bool {
    fstat(folder).is_ok_and(|stat| stat.st_nlink == 0)
}
