//! Putting a change in place: the order of the steps is what the contract rests on.
//!
//! 1. [`Place::find`] holds the folder by descriptor; all that follows is relative to it.
//! 2. The caller holds the lock of the target.
//! 3. [`for_replacing`](open::for_replacing) opens what is there and `decide` judges it: type, permission, guard, and
//!    for an edit the text itself. The descriptor stays open to the end.
//! 4. [`Staged`] is written, dressed and synced under no name or a hidden one.
//! 5. [`create`] or [`replace`] checks that the target is still what step 3 saw, and gives the stage its name. Up to
//!    here a failed or cancelled call leaves nothing behind.
//! 6. [`settle`] syncs the folder and tells the version. Nothing turns the call into a failure any more.
//!
//! Who finds in step 5 that somebody else was faster starts again from step 1, and the guard has its say anew. The
//! check and the rename are two calls: a process that does not take our lock can still get in between them.

use std::borrow::Cow;
use std::os::fd::{AsFd, AsRawFd};

use dsh_fs::digest::Digest;
use dsh_fs::{FsError, FsTarget, FsVersion};
use rustix::fs::{AtFlags, CWD, RenameFlags, Stat, fstat, fsync, linkat, renameat, renameat_with};
use rustix::io::Errno;

use crate::folders::{Folder, Place};
use crate::identity::{Sighting, Token};
use crate::open::{self, Opened};
use crate::scan::digest_all;
use crate::stage::Staged;
use crate::work::Work;

/// How often a mutation starts again before it says that the file keeps changing.
const ATTEMPTS: usize = 64;

/// What a mutation decided when it had looked at what is there.
pub(crate) struct Plan<'a, T> {
    /// The bytes of the new file.
    pub(crate) content: Cow<'a, [u8]>,
    /// What must hold of the old file when it is replaced.
    pub(crate) basis: Basis,
    /// What the caller wants back.
    pub(crate) result: T,
}

/// What the new content was made from, and so what it may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Nothing: whatever is there is replaced.
    Nothing,
    /// The file as it was seen, with these bytes where they were read.
    Seen(Option<Digest>),
}

/// A change that is in place.
pub(crate) struct Published<T> {
    pub(crate) result: T,
    pub(crate) version: FsVersion,
    pub(crate) durable: bool,
}

/// Makes one change. `decide` gets the file that is there, if any, and may be asked again when somebody else was
/// faster.
pub(crate) fn publish<'a, T>(
    target: &FsTarget,
    block: usize,
    work: &Work,
    decide: impl Fn(&Place, Option<&Opened>) -> Result<Plan<'a, T>, FsError>,
) -> Result<Published<T>, FsError> {
    for _ in 0..ATTEMPTS {
        work.check()?;
        let place = Place::find(target, work)?;
        let found = match place.parent() {
            Some(parent) => open::for_replacing(parent, &place.name, work)?,
            None => None,
        };
        let plan = decide(&place, found.as_ref())?;
        let name = place.name.clone();
        let Some(folder) = place.make(work)? else { continue };
        let staged = match &found {
            None => create(&folder, &name, &plan.content, work),
            Some(found) => replace(&folder, &name, found, &plan, block, work),
        };
        match staged {
            Ok(Some(staged)) => {
                folder.keep();
                return Ok(settle(&folder, &staged, plan.result, work));
            }
            Ok(None) => {}
            // The folder was removed under us; whether it may be made again is for the next round to say.
            Err(_) if is_gone(&folder) => {}
            Err(failure) => return Err(failure),
        }
    }
    Err(FsError::io(work.op, &work.display, "another program keeps changing it"))
}

/// Steps 4 and 5 for a file that is not there. `None`: now it is.
fn create<'f>(
    folder: &'f Folder,
    name: &[u8],
    content: &[u8],
    work: &Work,
) -> Result<Option<Staged<'f>>, FsError> {
    let staged = Staged::new_file(folder.as_fd(), content, work)?;
    work.check()?;
    if staged.name().is_some() {
        return rename_to_new(staged, name, work);
    }
    match link(&staged, name) {
        Ok(()) => Ok(Some(staged)),
        Err(Errno::EXIST) => Ok(None),
        // Neither the kernel nor /proc would link it by its descriptor: do it by a name.
        Err(Errno::NOENT) if !is_gone(folder) => {
            let staged = Staged::new_file_by_name(folder.as_fd(), content, work)?;
            work.check()?;
            rename_to_new(staged, name, work)
        }
        Err(errno) => Err(work.os(errno)),
    }
}

