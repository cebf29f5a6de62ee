//! [`Turns`]: one at a time for each target, within a process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as Queue, OwnedMutexGuard};

use crate::TargetKey;

/// Above this many entries those that nobody holds or waits for are cleared away.
const CROWDED: usize = 256;

/// Turns at targets: whoever asks for one waits until nobody else has it, first come, first served. For backends whose
/// mutations must not overtake each other, and for work that many ask for at once and one can do for all.
#[derive(Debug, Default)]
pub struct Turns(Mutex<BTreeMap<TargetKey, Weak<Queue<()>>>>);

/// A turn; given back when dropped.
#[derive(Debug)]
pub struct Turn {
    _held: OwnedMutexGuard<()>,
}

impl Turns {
    /// Waits for the turn at a target. Whoever drops the future gives up the place in the line.
    pub async fn of(&self, target: &TargetKey) -> Turn {
        Turn { _held: self.queue(target).lock_owned().await }
    }

    fn queue(&self, target: &TargetKey) -> Arc<Queue<()>> {
        // Nothing between lock and unlock can leave it half changed.
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.get(target).and_then(Weak::upgrade) {
            return queue;
        }
        if queues.len() >= CROWDED {
            queues.retain(|_, queue| queue.strong_count() > 0);
        }
        let queue = Arc::default();
        queues.insert(target.clone(), Arc::downgrade(&queue));
        queue
    }
}
