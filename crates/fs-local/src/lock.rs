//! One mutation of a file at a time in this process, in the order in which they were asked for.
//!
//! The table is the process's, not the backend's: two backends on one disk share it. A wait can be cancelled.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dsh_fs::{FsCall, FsError, FsOp, TargetKey};
use tokio::sync::{Mutex as Queue, OwnedMutexGuard};

static TABLE: Mutex<BTreeMap<TargetKey, Line>> = Mutex::new(BTreeMap::new());

/// Those who hold or wait for one target. The queue is tokio's mutex because it is fair: first come, first served.
struct Line {
    queue: Arc<Queue<()>>,
    people: usize,
}

/// A place in the line of one target, and in time the target itself. Given back when dropped.
pub(crate) struct Turn {
    key: TargetKey,
    held: Option<OwnedMutexGuard<()>>,
}

/// Waits for the target. Fails only when the call is cancelled.
pub(crate) async fn acquire(key: &TargetKey, op: FsOp, call: &FsCall) -> Result<Turn, FsError> {
    call.check(op)?;
    let queue = join(key);
    // From here on a dropped future leaves the line again.
    let mut turn = Turn { key: key.clone(), held: None };
    match call.cancel.run_until_cancelled(queue.lock_owned()).await {
        Some(held) => turn.held = Some(held),
        None => return Err(FsError::aborted(op)),
    }
    Ok(turn)
}

impl Drop for Turn {
    fn drop(&mut self) {
        drop(self.held.take());
        if let Entry::Occupied(mut line) = table().entry(self.key.clone()) {
            line.get_mut().people -= 1;
            if line.get().people == 0 {
                line.remove();
            }
        }
    }
}

fn join(key: &TargetKey) -> Arc<Queue<()>> {
    let mut table = table();
    let line = table.entry(key.clone()).or_insert_with(|| Line { queue: Arc::default(), people: 0 });
    line.people += 1;
    line.queue.clone()
}

fn table() -> MutexGuard<'static, BTreeMap<TargetKey, Line>> {
    // Nothing between lock and unlock can leave it half changed.
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
