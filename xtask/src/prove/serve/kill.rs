//! Killed under load and started again: files are whole, logs are whole up to their last complete line, and nobody may
//! change anything by what was read before.

use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};
use serde_json::{Value as Json, json};

use crate::dice::Dice;
use crate::prove::ground::Ground;
use crate::prove::serve::agent::{Agent, Reply, Way};
use crate::prove::serve::server::Server;
use crate::prove::tally::Tally;

const KILLS: usize = 50;
const SESSIONS: usize = 16;
const ROWS: usize = 2000;
/// The kill comes at any moment of this.
const LIFE: Duration = Duration::from_millis(400);

/// One agent that overwrites its file, over all lives of the server.
#[derive(Debug, Default)]
struct Writer {
    /// The last version whose overwrite was answered.
    answered: usize,
    /// The last version that was sent.
    sent: usize,
    /// Calls that were answered to the name that it has had in this life.
    calls: usize,
}

/// Makes this part of the proof.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let workspace = ground.folder("serve-kill")?;
    let state = ground.folder("serve-kill-state")?;
    let kills = ground.scaled(KILLS);
    let mut writers: Vec<Writer> = (0..SESSIONS).map(|_| Writer::default()).collect();
    for number in 0..SESSIONS {
        fs::write(workspace.join(file(number)), text(number, 0))?;
    }
    let mut book = Book::default();
    let mut dice = Dice::new(ground.seed());
    for life in 0..kills {
        let moment = LIFE.mul_f64(f64::from(u16::try_from(dice.below(1000))?) / 1000.0);
        live(ground, &workspace, &state, &mut writers, moment, &mut book)
            .with_context(|| format!("life {life}"))?;
        for (number, writer) in writers.iter_mut().enumerate() {
            let found = fs::read_to_string(workspace.join(file(number)))?;
            match (writer.answered..=writer.sent).find(|version| found == text(number, *version)) {
                Some(version) => *writer = Writer { answered: version, sent: version, calls: writer.calls },
                None => tally.fail(format!(
                    "serve, kill: {} is none of the versions {} to {}",
                    file(number),
                    writer.answered,
                    writer.sent
                )),
            }
        }
        judge_logs(&state, &writers, &mut book, tally)?;
    }
    tally.failures.append(&mut book.problems);
    let stages = fs::read_dir(&workspace)?.count().saturating_sub(SESSIONS);
    tally.check(stages <= kills * SESSIONS, || format!("serve, kill: {stages} files were left behind"));
    shows_logs(ground, &workspace, &state, tally)?;
    tally.figure(format!("kills of a server with {SESSIONS} busy sessions, and its next start"), kills);
    tally.figure("calls answered before a kill, each in its log afterwards", book.calls);
    tally.figure("lines of logs, all whole", book.lines);
    tally.figure("last lines that a kill cut off", book.torn);
    tally.figure("overwrites by what was read in an earlier life, all refused", book.refused);
    Ok(())
}

#[derive(Debug, Default)]
struct Book {
    calls: usize,
    lines: usize,
    torn: usize,
    refused: usize,
    problems: Vec<String>,
}

/// One life of the server, to its kill.
fn live(
    ground: &Ground,
    workspace: &Path,
    state: &Path,
    writers: &mut [Writer],
    moment: Duration,
    book: &mut Book,
) -> anyhow::Result<()> {
    let folder = state.to_str().context("a path that is not UTF-8")?;
    let server = Server::start(ground.command(&["mcp", "--state", folder], workspace))?;
    let address = server.address;
    let start = Barrier::new(writers.len() + 1);
    let refused = AtomicUsize::new(0);
    let results: Vec<anyhow::Result<()>> = thread::scope(|scope| {
        let (start, refused) = (&start, &refused);
        let workers: Vec<_> = writers
            .iter_mut()
            .enumerate()
            .map(|(number, writer)| {
                scope.spawn(move || {
                    let begun = begin(address, number, writer, refused);
                    start.wait();
                    overwrite(&mut begun?, number, writer)
                })
            })
            .collect();
        start.wait();
        thread::sleep(moment);
        let killed = server.kill();
        let ends =
            workers.into_iter().map(|worker| worker.join().map_err(|_| anyhow!("a writer panicked"))?);
        ends.chain([killed]).collect()
    });
    book.refused += refused.into_inner();
    results.into_iter().collect()
}

