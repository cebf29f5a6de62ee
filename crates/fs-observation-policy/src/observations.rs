//! What each session has seen.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dsh_fs::{Actor, FsObservation, Intent, Observation, Owner, TargetKey};

/// Owner → file → what was last seen. The owner is a session *object*: one that resumes under the same id is another
/// object and starts with nothing.
type ByOwner = HashMap<Owner, HashMap<TargetKey, FsObservation>>;

#[derive(Default)]
pub(crate) struct Observations {
    by_owner: Mutex<ByOwner>,
}

impl Observations {
    /// Remembers what was seen; the last word counts. Without an owner there is nobody to remember it for.
    pub(crate) fn record(&self, seen: &Observation) {
        let Some(owner) = owner(seen.actor.as_ref()) else { return };
        let mut by_owner = self.lock();
        if !by_owner.contains_key(&owner) {
            // A new session is the time to let go of those that have ended.
            by_owner.retain(|owner, _| !owner.is_gone());
        }
        let files = by_owner.entry(owner).or_default();
        files.insert(seen.target.key().clone(), seen.observation.clone());
    }

    /// What the one who asks has last seen of the file; `None` for unseen.
    pub(crate) fn of(&self, intent: &Intent) -> Option<FsObservation> {
        let owner = owner(intent.actor.as_ref())?;
        self.lock().get(&owner)?.get(intent.target.key()).cloned()
    }

    pub(crate) fn forget_all(&self) {
        *self.lock() = ByOwner::new();
    }

    fn lock(&self) -> MutexGuard<'_, ByOwner> {
        // Each change is one insertion: a panic elsewhere cannot leave it half made.
        self.by_owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn owner(actor: Option<&Arc<dyn Actor>>) -> Option<Owner> {
    actor?.owner().filter(|owner| !owner.is_gone())
}
