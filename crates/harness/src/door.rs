//! Holding calls back while what they run on is exchanged.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, join_all, select};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use crate::execution::ToolCall;

/// Every call goes through it. Fair: who waits to close it is not passed by calls that come later.
#[derive(Debug, Default)]
pub(crate) struct Door(Arc<RwLock<()>>);

/// A call, or the calls of a batch, on this side of the door.
#[derive(Debug)]
pub(crate) struct Inside(#[expect(dead_code, reason = "held")] OwnedRwLockReadGuard<()>);

/// As long as it is kept no call runs: see [`ToolRegistry::pause`](crate::ToolRegistry::pause).
#[derive(Debug)]
#[must_use = "calls go on as soon as it is dropped"]
pub struct Pause(#[expect(dead_code, reason = "held")] OwnedRwLockWriteGuard<()>);

impl Door {
    /// Waits until calls may run. `None` when all of these have been cancelled before: they are to be told so, and that
    /// needs nobody's leave.
    pub(crate) async fn enter(&self, calls: &[ToolCall]) -> Option<Inside> {
        if let Ok(inside) = self.0.clone().try_read_owned() {
            return Some(Inside(inside));
        }
        let cancelled = join_all(calls.iter().map(|call| call.cancel.cancelled()));
        match select(pin!(self.0.clone().read_owned()), pin!(cancelled)).await {
            Either::Left((inside, _)) => Some(Inside(inside)),
            Either::Right(_) => None,
        }
    }

    pub(crate) async fn close(&self, patience: Duration) -> Option<Pause> {
        tokio::time::timeout(patience, self.0.clone().write_owned()).await.ok().map(Pause)
    }
}
