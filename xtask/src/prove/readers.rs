//! Readers: while one process overwrites a megabyte again and again, everybody reads all of one version.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::prove::ground::Ground;
use crate::prove::program::Program;
use crate::prove::tally::Tally;

const OVERWRITES: usize = 500;
const LINES: usize = 40_000;

/// Makes the proof: two readers that open the file themselves, two that use the tool.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let workspace = ground.folder("readers")?;
    let file = workspace.join("big.txt");
    let overwrites = ground.scaled(OVERWRITES);
    fs::write(&file, text(0))?;
    let over = AtomicBool::new(false);
    let (written, raw, tool) = std::thread::scope(|scope| {
        let raw: Vec<_> = (0..2).map(|_| scope.spawn(|| read_raw(&file, &over))).collect();
        let tool: Vec<_> = (0..2).map(|_| scope.spawn(|| read_tool(ground, &workspace, &over))).collect();
        let written = overwrite(ground, &workspace, overwrites);
        over.store(true, Ordering::Relaxed);
        let join = |workers: Vec<std::thread::ScopedJoinHandle<'_, anyhow::Result<Reads>>>| {
            workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
        };
        (written, join(raw), join(tool))
    });
    written?;
    tally.figure("overwrites of 1 MB", overwrites);
    for (what, results) in [("whole reads of the file", raw), ("reads by the tool", tool)] {
        let mut count = 0;
        for result in results {
            let reads = result.map_err(|_| anyhow::anyhow!("a reader panicked"))??;
            count += reads.count;
            tally.failures.extend(reads.problems);
        }
        tally.figure(format!("{what}, each of one version"), count);
        tally.check(count > 0, || format!("no {what}"));
    }
    Ok(())
}

#[derive(Default)]
struct Reads {
    count: usize,
    problems: Vec<String>,
}

/// About a megabyte of one version: each line names it.
fn text(version: usize) -> String {
    format!("this is version {version:08}\n").repeat(LINES)
}

fn overwrite(ground: &Ground, workspace: &Path, times: usize) -> anyhow::Result<()> {
    let mut program = Program::start(ground.program(workspace))?;
    program.must("read", json!({"file_path": "big.txt"}))?;
    for version in 1..=times {
        program.must("write", json!({"file_path": "big.txt", "content": text(version)}))?;
    }
    program.end().map(drop)
}

fn read_raw(file: &Path, over: &AtomicBool) -> anyhow::Result<Reads> {
    let whole = text(0).len();
    let mut reads = Reads::default();
    while !over.load(Ordering::Relaxed) {
        let text = fs::read_to_string(file)?;
        reads.count += 1;
        // So that there is time for the others, too.
        std::thread::sleep(Duration::from_micros(200));
        if text.len() != whole || !is_one_version(&text) {
            reads.problems.push(format!("a read of {} bytes is not of one version", text.len()));
        }
    }
    Ok(reads)
}

fn read_tool(ground: &Ground, workspace: &Path, over: &AtomicBool) -> anyhow::Result<Reads> {
    let mut program = Program::start(ground.program(workspace))?;
    let mut reads = Reads::default();
    while !over.load(Ordering::Relaxed) {
        // A window that begins at the start and one near the end.
        let offset = if reads.count % 2 == 0 { 1 } else { LINES - 500 };
        let answer = program.must("read", json!({"file_path": "big.txt", "offset": offset}))?;
        reads.count += 1;
        if !is_one_version(&answer.text()) {
            reads.problems.push("a read by the tool is not of one version".to_owned());
        }
    }
    program.end()?;
    Ok(reads)
}

fn is_one_version(text: &str) -> bool {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    !first.is_empty() && text == first.repeat(text.len() / first.len())
}
