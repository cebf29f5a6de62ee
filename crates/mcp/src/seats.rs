//! The sessions that there are over HTTP, by the names they are known by.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dsh_harness::Session;

use crate::open_questions::OpenQuestions;
use crate::options::HttpOptions;
use crate::refused::Refused;
use crate::seat::Seat;

/// Who begins the sessions of a server over HTTP.
pub trait SessionProvider: Send + Sync + 'static {
    /// Begins the session `id` (letters, digits, `.`, `_`, `-`; 128 at most) in `workspace`: a name as it came in the
    /// request, to be judged here; `None` for a session that names none. It is called once for each session that begins,
    /// and again for the same `id` after that session has expired: the new one shall know nothing of the old one.
    fn begin(&self, id: &str, workspace: Option<&str>) -> Result<Arc<Session>, Refused>;
}

impl<F> SessionProvider for F
where
    F: Fn(&str, Option<&str>) -> Result<Arc<Session>, Refused> + Send + Sync + 'static,
{
    fn begin(&self, id: &str, workspace: Option<&str>) -> Result<Arc<Session>, Refused> {
        self(id, workspace)
    }
}

pub(crate) struct Seats {
    provider: Box<dyn SessionProvider>,
    max_parallel: NonZeroUsize,
    minted_only: bool,
    most: usize,
    idle: Duration,
    known: Mutex<Known>,
    /// Questions in calls without a session.
    nobodys: Arc<OpenQuestions>,
}

#[derive(Default)]
struct Known {
    by_id: HashMap<String, Arc<Seat>>,
    /// By the `Mcp-Session-Id` of an older client.
    links: HashMap<String, Link>,
}

/// What an older client's `Mcp-Session-Id` stands for, from its `initialize` to its end.
struct Link {
    seat: Arc<Seat>,
    used: Instant,
    /// The session was begun for it, and ends with it.
    only: bool,
}

impl Seats {
    pub(crate) fn new(
        provider: Box<dyn SessionProvider>,
        max_parallel: NonZeroUsize,
        options: &HttpOptions,
    ) -> Self {
        let &HttpOptions { minted_only, max_sessions: most, idle, .. } = options;
        Self {
            provider,
            max_parallel,
            minted_only,
            most,
            idle,
            known: Mutex::default(),
            nobodys: Arc::default(),
        }
    }

    /// A place for a request without a session.
    pub(crate) fn nobody(&self) -> Arc<Seat> {
        Seat::nobody(&self.nobodys, self.max_parallel)
    }

    /// The session of this name. It begins if it has to and may; `may_begin` is asked only then.
    pub(crate) fn named(
        &self,
        id: &str,
        may_begin: impl FnOnce() -> Result<(), Refused>,
    ) -> Result<Arc<Seat>, Refused> {
        let mut known = self.lock();
        if let Some(seat) = known.by_id.get(id) {
            seat.touch();
            return Ok(seat.clone());
        }
        if self.minted_only {
            return Err(Refused::missing(
                "NO_SUCH_SESSION",
                format!("there is no session \"{id}\", or it has expired: begin it by POST /sessions"),
            ));
        }
        may_begin()?;
        self.begin(&mut known, id, None)
    }

    /// A session that begins now.
    pub(crate) fn mint(&self, id: &str, workspace: Option<&str>) -> Result<Arc<Seat>, Refused> {
        let mut known = self.lock();
        if known.by_id.contains_key(id) {
            return Err(Refused::taken("SESSION_EXISTS", format!("the session \"{id}\" exists already")));
        }
        self.begin(&mut known, id, workspace)
    }

    /// The lock is held, so that nobody begins the same session meanwhile.
    fn begin(&self, known: &mut Known, id: &str, workspace: Option<&str>) -> Result<Arc<Seat>, Refused> {
        if known.by_id.len() >= self.most {
            return Err(self.full("sessions"));
        }
        let session = self.provider.begin(id, workspace)?;
        let seat = Seat::new(session, workspace, self.max_parallel);
        known.by_id.insert(id.to_owned(), seat.clone());
        Ok(seat)
    }

    /// Whether another older client may come.
    pub(crate) fn room_for_link(&self) -> Result<(), Refused> {
        if self.lock().links.len() >= self.most { Err(self.full("clients")) } else { Ok(()) }
    }

    /// An older client has got this `Mcp-Session-Id`.
    pub(crate) fn link(&self, mcp_id: &str, seat: Arc<Seat>, only: bool) {
        let link = Link { seat, used: Instant::now(), only };
        self.lock().links.insert(mcp_id.to_owned(), link);
    }

    /// Whose `Mcp-Session-Id` this is; `None` also where that session has ended.
    pub(crate) fn linked(&self, mcp_id: &str) -> Option<Arc<Seat>> {
        let mut known = self.lock();
        let Known { by_id, links } = &mut *known;
        let link = links.get_mut(mcp_id).filter(|link| holds(by_id, &link.seat))?;
        link.used = Instant::now();
        link.seat.touch();
        Some(link.seat.clone())
    }

    /// An `Mcp-Session-Id` has come to its end.
    pub(crate) fn unlink(&self, mcp_id: &str) {
        let mut known = self.lock();
        if let Some(Link { seat, only: true, .. }) = known.links.remove(mcp_id) {
            known.forget(&seat);
        }
    }

    /// A session that was begun for nothing.
    pub(crate) fn forget(&self, seat: &Arc<Seat>) {
        self.lock().forget(seat);
    }

    /// Drops what nobody has used for long; gives the `Mcp-Session-Id`s that have come to their end by that.
    pub(crate) fn expire(&self) -> Vec<String> {
        let mut known = self.lock();
        let before = known.by_id.len();
        known.by_id.retain(|_, seat| !seat.is_idle(self.idle));
        if known.by_id.len() < before {
            tracing::info!(
                dropped = before - known.by_id.len(),
                left = known.by_id.len(),
                "sessions have expired"
            );
        }
        let Known { by_id, links } = &mut *known;
        let ended = |link: &Link| {
            let unused = !holds(by_id, &link.seat) || link.used.elapsed() >= self.idle;
            unused && link.seat.gate.calls() == 0
        };
        links.extract_if(|_, link| ended(link)).map(|(mcp_id, _)| mcp_id).collect()
    }

    fn full(&self, what: &str) -> Refused {
        Refused::unavailable(
            "TOO_MANY_SESSIONS",
            format!(
                "there are {} {what} already, and none has been idle for long enough: try again later",
                self.most
            ),
        )
    }

    // The provider is foreign code, but what it does in a panic leaves nothing half done here.
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn forget(&mut self, seat: &Arc<Seat>) {
        if let Some(id) = seat.id()
            && holds(&self.by_id, seat)
        {
            self.by_id.remove(id);
        }
    }
}

/// Whether it is this very session that goes by its name, and not a later one.
fn holds(by_id: &HashMap<String, Arc<Seat>>, seat: &Arc<Seat>) -> bool {
    seat.id().and_then(|id| by_id.get(id)).is_some_and(|known| Arc::ptr_eq(known, seat))
}
