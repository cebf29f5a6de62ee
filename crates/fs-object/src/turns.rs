//! Turns: mutations of one object that begin in one process are made one after another.
//!
//! The store's conditions alone would be enough for the result. But a mutation that its caller has dropped may still be on
//! its way to the store; the next one has to find it published or gone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// Above this many entries those that nobody waits for are cleared away.
const CROWDED: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<String, Weak<Turn<()>>>>);

impl Turns {
    /// Waits until this mutation is the only one of the object in this process.
    pub(crate) async fn of(&self, path: &str) -> OwnedMutexGuard<()> {
        self.turn(path).lock_owned().await
    }

    fn turn(&self, path: &str) -> Arc<Turn<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(path).and_then(Weak::upgrade) {
            return turn;
        }
        if turns.len() >= CROWDED {
            turns.retain(|_, turn| turn.strong_count() > 0);
        }
        let turn = Arc::default();
        turns.insert(path.to_owned(), Arc::downgrade(&turn));
        turn
    }
}
