//! Type, size and version of a file without reading it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use dsh_fs::{FsError, FsInfo, FsKind, FsPathInfo, FsPathKind, FsTarget};
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use crate::identity::{Sighting, Token, size};
use crate::resolve::Named;
use crate::work::Work;

/// Links followed, unless the call is bounded.
pub(crate) fn stat(target: &FsTarget, work: &Work) -> Result<Option<FsInfo>, FsError> {
    let path = Path::new(OsStr::from_bytes(target.key().as_bytes()));
    let Some((seen, stat)) = look(|| work.start.stat(path), work)? else {
        return Ok(None);
    };
    Ok(Some(FsInfo { version: by_identity(seen), kind: kind(&stat), size: Some(size(&stat)) }))
}

/// The last link not followed, unless the path ends in a slash: then the folder behind it is meant.
pub(crate) fn lstat(named: &Named, work: &Work) -> Result<Option<FsPathInfo>, FsError> {
    let path = &named.path;
    let look_at = || if named.folder { work.start.stat(path) } else { work.start.lstat(path) };
    let Some((seen, stat)) = look(look_at, work)? else {
        return Ok(None);
    };
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FsPathKind::File,
        FileType::Directory => FsPathKind::Directory,
        FileType::Symlink => FsPathKind::Symlink,
        _ => FsPathKind::Other,
    };
    if named.folder && kind != FsPathKind::Directory {
        return Err(FsError::slash_names_folder(&named.display));
    }
    Ok(Some(FsPathInfo { version: by_identity(seen), kind, size: Some(size(&stat)) }))
}

pub(crate) fn kind(stat: &Stat) -> FsKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FsKind::File,
        FileType::Directory => FsKind::Directory,
        _ => FsKind::Other,
    }
}

pub(crate) fn by_identity(seen: Sighting) -> dsh_fs::FsVersion {
    Token { digest: None, seen }.version()
}

fn look(
    stat: impl FnOnce() -> rustix::io::Result<Stat>,
    work: &Work,
) -> Result<Option<(Sighting, Stat)>, FsError> {
    match Sighting::from_stat(stat) {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(errno) => Err(work.on_the_way(errno)),
    }
}
