//! How many calls are under way at the whole server, and how they come to their end.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};
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

    /// One more, until what is returned is dropped. Fails where there are as many as there may be, or none may begin any
    /// more.
    pub(crate) fn begin(&self) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.free.clone().try_acquire_owned()
    }

    /// Resolves when no call is under way; neither meanwhile nor afterwards does one begin.
    pub(crate) async fn empty(&self) {
        // It fails only where it was closed before.
        if self.free.acquire_many(self.most).await.is_ok() {
            self.close();
        }
    }

    /// From now on no call begins.
    pub(crate) fn close(&self) {
        self.free.close();
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use super::*;

    #[tokio::test]
    async fn once_they_have_come_to_their_end_none_begins() {
        let calls = Calls::new(1);
        let first = calls.begin().unwrap();
        assert_eq!(calls.begin().unwrap_err(), TryAcquireError::NoPermits);
        let emptied = tokio::spawn({
            let calls = calls.clone();
            async move { calls.empty().await }
        });
        drop(first);
        emptied.await.unwrap();
        assert_eq!(calls.begin().unwrap_err(), TryAcquireError::Closed);
        calls.empty().await;
    }

    #[tokio::test]
    async fn those_that_are_given_up_are_no_room_for_others() {
        let calls = Calls::new(2);
        let _lasting = calls.begin().unwrap();
        calls.close();
        assert_eq!(calls.begin().unwrap_err(), TryAcquireError::Closed);
    }
}
