//! How many calls are under way at the whole server, and how they come to their end.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The calls under way. A clone counts the same calls.
#[derive(Clone)]
pub(crate) struct Calls {
    free: Arc<Semaphore>,
    most: u32,
    /// Cancelled when the calls that are still under way shall stop.
    ending: CancellationToken,
}

impl Calls {
    /// `most` at once, at least one.
    pub(crate) fn new(most: usize) -> Self {
        let most = u32::try_from(most).unwrap_or(u32::MAX).max(1);
        Self { free: Arc::new(Semaphore::new(most as usize)), most, ending: CancellationToken::new() }
    }

    /// One more, until what is returned is dropped; `None` where there are as many as there may be.
    pub(crate) fn begin(&self) -> Option<OwnedSemaphorePermit> {
        self.free.clone().try_acquire_owned().ok()
    }

    /// Resolves when no call is under way; meanwhile none begins.
    pub(crate) async fn empty(&self) {
        // It fails only once the semaphore is closed, which it never is.
        let _all = self.free.acquire_many(self.most).await;
    }

    /// Cancels what is under way. It is not waited for here.
    pub(crate) fn cancel(&self) {
        self.ending.cancel();
    }

    /// Runs a call, cancelled by `cancel` when all are.
    pub(crate) async fn run<F: Future>(&self, call: F, cancel: &CancellationToken) -> F::Output {
        let mut call = std::pin::pin!(call);
        tokio::select! {
            ended = &mut call => ended,
            () = self.ending.cancelled() => {
                cancel.cancel();
                call.await
            }
        }
    }
}
