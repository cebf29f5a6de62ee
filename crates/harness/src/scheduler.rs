//! The calls of one assistant message: what may overlap does, what may not runs alone.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::stream::{FuturesUnordered, StreamExt as _};

use crate::execution::ToolCall;
use crate::pipeline::{self, Dispatched};
use crate::registry::Shared;
use crate::report::Reporter;
use crate::result::ToolResult;
use crate::tool::Concurrency;

/// Runs a batch. Everything happens inside this one future, nothing is spawned: there is a single lane for what goes
/// in order (prepare, commit) and a pool of bodies that make progress while the lane waits.
pub(crate) async fn run(shared: &Arc<Shared>, calls: Vec<ToolCall>) -> Vec<ToolResult> {
    let total = calls.len();
    let mut pending = calls.into_iter().enumerate().peekable();
    let mut results = Vec::with_capacity(total);
    let mut running = FuturesUnordered::new();
    // Bodies that have ended, by index, until their turn to be committed comes.
    let mut ended = BTreeMap::new();
    let mut alone = false;
    while results.len() < total {
        if let Some(dispatched) = ended.remove(&results.len()) {
            let commit = pipeline::commit(shared, dispatched);
            results.push(meanwhile(&mut running, &mut ended, commit).await);
            // If it was an exclusive one, the barrier is down: nothing else was in flight.
            alone = false;
            continue;
        }
        // Asked right before the start: what ran before may have changed the answer.
        let free = match pending.peek() {
            Some((index, call)) if !alone && running.len() < shared.max_parallel.get() => {
                let all_before_committed = *index == results.len();
                Some(concurrency(shared, call, total))
                    .filter(|class| *class == Concurrency::Parallel || all_before_committed)
            }
            _ => None,
        };
        if let Some(class) = free
            && let Some((index, call)) = pending.next()
        {
            alone = class == Concurrency::Exclusive;
            let prepared =
                meanwhile(&mut running, &mut ended, pipeline::prepare(shared, call, Reporter::default()))
                    .await;
            running.push(async move { (index, pipeline::dispatch(shared, prepared).await) });
            continue;
        }
        if let Some((index, dispatched)) = running.next().await {
            ended.insert(index, dispatched);
        }
    }
    results
}

/// Drives the lane to its end, and the bodies as long as that takes.
async fn meanwhile<F, T>(
    running: &mut FuturesUnordered<F>,
    ended: &mut BTreeMap<usize, Dispatched>,
    lane: impl Future<Output = T>,
) -> T
where
    F: Future<Output = (usize, Dispatched)>,
{
    let mut lane = pin!(lane);
    poll_fn(|cx| {
        while let Poll::Ready(Some((index, dispatched))) = running.poll_next_unpin(cx) {
            ended.insert(index, dispatched);
        }
        lane.as_mut().poll(cx)
    })
    .await
}

fn concurrency(shared: &Shared, call: &ToolCall, total: usize) -> Concurrency {
    if total == 1 {
        // Nobody to overlap with, so the arguments need not be read just for this.
        return Concurrency::Exclusive;
    }
    shared.concurrency(&call.tool, &call.arguments, call.session.as_deref())
}
