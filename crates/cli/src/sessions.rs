//! The sessions of one process.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use dsh_harness::{Session, SessionHeader, StateFolder};

/// Sessions by the id that callers know them by. A session begins when it is first asked for and lasts as long as this.
#[derive(Debug)]
pub(crate) struct Sessions {
    cwd: PathBuf,
    state: Option<StateFolder>,
    known: HashMap<String, Arc<Session>>,
}

impl Sessions {
    /// No sessions yet; `cwd` will be the workspace of all of them, and their logs are kept in `state`, if anywhere.
    pub(crate) fn new(cwd: PathBuf, state: Option<StateFolder>) -> Self {
        Self { cwd, state, known: HashMap::new() }
    }

    /// Has the logs of sessions that begin from now on kept there.
    pub(crate) fn record_in(&mut self, state: StateFolder) {
        self.state = Some(state);
    }

    pub(crate) fn get(&mut self, id: &str) -> Arc<Session> {
        if let Some(session) = self.known.get(id) {
            return session.clone();
        }
        let header = SessionHeader { id: id.to_owned(), cwd: self.cwd.clone() };
        let session = match &self.state {
            Some(state) => Session::recorded(header, state),
            None => Session::new(header),
        };
        self.known.insert(id.to_owned(), session.clone());
        session
    }
}
