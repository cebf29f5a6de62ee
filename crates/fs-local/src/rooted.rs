//! Where a call starts to look for its files: anywhere on the disk, or beneath one folder that it must not leave.
//!
//! A fence resolves a path and judges it; by the time its file is opened, a folder or link on the way may be another
//! one. So what was judged is opened beneath a descriptor of the folder that it was judged to lie in, links not
//! followed, and whoever has moved something meanwhile gets a refusal. The descriptor is held from the first call
//! that names the folder, and each later one looks whether the path still leads there. Where it leads to another folder,
//! that one is held from then on, but the call that finds it is refused, for it was judged in the old one.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dsh_fs::FsError;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat, openat2, statat};
use rustix::io::Errno;

use crate::identity::FileId;
use crate::work::Work;

/// As many folders are held; of more than that the one that was named least recently is let go, and opened anew when
/// it is named again.
const MOST_ROOTS: usize = 128;

const PATH: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// The folders that calls were kept beneath. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roots {
    held: Arc<Mutex<VecDeque<Arc<Root>>>>,
    pub(crate) without_openat2: bool,
}

/// A folder that is held.
#[derive(Debug)]
pub(crate) struct Root {
    path: Arc<Path>,
    folder: OwnedFd,
    without_openat2: bool,
}

/// Where a call may go.
#[derive(Clone, Debug)]
pub(crate) enum Start {
    /// Wherever its paths lead.
    Disk,
    /// Nowhere but beneath this folder.
    Root(Arc<Root>),
}

impl Roots {
    /// Where a call starts that is kept beneath a folder, or beneath none.
    pub(crate) fn start(&self, beneath: Option<&Arc<Path>>, work: &Work) -> Result<Start, FsError> {
        let Some(path) = beneath else { return Ok(Start::Disk) };
        let now = Root::open(path, self.without_openat2).map_err(|errno| match errno {
            Errno::MFILE | Errno::NFILE | Errno::NOMEM => work.os(errno),
            _ => work.denied("the folder that it must lie in cannot be opened").with_source(errno),
        })?;
        self.hold(now).map(Start::Root).ok_or_else(|| work.denied("the workspace is another folder now"))
    }

    /// Holds what a path leads to now; `None` if that is not what was held.
    fn hold(&self, now: Root) -> Option<Arc<Root>> {
        let now = Arc::new(now);
        let mut held = self.held();
        let at = held.iter().position(|root| root.path == now.path);
        let before = at.and_then(|at| held.remove(at));
        held.push_back(now.clone());
        if held.len() > MOST_ROOTS {
            held.pop_front();
        }
        // The one before is still open here, so its number is not another folder's.
        before.is_none_or(|before| before.is(&now)).then_some(now)
    }

    fn held(&self) -> MutexGuard<'_, VecDeque<Arc<Root>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Root {
    fn open(path: &Arc<Path>, without_openat2: bool) -> rustix::io::Result<Self> {
        let top = openat(CWD, c"/", PATH | OFlags::DIRECTORY, Mode::empty())?;
        let below = path.strip_prefix("/").map_err(|_| Errno::XDEV)?;
        let folder = beneath(top.as_fd(), below, PATH | OFlags::DIRECTORY, without_openat2)?;
        Ok(Self { path: path.clone(), folder, without_openat2 })
    }

    fn is(&self, other: &Self) -> bool {
        let id = |root: &Self| fstat(&root.folder).map(|stat| FileId::of(&stat));
        id(self).is_ok_and(|this| id(other) == Ok(this))
    }

    fn beneath(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let below = path.strip_prefix(&self.path).map_err(|_| Errno::XDEV)?;
        beneath(self.folder.as_fd(), below, flags, self.without_openat2)
    }
}

impl Start {
    /// Is this the folder that the call is kept beneath?
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        matches!(self, Self::Root(root) if *root.path == *path)
    }

    /// Is something out of bounds?
    pub(crate) fn is_bounded(&self) -> bool {
        matches!(self, Self::Root(_))
    }

    /// Opens what a canonical path leads to. Beneath a root, a link on the way or at the end is an error; with
    /// `NOFOLLOW` and `PATH` the link at the end is what is opened.
    pub(crate) fn open(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        match self {
            Self::Disk => openat(CWD, path, flags, Mode::empty()),
            Self::Root(root) => root.beneath(path, flags),
        }
    }

    /// The same, and a link is an error wherever the call starts.
    pub(crate) fn open_without_links(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        if let Self::Root(root) = self {
            return root.beneath(path, flags);
        }
        let no_links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(CWD, path, flags, Mode::empty(), no_links) {
            // Kernels before 5.6, and containers that forbid what they do not know.
            Err(Errno::NOSYS | Errno::PERM) => openat(CWD, path, flags | OFlags::NOFOLLOW, Mode::empty()),
            answer => answer,
        }
    }

    /// Looks at what a canonical path leads to, without opening it.
    pub(crate) fn stat(&self, path: &Path) -> rustix::io::Result<Stat> {
        match self {
            Self::Disk => statat(CWD, path, AtFlags::empty()),
            Self::Root(root) => fstat(root.beneath(path, PATH)?),
        }
    }

    /// Looks at what is at the end of a path, even if it is a link.
    pub(crate) fn lstat(&self, path: &Path) -> rustix::io::Result<Stat> {
        match self {
            Self::Disk => statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW),
            Self::Root(root) => fstat(root.beneath(path, PATH | OFlags::NOFOLLOW)?),
        }
    }
}

/// Opens a path below a folder, and nothing elsewhere: no link is followed, and nothing goes up.
fn beneath(
    top: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    without_openat2: bool,
) -> rustix::io::Result<OwnedFd> {
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(Errno::XDEV);
    }
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    if without_openat2 {
        return walk(top, path, flags);
    }
    let bounds = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(top, path, flags, Mode::empty(), bounds) {
        Err(Errno::NOSYS | Errno::PERM) => walk(top, path, flags),
        answer => answer,
    }
}

/// The same where the kernel cannot do it: one component at a time.
fn walk(top: BorrowedFd<'_>, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let (Some(above), Some(last)) = (path.parent(), path.file_name()) else {
        return openat(top, path, flags, Mode::empty());
    };
    let mut folder = None;
    for name in above {
        let at = folder.as_ref().map_or(top, AsFd::as_fd);
        folder = Some(step(at, Path::new(name), PATH | OFlags::DIRECTORY)?);
    }
    step(folder.as_ref().map_or(top, AsFd::as_fd), Path::new(last), flags)
}

/// Opens one name of a folder. It is held and looked at first, because the errors of `NOFOLLOW` do not tell a link
/// from a file where a folder should be.
fn step(folder: BorrowedFd<'_>, name: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let held = openat(folder, name, PATH | OFlags::NOFOLLOW, Mode::empty())?;
    match FileType::from_raw_mode(fstat(&held)?.st_mode) {
        FileType::Symlink if !flags.contains(OFlags::NOFOLLOW) => return Err(Errno::LOOP),
        kind if flags.contains(OFlags::DIRECTORY) && kind != FileType::Directory => {
            return Err(Errno::NOTDIR);
        }
        _ => {}
    }
    if flags.contains(OFlags::PATH) {
        return Ok(held);
    }
    openat(folder, name, flags | OFlags::NOFOLLOW, Mode::empty())
}
