//! The way from an async call to blocking system calls: one hop to a thread that may block, or none where nothing else
//! waits for the thread that asks.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::{Pin, pin};

use dsh_fs::{FsCall, FsError, FsOp};
use tokio::runtime::Handle;
use tokio::task::JoinError;

use crate::work::Work;

thread_local! {
    /// May the thread block while it polls what it polls now?
    static MAY_BLOCK: Cell<bool> = const { Cell::new(false) };
}

/// Does on this thread what `future` asks of the file systems of this crate: for a program that has a thread for one call,
/// with nothing else to do until it is answered. That spares two wake-ups of a thread per operation, which is most of the
/// time of a small read.
///
/// Whatever else the thread polls waits meanwhile, and so does a second operation of the same future. Reading ahead in a
/// long stream is still done elsewhere.
pub async fn on_the_spot<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let before = MAY_BLOCK.replace(true);
        // Also when the future panics.
        let _after = Restored(before);
        future.as_mut().poll(cx)
    })
    .await
}

struct Restored(bool);

impl Drop for Restored {
    fn drop(&mut self) {
        MAY_BLOCK.set(self.0);
    }
}

/// Does one operation where it may block.
///
/// If the caller drops the future, the operation is cancelled: it would otherwise go on unseen, and a mutation
/// might still be published.
pub(crate) async fn blocking<T: Send + 'static>(
    op: FsOp,
    display: &str,
    call: &FsCall,
    operation: impl FnOnce(&Work) -> Result<T, FsError> + Send + 'static,
) -> Result<T, FsError> {
    call.check(op)?;
    if MAY_BLOCK.get() {
        return operation(&Work::new(op, display, call));
    }
    let here = Work { cancel: call.cancel.child_token(), ..Work::new(op, display, call) };
    let _dropped = here.cancel.clone().drop_guard();
    let there = here.clone();
    match start(move || operation(&there)).await {
        Ok(result) => result,
        Err(error) => Err(here.died(error)),
    }
}

/// Drops what takes its time to go away, and waits for nothing.
pub(crate) fn dismiss(what: impl Send + 'static) {
    drop(start(move || drop(what)));
}

/// The result of blocking work that was started. May be dropped and polled again until it is there.
pub(crate) type Task<T> = Pin<Box<dyn Future<Output = Result<T, JoinError>> + Send>>;

/// Starts blocking work on tokio's threads for that; outside a tokio runtime it is done on the spot.
pub(crate) fn start<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Task<T> {
    match Handle::try_current() {
        Ok(runtime) => Box::pin(runtime.spawn_blocking(work)),
        Err(_) => Box::pin(std::future::ready(Ok(work()))),
    }
}

#[cfg(test)]
mod tests;
