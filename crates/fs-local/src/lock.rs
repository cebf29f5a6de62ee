//! One mutation of a file at a time in this process, in the order in which they were asked for.
//!
//! The table is the process's, not the backend's: two backends on one disk share it. A wait can be cancelled.
//!
//! The folder has a line too, joined when the file's is done: the lock against other processes is on the folder, and
//! within a process waiting in line is fairer and cheaper than asking for that again and again.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dsh_fs::{FsCall, FsError, FsOp, FsTarget, TargetKey};
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

/// Waits for the target and then for its folder. Fails only when the call is cancelled.
///
/// Nobody who holds a folder waits for a target, so no two can wait for each other.
pub(crate) async fn for_mutation(target: &FsTarget, op: FsOp, call: &FsCall) -> Result<[Turn; 2], FsError> {
    let file = acquire(target.key(), op, call).await?;
    let folder = acquire(&folder_key(target.key()), op, call).await?;
    Ok([folder, file])
}

/// Ends in a slash, which no target does but the root, and its folder is none of these.
fn folder_key(target: &TargetKey) -> TargetKey {
    let path = target.as_bytes();
    let end = path.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
    TargetKey::new([&path[..end], b"//"].concat())
}

/// Waits for what `key` stands for.
async fn acquire(key: &TargetKey, op: FsOp, call: &FsCall) -> Result<Turn, FsError> {
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
