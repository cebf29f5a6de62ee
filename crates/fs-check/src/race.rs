//! Calls that start at the same moment, that run beside a rival, or that are stopped at a chosen one.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use dsh_fs::FsCall;
use tokio::sync::{Barrier, oneshot};
use tokio::task::{JoinError, yield_now};

/// A racer among others of another making.
pub(crate) type Racer<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Runs all futures at once, each in a task of its own, and gives their results in order.
pub async fn race<T, F>(racers: impl IntoIterator<Item = F>) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let racers: Vec<F> = racers.into_iter().collect();
    let start = Arc::new(Barrier::new(racers.len()));
    let tasks: Vec<_> = racers
        .into_iter()
        .map(|racer| {
            let start = start.clone();
            tokio::spawn(async move {
                start.wait().await;
                racer.await
            })
        })
        .collect();
    let mut results = Vec::with_capacity(tasks.len());
    for task in tasks {
        results.push(joined(task.await));
    }
    results
}

/// What a rival and those beside it know of each other.
#[derive(Clone, Default)]
pub(crate) struct Rivalry {
    rounds: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl Rivalry {
    /// For the rival, before each of its rounds: may it go on?
    pub(crate) async fn goes_on(&self) -> bool {
        yield_now().await;
        self.rounds.fetch_add(1, Ordering::SeqCst);
        !self.over.load(Ordering::SeqCst)
    }

    /// For those beside it: how many rounds the rival has begun.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds.load(Ordering::SeqCst)
    }
}

/// Runs `body` on this thread while `rival` goes from round to round on another; gives what came of both.
pub(crate) async fn beside<T, R, F>(
    rival: impl FnOnce(Rivalry) -> F,
    body: impl AsyncFnOnce(&Rivalry) -> T,
) -> (T, R)
where
    R: Send + 'static,
    F: Future<Output = R> + Send + 'static,
{
    let rivalry = Rivalry::default();
    let task = tokio::spawn(rival(rivalry.clone()));
    while rivalry.rounds() == 0 && !task.is_finished() {
        yield_now().await;
    }
    let result = body(&rivalry).await;
    rivalry.over.store(true, Ordering::SeqCst);
    (result, joined(task.await))
}

/// When a call is stopped.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    /// Right before its future is polled for the time of this number, from 0.
    Poll(usize),
    /// So long after its future is first polled, from another thread.
    After(Duration),
}

/// Runs a future and cancels `call` at a moment. Was it still running then?
pub(crate) async fn cancelled<F: Future>(at: Moment, call: &FsCall, future: F) -> (F::Output, bool) {
    let cancel = call.cancel.clone();
    let poll = match at {
        Moment::Poll(poll) => poll,
        Moment::After(delay) => {
            after(delay, move || cancel.cancel());
            let output = future.await;
            return (output, call.cancel.is_cancelled());
        }
    };
    let (mut future, mut polls) = (pin!(future), 0);
    let output = std::future::poll_fn(|context| {
        if polls == poll {
            cancel.cancel();
        }
        polls += 1;
        future.as_mut().poll(context)
    })
    .await;
    (output, polls > poll)
}

/// Runs a future and drops it at a moment; `None` if it was still running then.
pub(crate) async fn dropped<F: Future>(at: Moment, future: F) -> Option<F::Output> {
    let (tell, mut told) = oneshot::channel();
    if let Moment::After(delay) = at {
        // Nobody listens any more where the future was faster.
        after(delay, move || {
            let _ = tell.send(());
        });
    }
    let mut polls = 0;
    let mut future = Box::pin(future);
    std::future::poll_fn(|context| {
        let now = match at {
            Moment::Poll(poll) => polls == poll,
            Moment::After(_) => Pin::new(&mut told).poll(context).is_ready(),
        };
        polls += 1;
        if now { Poll::Ready(None) } else { future.as_mut().poll(context).map(Some) }
    })
    .await
}

/// Acts so long from now, to some microseconds: timers know milliseconds at best.
fn after(delay: Duration, act: impl FnOnce() + Send + 'static) {
    let start = Instant::now();
    std::thread::spawn(move || {
        while start.elapsed() < delay {
            std::thread::yield_now();
        }
        act();
    });
}

fn joined<T>(task: Result<T, JoinError>) -> T {
    task.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}
