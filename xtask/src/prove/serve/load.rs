//! Load: many sessions that work in one folder at once, each with its own book of what every answer has to be.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use serde_json::json;

use crate::prove::ground::Ground;
use crate::prove::program::peak_memory;
use crate::prove::serve::agent::{Agent, Reply, WAYS, Way};
use crate::prove::serve::server::Server;
use crate::prove::serve::session::{Book, Session, line, own, shared, text};
use crate::prove::tally::Tally;

const SESSIONS: usize = 200;
const CALLS: usize = 200;
/// Files that all sessions read and edit.
const FILES: usize = 16;
/// The default is 8 MiB for each of the sessions' threads here.
const STACK: usize = 512 << 10;

/// What a session leaves behind.
struct Left {
    counts: Vec<usize>,
    version: usize,
    book: Book,
}

/// Makes this part of the proof. Of a smaller scale both numbers take their share: a tenth is 63 sessions of 63 calls.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let share = ground.scale().sqrt();
    let (sessions, calls) = (scaled(SESSIONS, share), scaled(CALLS, share));
    let workspace = ground.folder("serve-load")?;
    prepare(&workspace, sessions)?;
    let server = Server::start(ground.command(&["mcp"], &workspace))?;
    let began = Instant::now();
    let left = work(ground, &server, sessions, calls)?;
    let took = began.elapsed();
    let memory = peak_memory(server.id())?;
    nobody(&server, tally)?;
    let status = server.stop()?;
    tally.check(status.success(), || format!("serve: the server ended with {status}"));

    let mut book = Book::default();
    for left in &left {
        book.add(&left.book);
    }
    tally.failures.extend(book.problems.iter().map(|problem| format!("serve, load: {problem}")));
    judge(&workspace, &left, tally)?;
    tally.check(book.trespasses > 0 && book.changes > 0, || "serve, load: nothing was changed".to_owned());
    tally.figure("sessions at once, in both eras, named in four ways", sessions);
    tally.figure("calls, each answered as its session's book has it", book.latencies.len());
    tally.figure("of them changes made, all there at the end", book.changes);
    tally.figure("changes of what only another session had read, all refused", book.trespasses);
    for (code, count) in &book.refusals {
        tally.figure(format!("honest refusals, `{code}`"), count);
    }
    tally.figure("calls per second", per_second(book.latencies.len(), took));
    book.latencies.sort_unstable();
    tally.figure("latency of a call, p50", shown(percentile(&book.latencies, 50)));
    tally.figure("latency of a call, p99", shown(percentile(&book.latencies, 99)));
    tally.figure("peak memory of the server", format!("{} MiB", memory / 1024));
    Ok(())
}

fn prepare(workspace: &Path, sessions: usize) -> anyhow::Result<()> {
    fs::create_dir(workspace.join("shared"))?;
    fs::create_dir(workspace.join("own"))?;
    let lines: String = (0..sessions).map(|session| line(session, 0) + "\n").collect();
    for file in 0..FILES {
        fs::write(workspace.join(shared(file)), &lines)?;
    }
    Ok(())
}

/// All sessions, from a common start.
fn work(ground: &Ground, server: &Server, sessions: usize, calls: usize) -> anyhow::Result<Vec<Left>> {
    let start = Barrier::new(sessions);
    let (address, seed) = (server.address, ground.seed());
    let run = |number: usize| -> anyhow::Result<Left> {
        let way = WAYS[number % WAYS.len()];
        let begun = Agent::join(address, &format!("agent-{number}"), way)
            .and_then(|agent| Session::begin(agent, number, sessions, FILES, seed));
        // Also those that did not come so far, or the others would wait for ever.
        start.wait();
        let mut session = begun?;
        for _ in 0..calls {
            session.step()?;
        }
        Ok(Left { counts: session.counts().to_vec(), version: session.version(), book: session.book })
    };
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for number in 0..sessions {
            let worker = thread::Builder::new().stack_size(STACK);
            workers.push(worker.spawn_scoped(scope, move || run(number))?);
        }
        workers.into_iter().map(|worker| worker.join().map_err(|_| anyhow!("a session panicked"))?).collect()
    })
}

/// The disk against the books.
fn judge(workspace: &Path, left: &[Left], tally: &mut Tally) -> anyhow::Result<()> {
    for file in 0..FILES {
        let expected: String =
            left.iter().enumerate().map(|(session, left)| line(session, left.counts[file]) + "\n").collect();
        let found = fs::read_to_string(workspace.join(shared(file)))?;
        tally.check(found == expected, || format!("serve, load: {} is not what was applied", shared(file)));
    }
    for (session, left) in left.iter().enumerate() {
        let found = fs::read_to_string(workspace.join(own(session)))?;
        tally.check(found == text(session, left.version), || {
            format!("serve, load: {} is not version {}", own(session), left.version)
        });
    }
    Ok(())
}

/// Who names no session may read and create, and change nothing that is there.
fn nobody(server: &Server, tally: &mut Tally) -> anyhow::Result<()> {
    let mut agent = Agent::join(server.address, "", Way::Nobody)?;
    agent.must("write", json!({"file_path": "nobodys.txt", "content": "new\n"}))?;
    agent.must("read", json!({"file_path": shared(0)}))?;
    for file in [shared(0), "nobodys.txt".to_owned()] {
        let reply = agent.call("write", json!({"file_path": file, "content": "mine\n"}))?;
        let refused = matches!(&reply, Reply::Failed(code, text) if code == "FS_NOT_OBSERVED" && text.contains("Dsh-Session"));
        tally.check(refused, || format!("serve: an overwrite without a session: {reply:?}"));
    }
    Ok(())
}

impl Book {
    fn add(&mut self, other: &Self) {
        self.latencies.extend(&other.latencies);
        self.problems.extend(other.problems.iter().cloned());
        self.trespasses += other.trespasses;
        self.changes += other.changes;
        let sum = |sums: &mut BTreeMap<String, usize>, (code, count): (&String, &usize)| {
            *sums.entry(code.clone()).or_default() += count;
        };
        other.refusals.iter().for_each(|refusal| sum(&mut self.refusals, refusal));
    }
}

/// Of sorted durations; zero where there is none.
pub(crate) fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted
        .get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}

/// In milliseconds.
pub(crate) fn shown(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1000.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "small numbers"
)]
fn scaled(full: usize, share: f64) -> usize {
    ((full as f64 * share).round() as usize).max(2)
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn per_second(calls: usize, took: Duration) -> String {
    format!("{:.0}", calls as f64 / took.as_secs_f64())
}
