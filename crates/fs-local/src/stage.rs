//! The file that is written before anyone sees it: complete in content, owner and mode before it gets its name.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use dsh_fs::FsError;
use dsh_fs::digest::Digest;
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, fsync, openat, unlinkat};
use rustix::io::{Errno, write};

use crate::scan::BLOCK;
use crate::work::Work;

const PREFIX: &str = ".dsh-";
const LETTERS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
const LETTERS_IN_NAME: usize = 12;

/// Is this the name of a file that a mutation had not yet published: `.dsh-` and twelve of `0-9a-v`?
///
/// One that lies about for longer than a write takes was left by a process that was killed.
pub fn is_stage_name(name: &[u8]) -> bool {
    name.strip_prefix(PREFIX.as_bytes())
        .is_some_and(|rest| rest.len() == LETTERS_IN_NAME && rest.iter().all(|byte| LETTERS.contains(byte)))
}

/// A file that must be published or is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Staged<'a> {
    folder: BorrowedFd<'a>,
    pub(crate) file: OwnedFd,
    /// Its hidden name; a file without one vanishes with its descriptor.
    name: Option<String>,
    /// The bytes that were written.
    pub(crate) digest: Digest,
}

impl<'a> Staged<'a> {
    /// A new file: what the kernel makes of 0666, the umask and the folder's default ACL, in the folder's group where
    /// the folder is setgid.
    ///
    /// Without a name nobody can open it, so it has its final mode from the start. On file systems that cannot do
    /// that it has a hidden name and is private until complete.
    pub(crate) fn new_file(folder: BorrowedFd<'a>, content: &[u8], work: &Work) -> Result<Self, FsError> {
        work.check()?;
        let mode = Mode::from_raw_mode(0o666);
        let digest = Digest::of(content);
        match openat(folder, c".", OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode) {
            Ok(file) => {
                let staged = Self { folder, file, name: None, digest };
                staged.fill(content, work)?;
                staged.sync(work)?;
                Ok(staged)
            }
            // The second is what kernels and file systems that do not know the flag make of it.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => {
                Self::new_file_by_name(folder, content, work)
            }
            Err(errno) => Err(work.os(errno)),
        }
    }

    /// The same by a hidden name.
    pub(crate) fn new_file_by_name(
        folder: BorrowedFd<'a>,
        content: &[u8],
        work: &Work,
    ) -> Result<Self, FsError> {
        let mut staged = Self::create(folder, Mode::from_raw_mode(0o666), work)?;
        // What the kernel made of 0666 is the mode it gets at the end: no umask has to be guessed.
        let mode = Mode::from_raw_mode(fstat(&staged.file).map_err(|errno| work.os(errno))?.st_mode);
        staged.set_mode(Mode::from_raw_mode(0o600), work)?;
        staged.digest = Digest::of(content);
        staged.fill(content, work)?;
        staged.set_mode(mode, work)?;
        staged.sync(work)?;
        Ok(staged)
    }

    /// The file that is to replace one that looks like `old`.
    pub(crate) fn replacement(
        folder: BorrowedFd<'a>,
        content: &[u8],
        old: &Stat,
        work: &Work,
    ) -> Result<Self, FsError> {
        work.check()?;
        let mut staged = Self::create(folder, Mode::from_raw_mode(0o600), work)?;
        staged.digest = Digest::of(content);
        staged.fill(content, work)?;
        staged.dress_like(old, work)?;
        staged.sync(work)?;
        Ok(staged)
    }

    /// Gives it owner, group and mode of `old`, as far as the caller may.
    pub(crate) fn dress_like(&self, old: &Stat, work: &Work) -> Result<(), FsError> {
        let mine = fstat(&self.file).map_err(|errno| work.os(errno))?;
        let kept = (mine.st_uid, mine.st_gid) == (old.st_uid, old.st_gid) || self.give_to(old, work)?;
        let mut mode = old.st_mode & 0o7777;
        if !kept {
            // A program must not run as someone who did not write it.
            mode &= !0o6000;
        }
        // Last: a change of owner takes set-id bits away, and until now nobody else could open it.
        self.set_mode(Mode::from_raw_mode(mode), work)
    }

    /// Were owner and group both kept?
    fn give_to(&self, old: &Stat, work: &Work) -> Result<bool, FsError> {
        let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        let refused = |result: rustix::io::Result<()>| match result {
            Ok(()) => Ok(false),
            // Not permitted, or an owner that this user namespace or file system does not know.
            Err(Errno::PERM | Errno::INVAL | Errno::ACCESS | Errno::OPNOTSUPP) => Ok(true),
            Err(errno) => Err(work.os(errno)),
        };
        if !refused(fchown(&self.file, Some(owner), Some(group)))? {
            return Ok(true);
        }
        // Only root gives files away, but a member of the group may keep the group.
        refused(fchown(&self.file, None, Some(group)))?;
        Ok(false)
    }

    fn set_mode(&self, mode: Mode, work: &Work) -> Result<(), FsError> {
        fchmod(&self.file, mode).map_err(|errno| work.os(errno))
    }

    fn create(folder: BorrowedFd<'a>, mode: Mode, work: &Work) -> Result<Self, FsError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let name = random_name();
            match openat(folder, name.as_str(), flags, mode) {
                Ok(file) => return Ok(Self { folder, file, name: Some(name), digest: Digest::of(b"") }),
                Err(Errno::EXIST) => work.check()?,
                Err(errno) => return Err(work.os(errno)),
            }
        }
    }

    fn fill(&self, content: &[u8], work: &Work) -> Result<(), FsError> {
        for block in content.chunks(BLOCK) {
            work.check()?;
            let mut left = block;
            while !left.is_empty() {
                match write(&self.file, left) {
                    Ok(count) => left = &left[count..],
                    Err(Errno::INTR) => {}
                    Err(errno) => return Err(work.os(errno)),
                }
            }
        }
        Ok(())
    }

    fn sync(&self, work: &Work) -> Result<(), FsError> {
        work.check()?;
        fsync(&self.file).map_err(|errno| work.os(errno))
    }

    pub(crate) fn folder(&self) -> BorrowedFd<'a> {
        self.folder
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The hidden name is no longer its own: it was renamed.
    pub(crate) fn renamed(&mut self) {
        self.name = None;
    }

    /// Takes the hidden name away.
    pub(crate) fn unlink(&mut self) {
        let Some(name) = self.name.take() else { return };
        if let Err(error) = unlinkat(self.folder, name.as_str(), AtFlags::empty()) {
            tracing::warn!(name, %error, "a stage file could not be removed");
        }
    }
}

impl AsFd for Staged<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        self.unlink();
    }
}

/// Short, so that a file with the longest name a folder can hold can be replaced too.
fn random_name() -> String {
    // The standard library's hasher keys are random; a name that is taken is tried again under another.
    let mut bits = RandomState::new().hash_one(std::process::id());
    let mut name = String::from(PREFIX);
    for _ in 0..LETTERS_IN_NAME {
        name.push(char::from(LETTERS[(bits % 32) as usize]));
        bits /= 32;
    }
    name
}
