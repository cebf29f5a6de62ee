//! How far a call has come, while it runs: for whoever waits for it.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a scan says nothing at first, and how often it says something afterwards.
const BEAT: Duration = Duration::from_secs(1);

/// One report of a call that goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// How much is done, in a unit of the tool's own; it only grows.
    pub done: f64,
    /// How much there is to do, where that is known.
    pub total: Option<f64>,
    /// The same in words, for a person.
    pub message: Option<String>,
}

/// Where a body says how far it has come: [`Execution::report`](crate::Execution::report). A cheap handle; where nobody
/// listens, saying something costs nothing.
#[derive(Clone, Default)]
pub struct Reporter(Option<Arc<dyn Fn(Report) + Send + Sync>>);

impl Reporter {
    /// Tells `listener`. It is called inside the body, also on blocking threads: it must neither block nor panic.
    pub fn new(listener: impl Fn(Report) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    /// Says it now. For what goes on for long and often, see [`pulse`](Self::pulse).
    pub fn say(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        if let Some(listener) = &self.0 {
            listener(Report { done, total, message: message.map(str::to_owned) });
        }
    }

    /// For loops: says something once a second at most, and nothing in the first second.
    pub fn pulse(&self) -> Pulse {
        Pulse { reporter: self.clone(), next: self.0.is_some().then(|| Instant::now() + BEAT) }
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reporter").field(&self.0.is_some()).finish()
    }
}

/// Reports of a loop, once a second at most.
#[derive(Debug)]
pub struct Pulse {
    reporter: Reporter,
    /// `None` where nobody listens.
    next: Option<Instant>,
}

impl Pulse {
    /// Call it on every turn: `message` is only asked for when it is time to say something.
    pub fn beat(&mut self, done: f64, total: Option<f64>, message: impl FnOnce() -> String) {
        let Some(next) = self.next else { return };
        let now = Instant::now();
        if now >= next {
            self.next = Some(now + BEAT);
            self.reporter.say(done, total, Some(&message()));
        }
    }
}
