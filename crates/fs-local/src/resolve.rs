//! What a path means: the name it has in messages, and the file it leads to.
//!
//! Two steps. The path as written is folded (`.`, `..`, repeated slashes) before any link is looked at; that is the
//! display path. Then links are followed from the root down; where nothing is yet, the rest of the path is taken as
//! it stands. So a dangling link means the file it points to, and a path means the same before and after its file is
//! created.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use dsh_fs::{FsError, FsTarget, TargetKey};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, openat2, readlinkat, statat};
use rustix::io::Errno;

use crate::work::Work;

/// How many links one path may go through; the kernel's own limit.
const MAX_LINKS: usize = 40;

/// A path as written, made absolute.
#[derive(Debug)]
pub(crate) struct Named {
    /// Folded, without a trailing slash.
    pub(crate) path: PathBuf,
    /// The same for people; where the working directory is not UTF-8, with replacement characters.
    pub(crate) display: String,
    /// It ends in a slash (or in `/.`, which says the same), so only a folder can be meant.
    pub(crate) folder: bool,
}

/// Makes `path` absolute: it starts at `base` unless it is absolute itself.
pub(crate) fn name(path: &str, base: &Path) -> Result<Named, FsError> {
    if path.trim().is_empty() {
        return Err(FsError::blank_path());
    }
    if path.contains('\0') || base.as_os_str().as_bytes().contains(&0) {
        return Err(FsError::nul_in_path());
    }
    let path_bytes = path.as_bytes();
    let absolute = if path_bytes.starts_with(b"/") {
        path_bytes.to_vec()
    } else {
        [real_base(path_bytes, base).as_os_str().as_bytes(), b"/", path_bytes].concat()
    };
    let folded = fold(&absolute);
    let display = folded.to_string_lossy().into_owned();
    Ok(Named { path: folded, display, folder: names_folder(path_bytes) })
}

/// What a path means, if the kernel can tell without waiting for a disk or a network: it has the whole way in memory, and
/// there is no link on it. Opening once to hold on to nothing is the cheapest look at all of a path.
pub(crate) fn from_memory(path: &str, base: &Path) -> Option<FsTarget> {
    if has_dot_dot(path.as_bytes()) || has_dot_dot(base.as_os_str().as_bytes()) {
        return None;
    }
    let named = name(path, base).ok()?;
    let (folder, mut flags) = (named.folder, OFlags::PATH | OFlags::CLOEXEC);
    flags.set(OFlags::DIRECTORY, folder);
    let how = ResolveFlags::CACHED | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(CWD, &named.path, flags, Mode::empty(), how) {
        Ok(_) => {}
        Err(Errno::NOENT) if !folder => {}
        Err(_) => return None,
    }
    Some(named.target(&named.path))
}

/// Follows the links of a named path.
pub(crate) fn resolve(named: &Named, work: &Work) -> Result<FsTarget, FsError> {
    let work = work.named(&named.display);
    let reached = follow(&named.path).map_err(|errno| work.os(errno))?;
    let folder = named.folder || reached.folder;
    if folder && (reached.missing > 0 || !is_folder(&reached.path, &work)?) {
        return Err(FsError::slash_names_folder(&named.display));
    }
    work.check()?;
    Ok(named.target(&reached.path))
}

impl Named {
    fn target(&self, reached: &Path) -> FsTarget {
        FsTarget::new(TargetKey::new(reached.as_os_str().as_bytes()), self.display.as_str())
    }
}

/// Where a path leads.
#[derive(Debug)]
pub(crate) struct Reached {
    /// Absolute, without links.
    pub(crate) path: PathBuf,
    /// How many of its last segments do not exist.
    pub(crate) missing: usize,
    /// The last link on the way ended in a slash.
    folder: bool,
}

/// Follows an absolute path from the root down.
///
/// `..` (which only a link, or a working directory, can bring in here) goes up from where the links led, as the
/// kernel does it.
pub(crate) fn follow(path: &Path) -> Result<Reached, Errno> {
    let mut todo: Vec<Vec<u8>> = segments_reversed(path.as_os_str().as_bytes());
    let mut reached = Reached { path: PathBuf::from("/"), missing: 0, folder: false };
    let mut links = 0;
    while let Some(segment) = todo.pop() {
        if segment == b".." {
            reached.up()?;
            continue;
        }
        let next = reached.path.join(OsStr::from_bytes(&segment));
        if reached.missing > 0 {
            reached.path = next;
            reached.missing += 1;
            continue;
        }
        match readlinkat(CWD, &next, Vec::new()) {
            Ok(destination) => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::LOOP);
                }
                let destination = destination.to_bytes();
                if destination.starts_with(b"/") {
                    reached.path = PathBuf::from("/");
                }
                if todo.is_empty() {
                    reached.folder |= names_folder(destination);
                }
                todo.extend(segments_reversed(destination));
            }
            // It exists and is no link.
            Err(Errno::INVAL) => reached.path = next,
            Err(Errno::NOENT) => {
                reached.path = next;
                reached.missing = 1;
            }
            Err(errno) => return Err(errno),
        }
    }
    Ok(reached)
}

impl Reached {
    fn up(&mut self) -> Result<(), Errno> {
        if self.missing > 0 {
            self.missing -= 1;
        } else if FileType::from_raw_mode(statat(CWD, &self.path, AtFlags::empty())?.st_mode)
            != FileType::Directory
        {
            return Err(Errno::NOTDIR);
        }
        self.path.pop();
        Ok(())
    }
}

/// The folder where a relative path starts. With a `..` in either, it is the real folder behind `base`, so that `..`
/// leaves the folder one is in, not the link one came through; where that cannot be found, `base` as it stands.
fn real_base(path: &[u8], base: &Path) -> PathBuf {
    if !has_dot_dot(path) && !has_dot_dot(base.as_os_str().as_bytes()) {
        return base.to_path_buf();
    }
    match follow(base) {
        Ok(reached) if reached.missing == 0 => reached.path,
        _ => base.to_path_buf(),
    }
}

/// A backslash separates here too: the rule is one rule for all platforms.
fn has_dot_dot(path: &[u8]) -> bool {
    path.split(|&byte| byte == b'/' || byte == b'\\').any(|segment| segment == b"..")
}

fn names_folder(path: &[u8]) -> bool {
    path.ends_with(b"/") || path.ends_with(b"/.") || path == b"."
}

fn fold(absolute: &[u8]) -> PathBuf {
    let mut folded = PathBuf::from("/");
    for segment in absolute.split(|&byte| byte == b'/') {
        match segment {
            b"" | b"." => {}
            b".." => {
                folded.pop();
            }
            name => folded.push(OsStr::from_bytes(name)),
        }
    }
    folded
}

fn segments_reversed(path: &[u8]) -> Vec<Vec<u8>> {
    path.split(|&byte| byte == b'/')
        .filter(|segment| !segment.is_empty() && *segment != b".")
        .map(<[u8]>::to_vec)
        .rev()
        .collect()
}

fn is_folder(path: &Path, work: &Work) -> Result<bool, FsError> {
    match statat(CWD, path, AtFlags::empty()) {
        Ok(stat) => Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
        Err(errno) => Err(work.os(errno)),
    }
}
