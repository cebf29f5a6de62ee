//! How far the body of a call has come, for the part of the pipeline that speaks after it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::meta::Meta;

/// What is known of a body while and after it runs.
#[derive(Debug, Default)]
pub struct Progress {
    started: AtomicBool,
    committed: OnceLock<Meta>,
}

impl Progress {
    /// The body starts now.
    pub(crate) fn start(&self) {
        self.started.store(true, Ordering::Relaxed);
    }

    /// Did the body start? Decides between the two words for an abort.
    pub(crate) fn has_started(&self) -> bool {
        self.started.load(Ordering::Relaxed)
    }

    /// The body has changed something for good ([`Tool::committed`](crate::Tool::committed)).
    pub(crate) fn commit(&self, what: Meta) {
        // A body runs once; should a wrapper run it again, the first change is as true as the second.
        let _ = self.committed.set(what);
    }

    /// What was changed for good.
    pub(crate) fn committed(&self) -> Option<&Meta> {
        self.committed.get()
    }
}