/// The names of the agents stay the same over all lives.
fn begin(
    address: std::net::SocketAddr,
    number: usize,
    writer: &mut Writer,
    refused: &AtomicUsize,
) -> anyhow::Result<Agent> {
    // Those whose names the server chooses would have another one in each life.
    let way = if number.is_multiple_of(2) { Way::Header } else { Way::OlderUrl };
    let mut agent = Agent::join(address, &name(number), way)?;
    // It has read the file, or written it, in every life before; that does not count.
    let reply =
        agent.call("write", json!({"file_path": file(number), "content": "from an earlier life\n"}))?;
    let is_refused = matches!(&reply, Reply::Failed(code, _) if code == "FS_NOT_OBSERVED");
    ensure!(is_refused, "an overwrite by what was read in an earlier life: {reply:?}");
    refused.fetch_add(1, Ordering::Relaxed);
    agent.must("read", json!({"file_path": file(number), "limit": 1}))?;
    writer.calls += 2;
    Ok(agent)
}

/// Until the server is gone.
fn overwrite(agent: &mut Agent, number: usize, writer: &mut Writer) -> anyhow::Result<()> {
    loop {
        writer.sent += 1;
        let content = text(number, writer.sent);
        match agent.call("write", json!({"file_path": file(number), "content": content})) {
            Ok(Reply::Done(_)) => {
                writer.answered = writer.sent;
                writer.calls += 1;
            }
            Ok(other) => return Err(anyhow!("an overwrite of the own file: {other:?}")),
            // The kill.
            Err(_) => return Ok(()),
        }
    }
}

/// Every line but those that a kill cut off is a whole event, and every call that was answered is there.
fn judge_logs(state: &Path, writers: &[Writer], book: &mut Book, tally: &mut Tally) -> anyhow::Result<()> {
    (book.lines, book.torn, book.calls) = (0, 0, 0);
    for (number, writer) in writers.iter().enumerate() {
        let path = state.join(format!("{}.jsonl", name(number)));
        let log = fs::read(&path).with_context(|| format!("there is no log of {}", name(number)))?;
        let mut results = 0;
        for line in log.split_inclusive(|byte| *byte == b'\n') {
            match serde_json::from_slice::<Json>(line) {
                Ok(event) if line.ends_with(b"\n") => {
                    book.lines += 1;
                    results += usize::from(event["kind"] == "tool/result");
                }
                // Cut off, and perhaps ended by the next life.
                _ => book.torn += 1,
            }
        }
        book.calls += writer.calls;
        tally.check(results >= writer.calls, || {
            format!(
                "serve, kill: {} calls of {} were answered, {results} are in its log",
                writer.calls,
                name(number)
            )
        });
    }
    Ok(())
}

/// The program shows the logs as they are.
fn shows_logs(ground: &Ground, workspace: &Path, state: &Path, tally: &mut Tally) -> anyhow::Result<()> {
    for number in 0..SESSIONS {
        let mut command = ground.command(&["log", &name(number), "--json"], workspace);
        let shown = command.arg("--state").arg(state).output()?;
        tally.check(shown.status.success() && !shown.stdout.is_empty(), || {
            format!("serve, kill: `log {}`: {}", name(number), String::from_utf8_lossy(&shown.stderr).trim())
        });
    }
    Ok(())
}

fn name(number: usize) -> String {
    format!("writer-{number}")
}

fn file(number: usize) -> String {
    format!("{number:02}.txt")
}

/// About 100 KB, of which every line names the version.
fn text(number: usize, version: usize) -> String {
    format!("this is version {version:08} of writer {number:02}, all of it\n").repeat(ROWS)
}
