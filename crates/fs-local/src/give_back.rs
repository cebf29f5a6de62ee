//! Step 5 when it met a stranger: the file that the exchange took out goes back to its name.
//!
//! No file that is neither our stage nor what the change was made from is ever removed here. One that has lost its name
//! to a newer one stays beside it, and the failure says where.

use std::os::fd::{AsFd, OwnedFd};

use dsh_fs::{FsError, FsErrorCode};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, openat, statat};
use rustix::io::Errno;

use crate::conflict;
use crate::exchange::{Old, Replacement};
use crate::identity::FileId;
use crate::scan::has_digest;
use crate::stage::Staged;
use crate::steps::Step;
use crate::work::Work;
use crate::writers::Writers;

/// How often stage and target change places. Each time but the first, yet another stranger has put its file there in
/// the microseconds since the last.
const EXCHANGES: usize = 8;

impl<'f> Replacement<'f, '_> {
    /// Puts back what the exchange took out, and looks again at what comes out: it must be our stage as we made it.
    /// If not, it is newer still, and goes back in its turn.
    ///
    /// `before` is what the stage was before the exchange, `failure` why the file could not be looked at. `None`: all
    /// is as if we had never been there.
    pub(crate) fn give_back(
        &self,
        mut staged: Staged<'f>,
        before: &Stat,
        hidden: String,
        failure: Option<FsError>,
    ) -> Result<Option<(Staged<'f>, Old)>, FsError> {
        // Cancelling has no effect before this is brought to an end.
        let work = &self.work.uncancelled();
        let ours = Some(FileId::of(before));
        let (mut inside, mut out) = (ours, self.file_id(&hidden));
        for _ in 0..EXCHANGES {
            match self.exchange(&hidden) {
                Ok(()) => {}
                // Not removed since, which would have been by someone who meant the file that we hold.
                Err(errno) if errno != Errno::NOENT && inside == ours => {
                    return Err(self.kept(&hidden, Kept::InItsPlace, work));
                }
                Err(_) => return Err(self.kept(&hidden, Kept::Overtaken, work)),
            }
            self.manner.steps.at(Step::GivenBack);
            let next = self.file_id(&hidden);
            if next == ours && next.is_some() {
                if self.is_untouched(&staged, work) {
                    self.pass_on(&staged, before, out);
                    staged.has_name(hidden);
                    return failure.map_or(Ok(None), Err);
                }
            } else if next == inside && next.is_some() {
                // What had been put in last came out again, so the newest has the name. But this one was replaced by
                // somebody who may never have seen it.
                break;
            }
            (inside, out) = (out, next);
        }
        Err(self.kept(&hidden, Kept::Overtaken, work))
    }

    /// Does our stage still have our bytes? For an instant it had the target's name, and who wrote it then in place has
    /// made it theirs.
    fn is_untouched(&self, staged: &Staged<'_>, work: &Work) -> bool {
        let look = || {
            Writers::new().wait(staged.as_fd(), work)?;
            let ours = staged.reopened().map_err(|errno| work.os(errno))?;
            has_digest(&ours, staged.digest, self.manner.block, work)
        };
        let untouched: Result<bool, FsError> = look();
        untouched.unwrap_or(false)
    }

    /// A stranger's chmod or chown in that instant was one of our stage: it is made again on the file that has its name
    /// back.
    fn pass_on(&self, staged: &Staged<'_>, before: &Stat, to: Option<FileId>) {
        let Ok(after) = fstat(staged) else { return };
        let (owners, mode) = ((after.st_uid, after.st_gid), after.st_mode);
        if (before.st_uid, before.st_gid) == owners && before.st_mode == mode {
            return;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let pass_on = || {
            let file: OwnedFd = openat(self.folder, self.name, flags, Mode::empty())?;
            if Some(FileId::of(&fstat(&file)?)) == to {
                if (before.st_uid, before.st_gid) != owners {
                    fchown(&file, Some(Uid::from_raw(owners.0)), Some(Gid::from_raw(owners.1)))?;
                }
                fchmod(&file, Mode::from_raw_mode(mode & 0o7777))?;
            }
            Ok(())
        };
        let passed: rustix::io::Result<()> = pass_on();
        if let Err(error) = passed {
            tracing::warn!(path = ?self.work.display, %error, "a change of mode could not be kept");
        }
    }

    /// Twice, so that one failure is not mistaken for another file.
    fn file_id(&self, hidden: &str) -> Option<FileId> {
        let look = || statat(self.folder, hidden, AtFlags::SYMLINK_NOFOLLOW);
        look().or_else(|_| look()).ok().map(|stat| FileId::of(&stat))
    }

    /// The failure of a change that collided so that somebody's file is now beside the target.
    fn kept(&self, hidden: &str, how: Kept, work: &Work) -> FsError {
        let name = conflict::keep(self.folder.as_fd(), hidden, self.name, self.manner.without);
        let path = self.folder.path_of(&name);
        tracing::warn!(path = ?work.display, kept = ?path, "another program's file could not be given back");
        let (verb, display) = (work.op.verb(), &*work.display);
        match how {
            Kept::Overtaken => FsError::new(
                FsErrorCode::StaleVersion,
                format!(
                    "cannot {verb} \"{display}\": file changed since it was read, and again meanwhile; a version that \
                     another program wrote is kept as \"{path}\""
                ),
            ),
            Kept::InItsPlace => FsError::io(
                work.op,
                display,
                format_args!(
                    "the new text is in place, but it may have replaced what was never read; what it replaced is kept \
                     as \"{path}\""
                ),
            ),
        }
    }
}

/// Why somebody's file is beside the target.
#[derive(Clone, Copy)]
enum Kept {
    /// The target is somebody's, newer than both this file and our change, or gone.
    Overtaken,
    /// Our change has the name, because the system refused to exchange the two again.
    InItsPlace,
}
