//! What a file system can do. Found out by trying, each time: a refused call costs a microsecond, and a memory of it
//! would be wrong once another file system is mounted under the same device number.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, RenameFlags, XattrFlags, flock, fsetxattr, fstat, openat,
    renameat_with, unlinkat,
};
use rustix::io::Errno;

use crate::stage;

/// What is not to be used although the file system may have it, so that every fallback can be tested anywhere.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one way to go, none depends on another")]
pub struct Fallbacks {
    /// Replace without `RENAME_EXCHANGE`: look once more under the lock, then rename.
    pub exchange: bool,
    /// Stage new files under a hidden name instead of none.
    pub tmpfile: bool,
    /// Create without `RENAME_NOREPLACE`.
    pub no_replace: bool,
    /// Create without hard links.
    pub hard_links: bool,
    /// Open beneath a folder one component at a time, without `openat2`.
    pub openat2: bool,
}

/// What the file system of a folder can do, as far as publication depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one answer, none depends on another")]
pub struct Capabilities {
    /// Files can be made there. If not, nothing else could be tried but the lock.
    pub writable: bool,
    /// Two names can change places (`RENAME_EXCHANGE`). Without it a program that does not take our lock can lose a
    /// change that it makes in the instant of publication.
    pub exchange: bool,
    /// Files can be made without a name (`O_TMPFILE`). Without it a killed create can leave a stage file.
    pub tmpfile: bool,
    /// A rename can refuse to replace (`RENAME_NOREPLACE`). Without it hard links serve.
    pub no_replace: bool,
    /// The folder can be locked against our other processes (`flock`).
    pub flock: bool,
    /// The folder can be synced, so that a change survives a power cut.
    pub sync: bool,
    /// Files can have extended attributes (`user.*`).
    pub xattrs: bool,
    /// Files can have access lists (POSIX ACL).
    pub acls: bool,
}

/// Finds out what the file system of `folder` can do by trying it with two hidden files, which are removed again.
///
/// Where nothing can be made (`writable` is false), all that needs a file is false.
pub fn probe(folder: &Path) -> Capabilities {
    let mut found = Capabilities::default();
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = openat(CWD, folder, flags, Mode::empty()) else { return found };
    let readable = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Ok(open) = openat(&folder, c".", readable, Mode::empty()) {
        // That somebody has the lock shows that there is one.
        found.flock =
            matches!(flock(&open, FlockOperation::NonBlockingLockExclusive), Ok(()) | Err(Errno::WOULDBLOCK));
        found.sync = rustix::fs::fsync(&open).is_ok();
    }
    let (Ok(one), Ok(two)) = (Probe::new(folder.as_fd()), Probe::new(folder.as_fd())) else { return found };
    found.writable = true;
    let rename = |flags| renameat_with(&folder, one.name.as_str(), &folder, two.name.as_str(), flags);
    found.exchange = rename(RenameFlags::EXCHANGE).is_ok();
    // Both names are taken, so what knows the flag refuses.
    found.no_replace = rename(RenameFlags::NOREPLACE) == Err(Errno::EXIST);
    let tmpfile = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    found.tmpfile = openat(&folder, c".", tmpfile, Mode::from_raw_mode(0o600)).is_ok();
    found.xattrs = fsetxattr(&one.file, c"user.dsh", b"", XattrFlags::empty()).is_ok();
    found.acls = fsetxattr(&one.file, c"system.posix_acl_access", MINIMAL_ACL, XattrFlags::empty()).is_ok();
    found
}

/// Owner rw-, group r--, others r--: version 2, then tag, permissions and id of each entry, little endian.
const MINIMAL_ACL: &[u8] = &[
    2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 4, 0, 4, 0, 255, 255, 255, 255, 32, 0, 4, 0, 255, 255, 255,
    255,
];

struct Probe<'f> {
    folder: BorrowedFd<'f>,
    name: String,
    file: OwnedFd,
}

impl<'f> Probe<'f> {
    fn new(folder: BorrowedFd<'f>) -> rustix::io::Result<Self> {
        let (name, file) = stage::create_hidden(folder, Mode::from_raw_mode(0o600))?;
        Ok(Self { folder, name, file })
    }
}

impl Drop for Probe<'_> {
    fn drop(&mut self) {
        let _ = unlinkat(self.folder, self.name.as_str(), AtFlags::empty());
    }
}

/// Says once for each file system that strangers are not guarded against there.
pub(crate) fn tell_without_exchange(folder: impl AsFd, path: &str) {
    static TOLD: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
    let Ok(stat) = fstat(folder) else { return };
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(stat.st_dev) {
        tracing::warn!(
            path = ?path,
            "this file system cannot exchange two files: a program that does not take our lock can lose a change \
             that it makes in the instant of publication"
        );
    }
}
