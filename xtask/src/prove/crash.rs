//! The crash sweep: every system call of a mutation that touches the workspace kills the process once, and fails once
//! with every error.
//!
//! The threads that work on files are watched from just before the request on, so whatever touches the workspace between
//! request and answer belongs to the call, whatever its name is. Killed "before call N + 1" is killed after call N. The
//! first thread is left alone: what it reads and writes is the conversation.

use std::collections::BTreeMap;
use std::fmt;
use std::iter;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, bail};

use crate::prove::crash_run::{Kind, run};
use crate::prove::ground::{Ground, need};
use crate::prove::strace::calls;
use crate::prove::tally::Tally;

const ERRORS: [&str; 5] = ["EIO", "ENOSPC", "EINTR", "EACCES", "EMFILE"];
/// How often a point is tried until the threads share the work in the way that reaches it.
const TRIES: usize = 100;
/// How many calls on other things, such as what wakes a thread, may come before a point.
const STRAYS: usize = 4;

/// The `nth` time that a mutation makes this call on its workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// The system call.
    pub(crate) call: String,
    /// From 1.
    pub(crate) nth: usize,
    /// The how manyeth such call of its thread it is. Threads share the work as they like, and wake each other, so it may
    /// be another one in the next run.
    pub(crate) when: usize,
}

/// What happens at a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Injection {
    /// Where.
    pub(crate) point: Point,
    /// The error; `None`: SIGKILL.
    pub(crate) error: Option<&'static str>,
}

impl fmt::Display for Injection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {} number {}", self.error.unwrap_or("SIGKILL"), self.point.call, self.point.nth)
    }
}

/// Makes the proof.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    need(&["strace"])?;
    let mut all = 0;
    for kind in [Kind::Create, Kind::Overwrite, Kind::Edit] {
        let points = learn(ground, kind)?;
        let injections = injections(ground, &points);
        let count = sweep(ground, kind, &injections, tally)?;
        tally.figure(format!("{kind}: system calls"), points.len());
        tally.figure(format!("{kind}: points tried"), count);
        all += count;
    }
    tally.figure("points tried, together", all);
    Ok(())
}

/// The calls of one undisturbed mutation.
fn learn(ground: &Ground, kind: Kind) -> anyhow::Result<Vec<Point>> {
    let folder = ground.folder("crash-learn")?;
    for _ in 0..TRIES {
        let Some(outcome) = run(ground, &folder, kind, None)? else { continue };
        let problems = outcome.problems(kind, None);
        if !problems.is_empty() {
            bail!("an undisturbed {kind}: {}", problems.join("; "));
        }
        return Ok(points(&outcome.trace, &folder));
    }
    bail!("a {kind} was never watched to its end")
}

fn points(trace: &str, folder: &Path) -> Vec<Point> {
    let workspace = folder.to_string_lossy();
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut points: Vec<Point> = Vec::new();
    for seen in calls(trace) {
        let when = counts.entry((seen.thread, seen.name)).or_default();
        *when += 1;
        if is_of_workspace(seen.line, &workspace) {
            let nth = 1 + points.iter().filter(|point| point.call == seen.name).count();
            points.push(Point { call: seen.name.to_owned(), nth, when: *when });
        }
    }
    points
}

/// Does the call touch the workspace?
pub(crate) fn is_of_workspace(line: &str, workspace: &str) -> bool {
    line.contains(workspace)
}

/// At full scale everything; below, every kill and a share of the errors, taken in turn.
fn injections(ground: &Ground, points: &[Point]) -> Vec<Injection> {
    let errors = ground.scaled(ERRORS.len()).min(ERRORS.len());
    let mut injections = Vec::new();
    for (number, point) in points.iter().enumerate() {
        injections.push(Injection { point: point.clone(), error: None });
        // Linux closes a descriptor whatever `close` answers; an injected failure would leave it open, lock and all.
        if point.call != "close" {
            let turn = (0..errors).map(|offset| ERRORS[(number + offset) % ERRORS.len()]);
            injections.extend(turn.map(|error| Injection { point: point.clone(), error: Some(error) }));
        }
    }
    injections
}

/// Tries them all, on all cores.
fn sweep(ground: &Ground, kind: Kind, injections: &[Injection], tally: &mut Tally) -> anyhow::Result<usize> {
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let results = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores)
            .map(|worker| {
                let (next, done, failures) = (&next, &done, &failures);
                scope.spawn(move || -> anyhow::Result<()> {
                    let folder = ground.folder(&format!("crash-{worker}"))?;
                    while let Some(injection) = injections.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let found = try_out(ground, &folder, kind, injection)
                            .with_context(|| format!("{kind}, {injection}"))?;
                        done.fetch_add(1, Ordering::Relaxed);
                        let found =
                            found.into_iter().map(|problem| format!("{kind}, {injection}: {problem}"));
                        failures.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    for result in results {
        result.map_err(|_| anyhow::anyhow!("a worker of the sweep panicked"))??;
    }
    tally.failures.extend(failures.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(done.into_inner())
}

/// The problems at one point.
fn try_out(ground: &Ground, folder: &Path, kind: Kind, injection: &Injection) -> anyhow::Result<Vec<String>> {
    let Point { nth, when, .. } = injection.point;
    for when in iter::once(when).chain((1..=nth + STRAYS).cycle()).take(TRIES) {
        let mut injection = injection.clone();
        injection.point.when = when;
        if let Some(outcome) = run(ground, folder, kind, Some(&injection))? {
            return Ok(outcome.problems(kind, Some(&injection)));
        }
    }
    Ok(vec![format!("not reached in {TRIES} runs")])
}
