//! From the start of a process to its first answer, and what it holds while it waits for more.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::json;

use crate::bench::pairs::{Pairs, median};
use crate::bench::peer::Peer;
use crate::bench::peers::Which;
use crate::bench::speed::{Sheet, Stage, milliseconds};
use crate::bench::text;

/// Milliseconds.
const START: f64 = 10.0;
/// MiB.
const IDLE: f64 = 20.0;
const ROUNDS: usize = 31;
const FEW_ROUNDS: usize = 7;
const FILE: &str = "a.txt";

/// Measures it.
pub(crate) fn measure(stage: &Stage<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let workspace = stage.ground.folder("start")?;
    text::write(&workspace.join(FILE), 10 * 1024)?;
    let path = workspace.join(FILE);
    let path = path.to_str().context("a path that is not UTF-8")?;
    let mut times = Vec::new();
    let mut idle: f64 = 0.0;
    for _ in 0..ROUNDS {
        let (elapsed, peer) = first_answer(|| stage.ours_by_default(&workspace), "read", "file_path", path)?;
        times.push(elapsed);
        idle = idle.max(peer.memory()?.resident);
    }
    let elapsed = median(times);
    sheet.alone("start to the first answer, a read", elapsed, "nobody: it is a budget of time");
    sheet.budget("start to the first answer", milliseconds(elapsed), START, " ms");
    sheet.budget("idle memory after it", idle, IDLE, " MiB");
    for which in Which::ALL {
        let (what, tool, key) = match which {
            Which::Reference => ("start to the first answer, a read", "read", "file_path"),
            Which::JsServer | Which::RustServer => ("the same over MCP", "read_text_file", "path"),
        };
        if stage.peers.missing(which).is_some() {
            continue;
        }
        let mut theirs_idle = 0.0;
        let pairs = Pairs::timed(
            FEW_ROUNDS,
            || {
                let ours = || match which {
                    Which::Reference => stage.ours(&workspace),
                    Which::JsServer | Which::RustServer => stage.ours_over_mcp(&workspace),
                };
                Ok(first_answer(ours, "read", "file_path", path)?.0)
            },
            || {
                let theirs = || stage.peers.start(which, &workspace)?.context("not installed any more");
                let (elapsed, peer) = first_answer(theirs, tool, key, path)?;
                theirs_idle = peer.memory()?.resident;
                Ok(elapsed)
            },
        )?;
        sheet.versus(what, which.name(), &pairs, None);
        sheet.note(format!("Idle memory: ours {idle:.1} MiB, {} {theirs_idle:.0} MiB.", which.name()));
    }
    Ok(())
}

fn first_answer(
    start: impl FnOnce() -> anyhow::Result<Peer>,
    tool: &str,
    key: &str,
    path: &str,
) -> anyhow::Result<(Duration, Peer)> {
    let began = Instant::now();
    let mut peer = start()?;
    let reply = peer.must(tool, &json!({key: path}))?;
    let elapsed = began.elapsed();
    anyhow::ensure!(reply.text.contains(&text::line(1)), "not the file: {:.300}", reply.text);
    Ok((elapsed, peer))
}
