//! The sessions of one process.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use dsh_harness::{Session, SessionHeader};

/// Sessions by the id that callers know them by. A session begins when it is first asked for and lasts as long as this.
#[derive(Debug)]
pub(crate) struct Sessions {
    cwd: PathBuf,
    known: HashMap<String, Arc<Session>>,
}

impl Sessions {
    /// No sessions yet; `cwd` will be the workspace of all of them.
    pub(crate) fn new(cwd: PathBuf) -> Self {
        Self { cwd, known: HashMap::new() }
    }

    pub(crate) fn get(&mut self, id: &str) -> Arc<Session> {
        if let Some(session) = self.known.get(id) {
            return session.clone();
        }
        let session = Session::new(SessionHeader { id: id.to_owned(), cwd: self.cwd.clone() });
        self.known.insert(id.to_owned(), session.clone());
        session
    }
}
