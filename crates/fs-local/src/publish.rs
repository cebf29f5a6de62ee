//! Putting a change in place: the order of the steps is what the contract rests on.
//!
//! 1. [`Place::find`] holds the folder by descriptor; all that follows is relative to it.
//! 2. The caller holds the lock of the target in this process; [`Place::lock`] locks the folder against our others.
//! 3. [`for_replacing`](open::for_replacing) opens what is there and `decide` judges it: type, permission, guard, and
//!    for an edit the text itself. The descriptor stays open to the end, so that its inode number is not used again.
//! 4. [`Staged`] is written, dressed ([`Dress`](crate::dress::Dress)) and synced under no name or a hidden one.
//! 5. [`create`] gives a new file its name unless somebody else has taken it. [`Replacement::make`] exchanges it with
//!    the old one, looks at what came out, and gives it back if it is not what step 3 saw. Up to the exchange, a failed
//!    or cancelled call leaves nothing behind, and once it is withdrawn neither.
//! 6. [`settle`] removes the old file, syncs the folder and tells the version. Nothing turns the call into a failure
//!    any more.
//!
//! Who finds in step 5 that somebody else was faster starts again from step 1, and the guard has its say anew: a
//! guarded mutation is stale, an unguarded one is made again on what is there now.

use std::os::fd::AsFd;

use dsh_fs::digest::Digest;
use dsh_fs::{FsError, FsTarget, FsVersion};

use crate::Durability;
use crate::capabilities::Fallbacks;
use crate::content::Content;
use crate::create::create;
use crate::exchange::{Old, Replacement};
use crate::flock::PATIENCE;
use crate::folders::{Folder, Place};
use crate::hop;
use crate::identity::{Sighting, Token};
use crate::open::{self, Opened};
use crate::stage::Staged;
use crate::steps::{Step, Steps};
use crate::work::Work;

/// How often a mutation starts again before it says that the file keeps changing.
const ATTEMPTS: usize = 64;

/// How a backend publishes.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    /// Bytes read at a time.
    pub(crate) block: usize,
    pub(crate) durability: Durability,
    pub(crate) without: Fallbacks,
    pub(crate) steps: Steps,
}

/// What a mutation decided when it had looked at what is there.
pub(crate) struct Plan<C> {
    /// The new file.
    pub(crate) content: C,
    /// What must hold of the old file when it is replaced.
    pub(crate) basis: Basis,
}

/// What the new content was made from, and so what it may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Nothing: whatever is there is replaced.
    Nothing,
    /// The file as it was seen, with these bytes unless its caller may not read it.
    Seen(Option<Digest>),
}

/// A change that is in place.
pub(crate) struct Published<C> {
    pub(crate) content: C,
    pub(crate) version: FsVersion,
    pub(crate) durable: bool,
}

/// Makes one change. `decide` gets the file that is there, if any, and may be asked again when somebody else was
/// faster.
pub(crate) fn publish<C: Content>(
    target: &FsTarget,
    manner: &Manner,
    work: &Work,
    decide: impl Fn(&Place, Option<&Opened>) -> Result<Plan<C>, FsError>,
) -> Result<Published<C>, FsError> {
    let mut patience = PATIENCE;
    for _ in 0..ATTEMPTS {
        work.check()?;
        let place = Place::find(target, work)?;
        if place.lock(&mut patience, work)? && place.is_gone() {
            continue;
        }
        manner.steps.at(Step::Locked);
        let found = match place.parent() {
            Some(parent) => open::for_replacing(parent, &place.name, work)?,
            None => None,
        };
        let plan = decide(&place, found.as_ref())?;
        manner.steps.at(Step::Judged);
        let name = place.name.clone();
        let Some(folder) = place.make(work)? else { continue };
        let published = match &found {
            None => create(&folder, &name, &plan.content, manner, work)
                .map(|staged| staged.map(|staged| (staged, None))),
            Some(found) => {
                let replacement =
                    Replacement { folder: &folder, name: &name, found, basis: plan.basis, manner, work };
                replacement.make(&plan.content).map(|made| made.map(|(staged, old)| (staged, Some(old))))
            }
        };
        match published {
            Ok(Some((staged, old))) => {
                folder.keep();
                manner.steps.at(Step::Published);
                let published = settle(&folder, &staged, old, plan.content, manner, work);
                // The last descriptor of the old file: now its blocks are freed, which takes as long as to sync some.
                hop::dismiss(found);
                return Ok(published);
            }
            Ok(None) => {}
            // The folder was removed under us; whether it may be made again is for the next round to say.
            Err(_) if folder.is_gone() => {}
            Err(failure) => return Err(failure),
        }
    }
    Err(FsError::io(work.op, &work.display, "another program keeps changing it"))
}

/// Step 6.
fn settle<C>(
    folder: &Folder,
    staged: &Staged<'_>,
    old: Option<Old>,
    content: C,
    manner: &Manner,
    work: &Work,
) -> Published<C> {
    if let Some(old) = old {
        old.remove(folder.as_fd());
    }
    let durable = match manner.durability {
        Durability::Full => folder.sync().map_err(|error| {
            tracing::warn!(path = ?work.display, %error, "the change is in place but its folder could not be synced");
        }),
        Durability::Rename => Err(()),
    };
    // Of the descriptor that was written, not of the name: a stranger may have put another file there already. And
    // after the exchange, which changes the ctime.
    let seen = Sighting::of(staged).map_or_else(|_| Sighting::unknown(), |(seen, _)| seen);
    let version = Token { digest: Some(staged.digest), seen }.version();
    Published { content, version, durable: durable.is_ok() }
}

#[cfg(test)]
mod tests;
