//! When a search ends before it is done: its caller gave up, or its time is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// Asked between any two pieces of work. A cheap handle.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    cancel: CancellationToken,
    time: Duration,
    deadline: Instant,
    stopped: Arc<AtomicBool>,
}

impl Stop {
    /// From now on.
    pub(crate) fn new(cancel: CancellationToken, time: Duration) -> Self {
        Self { cancel, time, deadline: Instant::now() + time, stopped: Arc::default() }
    }

    /// For what is done besides: over when this is, and after this much time.
    pub(crate) fn within(&self, time: Duration) -> Self {
        let deadline = self.deadline.min(Instant::now() + time);
        Self { cancel: self.cancel.clone(), time, deadline, stopped: Arc::default() }
    }

    /// Is it time to end? Whoever is told so leaves the rest undone.
    pub(crate) fn now(&self) -> bool {
        let now = self.is_cancelled() || Instant::now() >= self.deadline;
        if now {
            self.stopped.store(true, Ordering::Relaxed);
        }
        now
    }

    /// Did the caller give up?
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Resolves when the caller gives up.
    pub(crate) async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// Was something left undone?
    pub(crate) fn has_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// What is to be said of a search that left something undone; `narrow` names what would make it shorter.
    pub(crate) fn notice(&self, narrow: &str) -> Option<String> {
        let seconds = self.time.as_secs_f64();
        self.has_stopped().then(|| {
            format!("(The search was stopped after {seconds} s; what it did not reach is missing. Narrow {narrow}.)")
        })
    }
}
