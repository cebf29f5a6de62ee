//! Thousands of requests that are none: each gets a refusal or a closed door, and the server goes on as before.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use serde_json::json;

use crate::dice::Dice;
use crate::prove::ground::Ground;
use crate::prove::program::peak_memory;
use crate::prove::serve::agent::{Agent, Reply, Way};
use crate::prove::serve::http::Connection;
use crate::prove::serve::nonsense::{self, MOST_BYTES, Nonsense};
use crate::prove::serve::server::Server;
use crate::prove::tally::Tally;

const REQUESTS: usize = 10_000;
const CLIENTS: usize = 8;
/// What the server may keep of all of them, in KiB.
const MOST_MORE: u64 = 64 << 10;
/// A connection that was closed here may be noticed there a moment later.
const SETTLED: Duration = Duration::from_secs(10);
/// The most memory of a server that has done nothing yet, in KiB: the budget of an idle process.
const IDLE: u64 = 20 << 10;

/// Makes this part of the proof.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let workspace = ground.folder("serve-malformed")?;
    fs::write(workspace.join("a.txt"), "old\n")?;
    let limit = MOST_BYTES.to_string();
    let mut server = Server::start(ground.command(&["mcp", "--max-request-bytes", &limit], &workspace))?;
    let idle = peak_memory(server.id())?;
    tally.check(idle <= IDLE, || format!("serve: an idle server has {idle} KiB"));
    tally.figure("memory of an idle server", format!("{} MiB", idle.div_ceil(1024)));
    Agent::join(server.address, "before", Way::Header)?.must("read", json!({"file_path": "a.txt"}))?;
    let (memory, sockets) = (peak_memory(server.id())?, open_sockets(server.id())?);
    let answers = send_all(ground, &server)?;
    let sent: usize = answers.values().sum();
    for (answer, count) in &answers {
        tally.check(answer.is_honest(), || format!("serve, malformed: {count} times {answer:?}"));
        tally.figure(format!("malformed or oversized requests: {}", answer.name()), count);
    }
    tally.check(sent == ground.scaled(REQUESTS), || format!("serve, malformed: {sent} requests were sent"));
    tally.check(server.runs()?, || "serve, malformed: the server has ended".to_owned());
    let health = Connection::open(server.address)?.request("GET", "/health", &[], b"")?;
    tally.check(health.status == 200, || format!("serve, malformed: /health answers {}", health.status));
    // What was seen before still counts, and only that.
    let change = json!({"file_path": "a.txt", "old_string": "old", "new_string": "new"});
    let mut stranger = Agent::join(server.address, "after", Way::Header)?;
    let reply = stranger.call("edit", change.clone())?;
    let refused = matches!(&reply, Reply::Failed(code, _) if code == "FS_NOT_OBSERVED");
    tally.check(refused, || format!("serve, malformed: a session that has read nothing: {reply:?}"));
    // On a connection of its own: the older one may have been idle for too long.
    Agent::join(server.address, "before", Way::Header)?.must("edit", change)?;
    let names: Vec<_> =
        fs::read_dir(&workspace)?.map(|entry| Ok(entry?.file_name())).collect::<anyhow::Result<_>>()?;
    tally.check(names == ["a.txt"], || format!("serve, malformed: in the workspace are {names:?}"));
    let more = peak_memory(server.id())?.saturating_sub(memory);
    tally.check(more <= MOST_MORE, || format!("serve, malformed: the server took {more} KiB more"));
    tally.figure("memory that they cost at most", format!("{} MiB", more.div_ceil(1024)));
    drop(stranger);
    let settled = settles(|| Ok(open_sockets(server.id())? <= sockets))?;
    tally.check(settled, || "serve, malformed: connections are kept for ever".to_owned());
    let status = server.stop()?;
    tally.check(status.success(), || format!("serve, malformed: the server ended with {status}"));
    Ok(())
}

/// What came of one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    /// An error's status.
    Status(u16),
    /// An error in a message or a result.
    Message,
    /// The door was closed, or this side left.
    Closed,
    /// What must not be.
    Wrong(String),
}

impl Answer {
    fn name(&self) -> String {
        match self {
            Self::Status(status) => format!("HTTP {status}"),
            Self::Message => "an error of the protocol or the tool".to_owned(),
            Self::Closed => "connection closed".to_owned(),
            Self::Wrong(what) => what.clone(),
        }
    }

    fn is_honest(&self) -> bool {
        match self {
            Self::Status(status) => (400..500).contains(status) || *status == 503,
            Self::Message | Self::Closed => true,
            Self::Wrong(_) => false,
        }
    }
}

fn send_all(ground: &Ground, server: &Server) -> anyhow::Result<BTreeMap<Answer, usize>> {
    let (all, next) = (ground.scaled(REQUESTS), AtomicUsize::new(0));
    let answers = Mutex::new(BTreeMap::new());
    let work = || -> anyhow::Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= all {
                return Ok(());
            }
            let mut dice = Dice::new(ground.seed().wrapping_add(number as u64));
            let nonsense = nonsense::make(server.address, &mut dice);
            let answer = send(server, &nonsense).with_context(|| nonsense.what.to_owned())?;
            *answers.lock().unwrap_or_else(PoisonError::into_inner).entry(answer).or_default() += 1;
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| anyhow!("a client panicked"))?)
    })?;
    Ok(answers.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn send(server: &Server, nonsense: &Nonsense) -> anyhow::Result<Answer> {
    let mut connection = Connection::open(server.address)?;
    // The door may be closed before all of it is through.
    let sent = connection.send(&nonsense.bytes);
    if nonsense.leaves {
        return Ok(Answer::Closed);
    }
    if sent.is_ok() && nonsense.ends && connection.end_sending().is_err() {
        return Ok(Answer::Closed);
    }
    let Ok(response) = connection.receive() else { return Ok(Answer::Closed) };
    if response.status >= 300 {
        return Ok(Answer::Status(response.status));
    }
    let wrong = || Answer::Wrong(format!("{}: HTTP {}", nonsense.what, response.status));
    let Ok(messages) = response.messages() else { return Ok(wrong()) };
    let errors =
        messages.iter().any(|message| message["error"].is_object() || message["result"]["isError"] == true);
    Ok(if errors { Answer::Message } else { wrong() })
}

fn open_sockets(process: u32) -> anyhow::Result<usize> {
    let open = fs::read_dir(format!("/proc/{process}/fd"))?
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    Ok(open.filter(|file| file.to_string_lossy().starts_with("socket:")).count())
}

/// Whether it comes true in time.
fn settles(holds: impl Fn() -> anyhow::Result<bool>) -> anyhow::Result<bool> {
    let patience = std::time::Instant::now() + SETTLED;
    while std::time::Instant::now() < patience {
        if holds()? {
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(false)
}
