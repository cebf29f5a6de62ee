//! Step 5 for a file that is there: exchange, look, and give back what was not meant to be replaced.
//!
//! A check and a rename are two calls, and a program that does not take our lock can get in between. An exchange
//! loses nothing: whatever had the name at that instant lies under the stage's hidden name after it, and is looked at
//! there. If it is what the change was made from, it goes; if it is somebody's newer file, it is
//! [given back](crate::give_back).

use std::os::fd::{AsFd, BorrowedFd};

use dsh_fs::digest::Digest;
use dsh_fs::{FsError, FsErrorCode};
use rustix::fs::{AtFlags, RenameFlags, fstat, renameat, renameat_with, unlinkat};
use rustix::io::{Errno, retry_on_intr};

use crate::capabilities::tell_without_exchange;
use crate::content::Content;
use crate::dress::Dress;
use crate::folders::Folder;
use crate::identity::Sighting;
use crate::open::{self, Opened};
use crate::publish::{Basis, Manner};
use crate::scan::{digest_all, has_digest};
use crate::stage::Staged;
use crate::steps::Step;
use crate::work::Work;
use crate::writers::Writers;

/// How often a file that came out is looked at when it changes while it is looked at.
const LOOKS: usize = 8;

/// A replacement that is under way.
pub(crate) struct Replacement<'f, 'a> {
    pub(crate) folder: &'f Folder,
    pub(crate) name: &'a [u8],
    /// The file as step 3 saw it.
    pub(crate) found: &'a Opened,
    /// What must hold of the file that is replaced.
    pub(crate) basis: Basis,
    pub(crate) manner: &'a Manner,
    pub(crate) work: &'a Work,
}

/// The old file under the hidden name of its replacement, to be removed in step 6.
pub(crate) struct Old {
    pub(crate) hidden: Option<String>,
}

