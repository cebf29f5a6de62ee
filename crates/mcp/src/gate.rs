//! Which of the calls that are under way may run now.
//!
//! The rule is the one of the harness's batch scheduler, applied to calls that arrive one by one: neighbours that are
//! parallel overlap, an exclusive call runs alone, and everybody keeps the place in which the message arrived. Who waits for
//! a person steps aside meanwhile and queues up again.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dsh_harness::Concurrency;
use tokio::sync::Notify;

/// A fair gate: first come, first served.
pub(crate) struct Gate {
    queue: Mutex<Queue>,
    /// How many parallel calls may run at once.
    max_parallel: NonZeroUsize,
    emptied: Notify,
}

#[derive(Default)]
struct Queue {
    next: u64,
    /// In order of arrival; those that run are still in it.
    entries: VecDeque<Entry>,
    /// How many have stepped aside.
    aside: usize,
}

struct Entry {
    id: u64,
    class: Concurrency,
    running: bool,
    go: Arc<Notify>,
}

/// A place in the queue, given up when dropped.
pub(crate) struct Ticket {
    gate: Arc<Gate>,
    id: u64,
    class: Concurrency,
    go: Arc<Notify>,
}

/// While it lives the others go on. When dropped the call queues up again.
pub(crate) struct Aside<'a>(&'a Ticket);

impl Gate {
    pub(crate) fn new(max_parallel: NonZeroUsize) -> Arc<Self> {
        Arc::new(Self { queue: Mutex::default(), max_parallel, emptied: Notify::new() })
    }

    /// Takes the next place. Call it in the order in which the messages arrived.
    pub(crate) fn enter(self: &Arc<Self>, class: Concurrency) -> Ticket {
        self.place(self.lock(), class)
    }

    /// The same, unless `most` calls are under way already.
    pub(crate) fn enter_below(self: &Arc<Self>, most: usize, class: Concurrency) -> Option<Ticket> {
        let queue = self.lock();
        (queue.calls() < most).then(|| self.place(queue, class))
    }

    fn place(self: &Arc<Self>, mut queue: MutexGuard<'_, Queue>, class: Concurrency) -> Ticket {
        let go = Arc::new(Notify::new());
        let id = queue.next;
        queue.next += 1;
        queue.entries.push_back(Entry { id, class, running: false, go: go.clone() });
        queue.start_ready(self.max_parallel);
        drop(queue);
        Ticket { gate: self.clone(), id, class, go }
    }

    /// How many calls are under way: those that run, those that wait, those that have stepped aside.
    pub(crate) fn calls(&self) -> usize {
        self.lock().calls()
    }

    /// Resolves when no call is under way.
    pub(crate) async fn empty(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.calls() == 0 {
                return;
            }
            emptied.await;
        }
    }

    // No foreign code runs under the lock, so a poisoned one is as good as new.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn calls(&self) -> usize {
        self.entries.len() + self.aside
    }

    fn start_ready(&mut self, max_parallel: NonZeroUsize) {
        for (place, entry) in self.entries.iter_mut().enumerate() {
            let exclusive = entry.class == Concurrency::Exclusive;
            if (exclusive && place > 0) || place >= max_parallel.get() {
                return;
            }
            if !entry.running {
                entry.running = true;
                entry.go.notify_one();
            }
            if exclusive {
                return;
            }
        }
    }
}

impl Ticket {
    /// Resolves when the call may run.
    pub(crate) async fn turn(&self) {
        while !self.may_run() {
            self.go.notified().await;
        }
        // Another question of the same call may wait for this too.
        self.go.notify_one();
    }

    /// Lets the others go on.
    pub(crate) fn step_aside(&self) -> Aside<'_> {
        let mut queue = self.gate.lock();
        queue.entries.retain(|entry| entry.id != self.id);
        queue.aside += 1;
        queue.start_ready(self.gate.max_parallel);
        Aside(self)
    }

    fn may_run(&self) -> bool {
        self.gate.lock().entries.iter().any(|entry| entry.id == self.id && entry.running)
    }
}

impl Aside<'_> {
    /// Queues up again, and resolves when the call may run.
    pub(crate) async fn back(self) {
        let ticket = self.0;
        drop(self);
        ticket.turn().await;
    }
}

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        let Ticket { gate, id, class, go } = self.0;
        let mut queue = gate.lock();
        queue.aside -= 1;
        // One call may have asked two questions at once.
        if queue.entries.iter().all(|entry| entry.id != *id) {
            queue.entries.push_back(Entry { id: *id, class: *class, running: false, go: go.clone() });
        }
        queue.start_ready(gate.max_parallel);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut queue = self.gate.lock();
        queue.entries.retain(|entry| entry.id != self.id);
        queue.start_ready(self.gate.max_parallel);
        if queue.calls() == 0 {
            self.gate.emptied.notify_waiters();
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests;
