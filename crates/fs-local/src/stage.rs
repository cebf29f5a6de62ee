//! The file that is written before anyone sees it: complete in content, owner and mode before it gets its name.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use dsh_fs::FsError;
use dsh_fs::digest::Digest;
use dsh_fs::leftovers::{STAGE_LETTER_COUNT, STAGE_LETTERS, STAGE_PREFIX};
use rustix::fs::{AtFlags, Mode, OFlags, SeekFrom, fchmod, fstat, fsync, openat, seek, unlinkat};
use rustix::io::{Errno, fcntl_dupfd_cloexec, retry_on_intr};

use crate::Durability;
use crate::content::{self, Content};
use crate::dress::Dress;
use crate::identity::Sighting;
use crate::open::Opened;
use crate::publish::Manner;
use crate::work::Work;

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
    pub(crate) fn new_file(
        folder: BorrowedFd<'a>,
        content: &dyn Content,
        manner: &Manner,
        work: &Work,
    ) -> Result<Self, FsError> {
        work.check()?;
        let mode = Mode::from_raw_mode(0o666);
        let nameless = if manner.without.tmpfile {
            Err(Errno::OPNOTSUPP)
        } else {
            openat(folder, c".", OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode)
        };
        match nameless {
            Ok(file) => {
                let digest = content::put(content, file.as_fd(), None, work)?;
                let staged = Self { folder, file, name: None, digest };
                staged.sync(manner, work)?;
                Ok(staged)
            }
            // The second is what kernels and file systems that do not know the flag make of it.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => {
                Self::new_file_by_name(folder, content, manner, work)
            }
            Err(errno) => Err(work.os(errno)),
        }
    }

    /// The same by a hidden name.
    pub(crate) fn new_file_by_name(
        folder: BorrowedFd<'a>,
        content: &dyn Content,
        manner: &Manner,
        work: &Work,
    ) -> Result<Self, FsError> {
        let mut staged = Self::create(folder, Mode::from_raw_mode(0o666), work)?;
        // What the kernel made of 0666 is the mode it gets at the end: no umask has to be guessed.
        let mode = Mode::from_raw_mode(fstat(&staged.file).map_err(|errno| work.os(errno))?.st_mode);
        staged.set_mode(Mode::from_raw_mode(0o600), work)?;
        staged.digest = content::put(content, staged.as_fd(), None, work)?;
        staged.set_mode(mode, work)?;
        staged.sync(manner, work)?;
        Ok(staged)
    }

    /// The file that is to replace `old`, which wears `dress`.
    pub(crate) fn replacement(
        folder: BorrowedFd<'a>,
        content: &dyn Content,
        old: &Opened,
        dress: &Dress,
        manner: &Manner,
        work: &Work,
    ) -> Result<Self, FsError> {
        work.check()?;
        let mut staged = Self::create(folder, Mode::from_raw_mode(0o600), work)?;
        // From now on it is held for reading only, so that whoever is found to have it open for writing is a stranger.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = staged.name.as_deref().unwrap_or_default();
        let reading = openat(folder, name, flags, Mode::empty()).map_err(|errno| work.os(errno))?;
        staged.digest = content::put(content, staged.as_fd(), Some(old), work)?;
        staged.file = reading;
        dress.put_on(staged.as_fd(), work)?;
        staged.sync(manner, work)?;
        Ok(staged)
    }

    fn set_mode(&self, mode: Mode, work: &Work) -> Result<(), FsError> {
        fchmod(&self.file, mode).map_err(|errno| work.os(errno))
    }

    fn create(folder: BorrowedFd<'a>, mode: Mode, work: &Work) -> Result<Self, FsError> {
        let (name, file) = create_hidden(folder, mode).map_err(|errno| work.os(errno))?;
        Ok(Self { folder, file, name: Some(name), digest: Digest::of(b"") })
    }

    /// Brings it to the disk, where that is wanted.
    pub(crate) fn sync(&self, manner: &Manner, work: &Work) -> Result<(), FsError> {
        work.check()?;
        if manner.durability == Durability::Rename {
            return Ok(());
        }
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

    /// The same file to be read from its start.
    pub(crate) fn reopened(&self) -> rustix::io::Result<Opened> {
        seek(&self.file, SeekFrom::Start(0))?;
        let file = fcntl_dupfd_cloexec(&self.file, 0)?;
        let (seen, stat) = Sighting::of(&file)?;
        Ok(Opened { file, seen, stat, readable: true })
    }

    /// The hidden name is its own again.
    pub(crate) fn has_name(&mut self, hidden: String) {
        self.name = Some(hidden);
    }
}

impl AsFd for Staged<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        let Some(name) = self.name.take() else { return };
        if let Err(error) = retry_on_intr(|| unlinkat(self.folder, name.as_str(), AtFlags::empty())) {
            tracing::warn!(name, %error, "a stage file could not be removed");
        }
    }
}

/// Makes an empty file under a hidden name that nobody has.
pub(crate) fn create_hidden(folder: BorrowedFd<'_>, mode: Mode) -> rustix::io::Result<(String, OwnedFd)> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    loop {
        let name = random_name();
        match openat(folder, name.as_str(), flags, mode) {
            Ok(file) => return Ok((name, file)),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// Short, so that a file with the longest name a folder can hold can be replaced too.
fn random_name() -> String {
    // The standard library's hasher keys are random; a name that is taken is tried again under another.
    let mut bits = RandomState::new().hash_one(std::process::id());
    let mut name = String::from(STAGE_PREFIX);
    for _ in 0..STAGE_LETTER_COUNT {
        name.push(char::from(STAGE_LETTERS[(bits % 32) as usize]));
        bits /= 32;
    }
    name
}
