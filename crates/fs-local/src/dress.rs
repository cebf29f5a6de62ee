//! What a file wears beside its bytes: owner, group, mode, access list and attributes. A replacement wears the same.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use dsh_fs::{FsError, FsErrorCode};
use rustix::fs::{
    Gid, Mode, Uid, XattrFlags, fchmod, fchown, fgetxattr, flistxattr, fremovexattr, fsetxattr, fstat,
    getxattr, listxattr,
};
use rustix::io::Errno;

use crate::open::Opened;
use crate::work::Work;

const ACL: &str = "system.posix_acl_access";
const USER: &[u8] = b"user.";
const SECURITY: &[u8] = b"security.";
/// These are made from the old bytes and would accuse the new ones, or are what the old bytes were trusted with: the
/// kernel, too, takes capabilities from a file that is written.
const OF_THE_BYTES: [&[u8]; 3] = [b"security.ima", b"security.evm", b"security.capability"];
/// What the kernel lets a list of names or one value take at most.
const LARGEST: usize = 1 << 16;

/// The metadata that a replacement takes over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dress {
    owner: u32,
    group: u32,
    /// All twelve bits.
    mode: u32,
    acl: Option<Vec<u8>>,
    /// `user.*` must be kept, `security.*` as far as the caller may.
    attributes: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Dress {
    /// What `opened` wears now.
    pub(crate) fn of(opened: &Opened, work: &Work) -> Result<Self, FsError> {
        let stat = fstat(&opened.file).map_err(|errno| work.os(errno))?;
        let attributes = || {
            let mut attributes = BTreeMap::new();
            for name in opened.attribute_names()? {
                let ours = name.starts_with(USER)
                    || name.starts_with(SECURITY) && !OF_THE_BYTES.contains(&name.as_slice());
                // It may have been removed since it was listed.
                if ours && let Some(value) = opened.attribute(&name)? {
                    attributes.insert(name, value);
                }
            }
            Ok((opened.attribute(ACL.as_bytes())?, attributes))
        };
        let (acl, attributes) = attributes().map_err(|errno| cannot_keep(errno, work))?;
        Ok(Self { owner: stat.st_uid, group: stat.st_gid, mode: stat.st_mode & 0o7777, acl, attributes })
    }

    /// Puts it on: owner and group as far as the caller may, then attributes and access list, the mode last.
    pub(crate) fn put_on(&self, file: BorrowedFd<'_>, work: &Work) -> Result<(), FsError> {
        let mine = fstat(file).map_err(|errno| work.os(errno))?;
        let kept = (mine.st_uid, mine.st_gid) == (self.owner, self.group) || self.give(file, work)?;
        // While the file is private, its owner may still write it, and only who may write it may set these.
        self.put_on_attributes(file).map_err(|errno| cannot_keep(errno, work))?;
        let mut mode = self.mode;
        if !kept {
            // A program must not run as someone who did not write it.
            mode &= !0o6000;
        }
        // Last: a change of owner takes set-id bits away, and until now nobody else could open it.
        fchmod(file, Mode::from_raw_mode(mode)).map_err(|errno| work.os(errno))
    }

    /// Were owner and group both kept?
    fn give(&self, file: BorrowedFd<'_>, work: &Work) -> Result<bool, FsError> {
        let (owner, group) = (Uid::from_raw(self.owner), Gid::from_raw(self.group));
        let refused = |result: rustix::io::Result<()>| match result {
            Ok(()) => Ok(false),
            // Not permitted, or an owner that this user namespace or file system does not know.
            Err(Errno::PERM | Errno::INVAL | Errno::ACCESS | Errno::OPNOTSUPP) => Ok(true),
            Err(errno) => Err(work.os(errno)),
        };
        if !refused(fchown(file, Some(owner), Some(group)))? {
            return Ok(true);
        }
        // Only root gives files away, but a member of the group may keep the group.
        refused(fchown(file, None, Some(group)))?;
        Ok(false)
    }

    fn put_on_attributes(&self, file: BorrowedFd<'_>) -> rustix::io::Result<()> {
        let has = names(|buffer| flistxattr(file, buffer))?;
        for name in has.iter().filter(|name| name.starts_with(USER) && !self.attributes.contains_key(*name)) {
            absent_is_fine(fremovexattr(file, name.as_slice()))?;
        }
        for (name, value) in &self.attributes {
            let set = fsetxattr(file, name.as_slice(), value, XattrFlags::empty());
            if name.starts_with(USER) {
                set?;
            }
        }
        match &self.acl {
            Some(acl) => fsetxattr(file, ACL, acl, XattrFlags::empty()),
            // The folder's default list may have given it one.
            None => absent_is_fine(fremovexattr(file, ACL)),
        }
    }
}

impl Opened {
    fn attribute_names(&self) -> rustix::io::Result<Vec<Vec<u8>>> {
        if self.readable {
            names(|buffer| flistxattr(&self.file, buffer))
        } else {
            names(|buffer| listxattr(self.by_descriptor(), buffer))
        }
    }

    fn attribute(&self, name: &[u8]) -> rustix::io::Result<Option<Vec<u8>>> {
        let value = if self.readable {
            sized(|buffer| fgetxattr(&self.file, name, buffer))
        } else {
            sized(|buffer| getxattr(self.by_descriptor(), name, buffer))
        };
        match value {
            Ok(value) => Ok(Some(value)),
            Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// A descriptor that only holds the file has no attributes of its own, but leads to the same file.
    fn by_descriptor(&self) -> String {
        format!("/proc/self/fd/{}", self.file.as_fd().as_raw_fd())
    }
}

/// Names end in a NUL each. Where there are no attributes there are no names.
fn names(list: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> rustix::io::Result<Vec<Vec<u8>>> {
    match sized(list) {
        Ok(names) => {
            let names = names.split(|&byte| byte == 0).filter(|name| !name.is_empty());
            Ok(names.map(<[u8]>::to_vec).collect())
        }
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(Vec::new()),
        Err(errno) => Err(errno),
    }
}

/// Most answers are short; one that is not is asked for again with all the room it can need.
fn sized(ask: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> rustix::io::Result<Vec<u8>> {
    let mut buffer = vec![0; 512];
    let length = match ask(&mut buffer) {
        Err(Errno::RANGE) => {
            buffer.resize(LARGEST, 0);
            ask(&mut buffer)?
        }
        answer => answer?,
    };
    buffer.truncate(length);
    Ok(buffer)
}

fn absent_is_fine(removed: rustix::io::Result<()>) -> rustix::io::Result<()> {
    match removed {
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        answer => answer,
    }
}

fn cannot_keep(errno: Errno, work: &Work) -> FsError {
    let failure = work.os(errno);
    let denied = failure.code() == FsErrorCode::PermissionDenied;
    let code = if denied { FsErrorCode::PermissionDenied } else { FsErrorCode::IoError };
    let verb = work.op.verb();
    FsError::new(
        code,
        format!("cannot {verb} \"{}\": its attributes or access list cannot be kept", work.display),
    )
    .with_source(std::io::Error::from(errno))
}
