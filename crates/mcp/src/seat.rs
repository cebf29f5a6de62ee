//! The place of one session at the server: what its calls share, and nobody else's.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dsh_harness::Session;

use crate::gate::Gate;
use crate::open_questions::OpenQuestions;

/// A session with its queue of calls and its open questions; or nobody's, for one request without a session.
pub(crate) struct Seat {
    pub(crate) session: Option<Arc<Session>>,
    /// The name of the workspace that it was minted with.
    pub(crate) workspace: Option<String>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) questions: Arc<OpenQuestions>,
    used: Mutex<Instant>,
}

impl Seat {
    pub(crate) fn new(
        session: Arc<Session>,
        workspace: Option<&str>,
        max_parallel: NonZeroUsize,
    ) -> Arc<Self> {
        Self::made(Some(session), workspace, Arc::default(), max_parallel)
    }

    /// Its questions outlive the request: the answer comes with the next one.
    pub(crate) fn nobody(questions: &Arc<OpenQuestions>, max_parallel: NonZeroUsize) -> Arc<Self> {
        Self::made(None, None, questions.clone(), max_parallel)
    }

    fn made(
        session: Option<Arc<Session>>,
        workspace: Option<&str>,
        questions: Arc<OpenQuestions>,
        max_parallel: NonZeroUsize,
    ) -> Arc<Self> {
        Arc::new(Self {
            session,
            workspace: workspace.map(str::to_owned),
            gate: Gate::new(max_parallel),
            questions,
            used: Mutex::new(Instant::now()),
        })
    }

    /// The name of its session.
    pub(crate) fn id(&self) -> Option<&str> {
        Some(&self.session.as_ref()?.header().id)
    }

    /// Somebody is there.
    pub(crate) fn touch(&self) {
        *self.used() = Instant::now();
    }

    /// Nobody has been there for so long, and no call is under way.
    pub(crate) fn is_idle(&self, limit: Duration) -> bool {
        self.gate.calls() == 0 && self.used().elapsed() >= limit
    }

    // No foreign code runs under the lock, so a poisoned one is as good as new.
    fn used(&self) -> MutexGuard<'_, Instant> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
