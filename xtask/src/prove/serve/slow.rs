//! Slow clients: some never read their answer, some read it byte by byte, and nobody else notices.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use serde_json::json;

use crate::prove::ground::Ground;
use crate::prove::serve::agent::{Agent, Way};
use crate::prove::serve::http::Connection;
use crate::prove::serve::load::{percentile, shown};
use crate::prove::serve::server::Server;
use crate::prove::tally::Tally;

/// Of each kind.
const SLOW: usize = 4;
/// Calls of a client that is quick, before and meanwhile.
const CALLS: usize = 500;
/// Far more than what fits in the buffers of a connection.
const ANSWER: usize = 8 << 20;
/// Between two bytes.
const PAUSE: Duration = Duration::from_millis(10);
/// What a machine that does other things too may add to an answer.
const NOISE: Duration = Duration::from_millis(25);

/// A page may be as long as the answer here.
const COMPOSITION: &str = "\
- name: dsh-fs-local
- name: dsh-fs-observation-policy
- name: dsh-tool-fs
  config: { readMaxBytes: 16777216, readLimit: 1000000 }
";

/// Makes this part of the proof.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let workspace = ground.folder("serve-slow")?;
    // Long lines are cheap to show.
    let line = "an answer that nobody takes ".repeat(40) + "\n";
    fs::write(workspace.join("long.txt"), line.repeat(ANSWER / line.len()))?;
    let composition = ground.folder("serve-slow-composition")?.join("compose.yaml");
    fs::write(&composition, COMPOSITION)?;
    let composition = composition.to_str().context("a path that is not UTF-8")?;
    let server = Server::start(ground.command(&["mcp", "--compose", composition], &workspace))?;
    let calls = ground.scaled(CALLS).max(50);
    // One that works in the same session as a slow client, and one of its own.
    let mut quick = [("slow-0", "with-them.txt"), ("quick", "alone.txt")]
        .map(|(session, file)| Agent::join(server.address, session, Way::Header).map(|agent| (agent, file)));
    let mut alone = Vec::new();
    for agent in &mut quick {
        let (agent, file) = agent.as_mut().map_err(|error| anyhow!("{error:#}"))?;
        alone.push(work(agent, file, calls)?);
    }
    let slow = |number: usize| -> anyhow::Result<Connection> {
        Agent::join(server.address, &format!("slow-{number}"), Way::Header)?
            .leave_unread("read", &json!({"file_path": "long.txt"}))
    };
    let unread: Vec<Connection> = (0..SLOW).map(slow).collect::<Result<_, _>>()?;
    let dripping: Vec<Connection> = (SLOW..2 * SLOW).map(slow).collect::<Result<_, _>>()?;
    let over = AtomicBool::new(false);
    let (meanwhile, dripped) = thread::scope(|scope| {
        let over = &over;
        let drips: Vec<_> =
            dripping.into_iter().map(|client| scope.spawn(move || drip(client, over))).collect();
        let mut meanwhile = Vec::new();
        for agent in &mut quick {
            meanwhile.push(
                agent
                    .as_mut()
                    .map_err(|error| anyhow!("{error:#}"))
                    .and_then(|(agent, file)| work(agent, file, calls)),
            );
        }
        over.store(true, Ordering::Relaxed);
        let dripped: Vec<_> = drips.into_iter().map(thread::ScopedJoinHandle::join).collect();
        (meanwhile, dripped)
    });
    for result in dripped {
        let bytes = result.map_err(|_| anyhow!("a slow client panicked"))??;
        tally.check(bytes.starts_with(b"HTTP/1.1 200 "), || {
            "serve, slow: a slow client got no answer".to_owned()
        });
    }
    for mut client in unread {
        let late = client.receive()?;
        tally.check(late.status == 200 && late.body.len() > ANSWER * 9 / 10, || {
            format!("serve, slow: {} bytes were kept for a client that took its time", late.body.len())
        });
    }
    tally.figure("clients that read their answer of 8 MB late, or byte by byte", 2 * SLOW);
    for ((who, alone), meanwhile) in
        ["in a slow client's session", "in another session"].iter().zip(alone).zip(meanwhile)
    {
        let meanwhile = meanwhile?;
        let (before, after) = (percentile(&alone, 50), percentile(&meanwhile, 50));
        tally.check(after <= before * 3 + NOISE, || {
            format!("serve, slow: a call {who} takes {} instead of {}", shown(after), shown(before))
        });
        tally.figure(
            format!("a quick client {who}, p50 before and meanwhile"),
            format!("{} / {}", shown(before), shown(after)),
        );
    }
    let status = server.stop()?;
    tally.check(status.success(), || format!("serve, slow: the server ended with {status}"));
    Ok(())
}

/// Reads a short file and overwrites it, again and again; how long each call took, sorted.
fn work(agent: &mut Agent, file: &str, calls: usize) -> anyhow::Result<Vec<Duration>> {
    let mut took = Vec::new();
    for call in 0..calls {
        let began = Instant::now();
        if call % 2 == 0 {
            agent.must("write", json!({"file_path": file, "content": format!("version {call}\n")}))?;
        } else {
            agent.must("read", json!({"file_path": file}))?;
        }
        took.push(began.elapsed());
    }
    took.sort_unstable();
    Ok(took)
}

/// Reads byte by byte until it is over; what was read.
fn drip(mut client: Connection, over: &AtomicBool) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while bytes.len() < 16 || !over.load(Ordering::Relaxed) {
        let Some(byte) = client.byte()? else { break };
        bytes.push(byte);
        thread::sleep(PAUSE);
    }
    Ok(bytes)
}
