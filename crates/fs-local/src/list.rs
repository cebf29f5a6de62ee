//! The children of a folder.
//!
//! One child that vanished, may not be looked at or is a link to nowhere costs its own details, not the listing: it
//! is listed as [`FsKind::Other`] without a version.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use dsh_fs::leftovers::is_leftover_name;
use dsh_fs::{FsDirEntry, FsError, FsKind, FsTarget, TargetKey};
use rustix::fs::{AtFlags, Dir, FileType, OFlags, statat};
use rustix::io::Errno;

use crate::identity::{Sighting, modified, size};
use crate::resolve::follow;
use crate::rooted::Start;
use crate::stat::{by_identity, kind};
use crate::work::Work;

pub(crate) fn list(target: &FsTarget, work: &Work) -> Result<Vec<FsDirEntry>, FsError> {
    let folder = open(target, work)?;
    let names = names(&folder, work)?;
    let mut entries = Vec::with_capacity(names.len());
    for name in names {
        work.check()?;
        entries.push(entry(&folder, target, &name, &work.start));
    }
    work.check()?;
    Ok(entries)
}

fn open(target: &FsTarget, work: &Work) -> Result<OwnedFd, FsError> {
    let path = Path::new(OsStr::from_bytes(target.key().as_bytes()));
    let absent = |errno| match errno {
        Errno::NOENT | Errno::NOTDIR => FsError::not_found(work.op, &work.display),
        other => work.on_the_way(other),
    };
    // Looked at first, so that a FIFO or a device is refused without being opened.
    let stat = work.start.stat(path).map_err(absent)?;
    if kind(&stat) != FsKind::Directory {
        return Err(FsError::not_directory(&work.display));
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    work.start.open(path, flags).map_err(absent)
}

/// In byte order; without what publications leave behind when they are killed or collide, which is for people to see
/// to.
fn names(folder: &OwnedFd, work: &Work) -> Result<Vec<Vec<u8>>, FsError> {
    let mut names = Vec::new();
    for child in Dir::read_from(folder).map_err(|errno| work.os(errno))? {
        let child = child.map_err(|errno| work.os(errno))?;
        let name = child.file_name().to_bytes();
        if name != b"." && name != b".." && !is_leftover_name(name) {
            names.push(name.to_vec());
        }
        work.check()?;
    }
    names.sort_unstable();
    Ok(names)
}

fn entry(folder: &OwnedFd, parent: &FsTarget, name: &[u8], start: &Start) -> FsDirEntry {
    let path = Path::new(OsStr::from_bytes(parent.key().as_bytes())).join(OsStr::from_bytes(name));
    let shown = String::from_utf8_lossy(name).into_owned();
    let display = format!("{}/{shown}", parent.display_path().trim_end_matches('/'));

    let own = Sighting::from_stat(|| statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)).ok();
    let is_link = own.is_some_and(|(_, stat)| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
    let (found, path) = if is_link {
        let reached = follow(&path).map_or(path, |reached| reached.path);
        let found = match start {
            Start::Disk => Sighting::from_stat(|| statat(folder, name, AtFlags::empty())),
            // A link may lead out.
            Start::Root(_) => Sighting::from_stat(|| start.stat(&reached)),
        };
        (found.ok(), reached)
    } else {
        (own, path)
    };

    let kind = found.map_or(FsKind::Other, |(_, stat)| kind(&stat));
    FsDirEntry {
        name: shown,
        kind,
        target: FsTarget::new(TargetKey::new(path.as_os_str().as_bytes()), display),
        version: found.map(|(seen, _)| by_identity(seen)),
        size: found.filter(|_| kind == FsKind::File).map(|(_, stat)| size(&stat)),
        modified: found.and_then(|(_, stat)| modified(&stat)),
        is_link,
    }
}