impl<'f> Replacement<'f, '_> {
    /// Steps 4 and 5. `None`: the file is no longer what it was.
    pub(crate) fn make(&self, content: &dyn Content) -> Result<Option<(Staged<'f>, Old)>, FsError> {
        let Self { folder, manner, work, .. } = *self;
        let dress = Dress::of(self.found, work)?;
        let mut staged = Staged::replacement(folder.as_fd(), content, self.found, &dress, manner, work)?;
        manner.steps.at(Step::Staged);
        work.check()?;

        let mut writers = Writers::new();
        if self.basis != Basis::Nothing && self.found.readable {
            writers.wait(self.found.file.as_fd(), work)?;
        }
        let now = open::for_replacing(folder.as_fd(), self.name, work)?;
        let copied = match &now {
            Some(now) => {
                if !self.may_still(now)? {
                    return Ok(None);
                }
                self.dress_again(&staged, now, &dress)?
            }
            None if self.basis == Basis::Nothing => dress,
            None => return Ok(None),
        };
        work.check()?;
        manner.steps.at(Step::Rechecked);

        let Basis::Seen(digest) = self.basis else {
            self.rename(&mut staged, now.as_ref(), &copied)?;
            return Ok(Some((staged, Old { hidden: None })));
        };
        let Some(hidden) = staged.name().map(str::to_owned) else { return Ok(None) };
        let ours = fstat(&staged).map_err(|errno| work.os(errno))?;
        match self.exchange(&hidden) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                tell_without_exchange(folder, &work.display);
                return self.look_and_rename(staged, &copied);
            }
            Err(errno) => return Err(work.os(errno)),
        }
        // The hidden name is no longer the stage's: whatever happens now, dropping the stage must not remove it.
        staged.renamed();
        manner.steps.at(Step::Exchanged);
        let looked = self.is_what_was_replaced(&hidden, digest, &staged, &copied, writers);
        manner.steps.at(Step::Looked);
        match looked {
            Ok(true) => Ok(Some((staged, Old { hidden: Some(hidden) }))),
            Ok(false) => self.give_back(staged, &ours, hidden, None),
            Err(failure) => self.give_back(staged, &ours, hidden, Some(failure)),
        }
    }

    /// The way of file systems without exchange: the last look before the rename is all there is.
    fn look_and_rename(
        &self,
        mut staged: Staged<'f>,
        copied: &Dress,
    ) -> Result<Option<(Staged<'f>, Old)>, FsError> {
        let now = open::for_replacing(self.folder.as_fd(), self.name, self.work)?;
        let Some(now) = now else { return Ok(None) };
        if !self.is_still(&now)? {
            return Ok(None);
        }
        let copied = self.dress_again(&staged, &now, copied)?;
        self.work.check()?;
        self.manner.steps.at(Step::Rechecked);
        self.rename(&mut staged, Some(&now), &copied)?;
        Ok(Some((staged, Old { hidden: None })))
    }

    /// Is it worth going on? Where an exchange follows, the file is looked at again after it, and an unchanged
    /// identity is reason enough; equal bytes in another inode are fine.
    fn may_still(&self, now: &Opened) -> Result<bool, FsError> {
        let same = now.seen.identity == self.found.seen.identity;
        Ok(self.basis == Basis::Nothing || same || self.is_still(now)?)
    }

    /// Is what is there now what the change was made from? An unchanged identity is proof only of a file that had been
    /// left alone; otherwise the bytes are compared.
    fn is_still(&self, now: &Opened) -> Result<bool, FsError> {
        let Basis::Seen(digest) = self.basis else { return Ok(true) };
        let same = now.seen.identity == self.found.seen.identity;
        if same && self.found.seen.settled() {
            return Ok(true);
        }
        match digest {
            Some(digest) if now.readable => Ok(digest_all(now, self.manner.block, self.work)? == digest),
            _ => Ok(same),
        }
    }

    /// Somebody's chmod since step 3 must not be undone, not even for an instant.
    fn dress_again(&self, staged: &Staged<'_>, now: &Opened, copied: &Dress) -> Result<Dress, FsError> {
        let dress = Dress::of(now, self.work)?;
        if dress != *copied {
            dress.put_on(staged.as_fd(), self.work)?;
            staged.sync(self.manner, self.work)?;
        }
        Ok(dress)
    }

    fn rename(&self, staged: &mut Staged<'_>, now: Option<&Opened>, copied: &Dress) -> Result<(), FsError> {
        let Some(hidden) = staged.name() else { return Ok(()) };
        renameat(self.folder, hidden, self.folder, self.name).map_err(|errno| self.work.os(errno))?;
        staged.renamed();
        if let Some(now) = now {
            self.dress_published(staged, now, copied, &self.work.uncancelled());
        }
        Ok(())
    }

    pub(crate) fn exchange(&self, hidden: &str) -> rustix::io::Result<()> {
        if self.manner.without.exchange {
            return Err(Errno::NOSYS);
        }
        let folder = self.folder;
        retry_on_intr(|| renameat_with(folder, hidden, folder, self.name, RenameFlags::EXCHANGE))
    }

    /// Is the file under the hidden name one whose bytes the change was made from? Its descriptor of step 3 is not
    /// asked: on an overlay it may lead to a lower file that is no longer the one others see.
    ///
    /// It is looked at until nobody writes it and it stays the same meanwhile, and what it wears is put on the published
    /// file. Cancelling has no effect any more.
    fn is_what_was_replaced(
        &self,
        hidden: &str,
        digest: Option<Digest>,
        staged: &Staged<'_>,
        copied: &Dress,
        mut writers: Writers,
    ) -> Result<bool, FsError> {
        let work = &self.work.uncancelled();
        for _ in 0..LOOKS {
            let out = match open::for_replacing(self.folder.as_fd(), hidden.as_bytes(), work) {
                Ok(Some(out)) => out,
                Ok(None) => return Err(work.os(Errno::NOENT)),
                // A folder, a link: not ours to replace.
                Err(other) if other.code() == FsErrorCode::NotRegularFile => return Ok(false),
                Err(failure) => return Err(failure),
            };
            if out.readable && writers.wait(out.file.as_fd(), work)? {
                continue;
            }
            let same = match digest {
                Some(digest) => out.readable && has_digest(&out, digest, self.manner.block, work)?,
                // A guard by identity on a file that its caller may not read.
                None => out.seen.identity.same_but_for_ctime(&self.found.seen.identity),
            };
            if !same {
                return Ok(false);
            }
            self.dress_published(staged, &out, copied, work);
            let after = Sighting::of(&out.file).map_err(|errno| work.os(errno))?.0;
            if after.identity == out.seen.identity {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What the old file wears at the last is what the new one must wear. The change is in place, so a failure is one
    /// for the log.
    fn dress_published(&self, staged: &Staged<'_>, old: &Opened, copied: &Dress, work: &Work) {
        let put_on = || {
            let dress = Dress::of(old, work)?;
            if dress != *copied {
                dress.put_on(staged.as_fd(), work)?;
                staged.sync(self.manner, work)?;
            }
            Ok(())
        };
        if let Err(error) = put_on() {
            let error: FsError = error;
            let error = error.to_string();
            tracing::warn!(path = ?work.display, ?error, "a change of mode or attributes could not be kept");
        }
    }
}

impl Old {
    /// Removes it. (By a plain rename it is gone already.)
    pub(crate) fn remove(self, folder: BorrowedFd<'_>) {
        let Some(hidden) = self.hidden else { return };
        if let Err(error) = retry_on_intr(|| unlinkat(folder, hidden.as_str(), AtFlags::empty())) {
            tracing::warn!(hidden, %error, "the old file could not be removed and stays under a hidden name");
        }
    }
}
