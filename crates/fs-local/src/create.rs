//! Step 5 for a file that is not there: it gets its name, unless somebody else has taken it meanwhile.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use dsh_fs::FsError;
use rustix::fs::{AtFlags, CWD, RenameFlags, linkat, renameat, renameat_with, statat, unlinkat};
use rustix::io::Errno;

use crate::capabilities::Fallbacks;
use crate::content::Content;
use crate::folders::Folder;
use crate::publish::Manner;
use crate::stage::Staged;
use crate::steps::Step;
use crate::work::Work;

/// Steps 4 and 5. `None`: now there is a file.
pub(crate) fn create<'f>(
    folder: &'f Folder,
    name: &[u8],
    content: &dyn Content,
    manner: &Manner,
    work: &Work,
) -> Result<Option<Staged<'f>>, FsError> {
    let staged = Staged::new_file(folder.as_fd(), content, manner, work)?;
    manner.steps.at(Step::Staged);
    work.check()?;
    if staged.name().is_some() {
        return rename_to_new(staged, name, manner, work);
    }
    manner.steps.at(Step::Rechecked);
    match link(&staged, name, manner.without) {
        Ok(()) => Ok(Some(staged)),
        Err(Errno::EXIST) => Ok(None),
        // Neither the kernel nor /proc would link it by its descriptor, or the file system knows no links: do it by
        // a name.
        Err(Errno::NOENT | Errno::PERM | Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS)
            if !folder.is_gone() =>
        {
            let staged = Staged::new_file_by_name(folder.as_fd(), content, manner, work)?;
            work.check()?;
            rename_to_new(staged, name, manner, work)
        }
        Err(errno) => Err(work.os(errno)),
    }
}

/// Gives a file without a name its first one.
fn link(staged: &Staged<'_>, name: &[u8], without: Fallbacks) -> rustix::io::Result<()> {
    if without.hard_links {
        return Err(Errno::OPNOTSUPP);
    }
    match linkat(staged, c"", staged.folder(), name, AtFlags::EMPTY_PATH) {
        // Before 6.10 the kernel lets only root do this, and others through /proc.
        Err(Errno::NOENT | Errno::PERM | Errno::INVAL) => {
            let path = format!("/proc/self/fd/{}", staged.file.as_raw_fd());
            linkat(CWD, path, staged.folder(), name, AtFlags::SYMLINK_FOLLOW)
        }
        answer => answer,
    }
}

pub(crate) fn rename_to_new<'f>(
    mut staged: Staged<'f>,
    name: &[u8],
    manner: &Manner,
    work: &Work,
) -> Result<Option<Staged<'f>>, FsError> {
    let Some(hidden) = staged.name() else { return Ok(None) };
    manner.steps.at(Step::Rechecked);
    match rename_new(staged.folder(), hidden.as_bytes(), name, manner.without) {
        Ok(()) => {
            staged.renamed();
            Ok(Some(staged))
        }
        Err(Errno::EXIST) => Ok(None),
        Err(errno) => Err(work.os(errno)),
    }
}

/// Renames to a name that nobody has; `EXIST` where somebody does.
pub(crate) fn rename_new(
    folder: BorrowedFd<'_>,
    from: &[u8],
    to: &[u8],
    without: Fallbacks,
) -> rustix::io::Result<()> {
    let renamed = if without.no_replace {
        Err(Errno::INVAL)
    } else {
        renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE)
    };
    match renamed {
        // File systems without that flag have links, as a rule.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        answer => return answer,
    }
    let linked = if without.hard_links {
        Err(Errno::OPNOTSUPP)
    } else {
        linkat(folder, from, folder, to, AtFlags::empty())
    };
    match linked {
        Ok(()) => {
            // The file has its name; that it has the hidden one too for a while harms nobody.
            if let Err(error) = unlinkat(folder, from, AtFlags::empty()) {
                tracing::warn!(%error, "a stage file could not be removed");
            }
            return Ok(());
        }
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::MLINK) => {}
        Err(errno) => return Err(errno),
    }
    // Neither: look, then rename. Our own processes are kept out by the lock; a stranger can get in between.
    match statat(folder, to, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Err(Errno::EXIST),
        Err(Errno::NOENT) => renameat(folder, from, folder, to),
        Err(errno) => Err(errno),
    }
}
