//! Mutations that start at the same moment, and calls that are cancelled at a chosen one.

use std::pin::pin;
use std::sync::Arc;

use dsh_fs::FsCall;
use tokio::sync::Barrier;

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
        results.push(task.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic())));
    }
    results
}

/// Runs a future and cancels `call` right before it is polled for the time number `poll`, from 0. Was it polled so
/// often?
pub(crate) async fn cancelled_at_poll<F: Future>(poll: usize, call: &FsCall, future: F) -> (F::Output, bool) {
    let mut future = pin!(future);
    let mut polls = 0;
    let output = std::future::poll_fn(|context| {
        if polls == poll {
            call.cancel.cancel();
        }
        polls += 1;
        future.as_mut().poll(context)
    })
    .await;
    (output, polls > poll)
}