/// Gives a file without a name its first one.
fn link(staged: &Staged<'_>, name: &[u8]) -> rustix::io::Result<()> {
    match linkat(staged, c"", staged.folder(), name, AtFlags::EMPTY_PATH) {
        // Before 6.10 the kernel lets only root do this, and others through /proc.
        Err(Errno::NOENT | Errno::PERM | Errno::INVAL) => {
            let path = format!("/proc/self/fd/{}", staged.file.as_raw_fd());
            linkat(CWD, path, staged.folder(), name, AtFlags::SYMLINK_FOLLOW)
        }
        answer => answer,
    }
}

fn rename_to_new<'f>(
    mut staged: Staged<'f>,
    name: &[u8],
    work: &Work,
) -> Result<Option<Staged<'f>>, FsError> {
    let folder = staged.folder();
    let Some(hidden) = staged.name() else { return Ok(None) };
    match renameat_with(folder, hidden, folder, name, RenameFlags::NOREPLACE) {
        Ok(()) => staged.renamed(),
        Err(Errno::EXIST) => return Ok(None),
        // File systems without that flag have links, as a rule; the hidden name goes when the stage is dropped.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            match linkat(folder, hidden, folder, name, AtFlags::empty()) {
                Ok(()) => staged.unlink(),
                Err(Errno::EXIST) => return Ok(None),
                Err(errno) => return Err(work.os(errno)),
            }
        }
        Err(errno) => return Err(work.os(errno)),
    }
    Ok(Some(staged))
}

/// Steps 4 and 5 for a file that is there. `None`: it is no longer what it was.
fn replace<'f, T>(
    folder: &'f Folder,
    name: &[u8],
    found: &Opened,
    plan: &Plan<'_, T>,
    block: usize,
    work: &Work,
) -> Result<Option<Staged<'f>>, FsError> {
    let mut staged = Staged::replacement(folder.as_fd(), &plan.content, &found.stat, work)?;
    work.check()?;
    if let Some(now) = open::for_replacing(folder.as_fd(), name, work)? {
        if !still(plan.basis, found, &now, block, work)? {
            return Ok(None);
        }
        // Somebody's chmod since step 3 must not be undone.
        if !same_dress(&now.stat, &found.stat) {
            staged.dress_like(&now.stat, work)?;
            fsync(&staged).map_err(|errno| work.os(errno))?;
        }
    } else if plan.basis != Basis::Nothing {
        return Ok(None);
    }
    work.check()?;
    let Some(hidden) = staged.name() else { return Ok(None) };
    renameat(folder, hidden, folder, name).map_err(|errno| work.os(errno))?;
    staged.renamed();
    Ok(Some(staged))
}

/// Is what is there now what the change was made from?
///
/// An unchanged identity is proof only of a file that had been left alone; otherwise the bytes are compared, and
/// equal bytes in another inode are fine.
fn still(basis: Basis, found: &Opened, now: &Opened, block: usize, work: &Work) -> Result<bool, FsError> {
    let Basis::Seen(digest) = basis else { return Ok(true) };
    let same = now.seen.identity == found.seen.identity;
    if same && found.seen.settled() {
        return Ok(true);
    }
    match digest {
        Some(digest) if now.readable => Ok(digest_all(now, block, work)? == digest),
        _ => Ok(same),
    }
}

fn same_dress(a: &Stat, b: &Stat) -> bool {
    (a.st_mode, a.st_uid, a.st_gid) == (b.st_mode, b.st_uid, b.st_gid)
}

/// Step 6.
fn settle<T>(folder: &Folder, staged: &Staged<'_>, result: T, work: &Work) -> Published<T> {
    let synced = folder.sync();
    if let Err(error) = &synced {
        tracing::warn!(path = &*work.display, %error, "the change is in place but its folder could not be synced");
    }
    // Of the descriptor that was written, not of the name: a stranger may have put another file there already. And
    // after the rename, which changes the ctime.
    let seen = Sighting::of(staged).map_or_else(|_| Sighting::unknown(), |(seen, _)| seen);
    let version = Token { digest: Some(staged.digest), seen }.version();
    Published { result, version, durable: synced.is_ok() }
}

fn is_gone(folder: &Folder) -> bool {
    fstat(folder).is_ok_and(|stat| stat.st_nlink == 0)
}

#[cfg(test)]
mod tests;
