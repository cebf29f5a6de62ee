//! Hints: 2000 damaged edits of real source files, and some in a megabyte.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use crate::hints::{
    Desk, Figures, MOST_BYTES, MOST_TIME, RIGHT_KINDS, RIGHT_LINES, hint_of, share, sources, try_out,
};
use crate::prove::ground::Ground;
use crate::prove::program::Program;
use crate::prove::tally::Tally;

const EDITS: usize = 2000;
/// In a file of a megabyte.
const LARGE: usize = 20;

/// The built program, and the folder that it works in.
struct Built {
    program: Program,
    workspace: PathBuf,
}

impl Desk for Built {
    fn put(&mut self, path: &str, text: &str) -> anyhow::Result<()> {
        let file = self.workspace.join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(fs::write(file, text)?)
    }

    fn read(&mut self, path: &str, window: Option<(usize, usize)>) -> anyhow::Result<String> {
        let mut args = json!({ "file_path": path });
        if let Some((offset, limit)) = window {
            args["offset"] = offset.into();
            args["limit"] = limit.into();
        }
        Ok(self.program.must("read", args)?.content().to_owned())
    }

    fn edit(&mut self, path: &str, old: &str, new: &str) -> anyhow::Result<Result<(), String>> {
        let args = json!({ "file_path": path, "old_string": old, "new_string": new });
        let answer = self.program.call("edit", args)?;
        Ok(if answer.is_error() { Err(answer.content().to_owned()) } else { Ok(()) })
    }
}

/// Makes the proof.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let workspace = ground.folder("hints")?;
    let program = Program::start(ground.program(&workspace))?;
    let mut desk = Built { program, workspace };
    let sources = sources()?;
    for (origin, files) in &sources.origins {
        tally.figure(format!("source files of {origin}"), files);
    }
    let figures = try_out(&mut desk, &sources, ground.scaled(EDITS), ground.seed())?;
    account(&figures, tally);
    let (slowest, hints) = in_a_megabyte(&mut desk, &sources.megabyte())?;
    tally.figure(
        "ms of processor time for the slowest of the refused edits in a file of 1 MB",
        format!("{:.1}", milliseconds(slowest)),
    );
    tally.figure(format!("of these {LARGE} got their hint in time"), hints);
    tally
        .check(slowest <= MOST_TIME, || format!("a refused edit in 1 MB took {slowest:?} of processor time"));
    desk.program.end().map(drop)
}

/// The slowest of some edits that are refused in a large file, all included, in time of the thread that makes hints; and how
/// many of them came with one. What else runs on the machine does not count, but may cost a hint.
fn in_a_megabyte(desk: &mut Built, text: &str) -> anyhow::Result<(Duration, usize)> {
    desk.put("large.txt", text)?;
    desk.read("large.txt", Some((1, 1)))?;
    let lines: Vec<&str> = text.lines().filter(|line| line.trim().len() > 30).collect();
    let (mut slowest, mut hints) = (Duration::ZERO, 0);
    for index in 0..LARGE {
        let line = lines[index * (lines.len() / LARGE)];
        let old = line.replacen(|character: char| character.is_ascii_alphabetic(), "\u{2603}", 3);
        let before = worked(desk.program.id())?;
        let Err(said) = desk.edit("large.txt", &old, "x")? else { anyhow::bail!("a damaged edit was made") };
        slowest = slowest.max(worked(desk.program.id())?.saturating_sub(before));
        hints += usize::from(!hint_of(&said).is_empty());
    }
    Ok((slowest, hints))
}

/// How long the first thread of a process has run.
fn worked(process: u32) -> anyhow::Result<Duration> {
    let line = fs::read_to_string(format!("/proc/{process}/schedstat"))?;
    let nanoseconds = line.split(' ').next().context("no time")?.parse()?;
    Ok(Duration::from_nanos(nanoseconds))
}

fn account(figures: &Figures, tally: &mut Tally) {
    let Figures { edits, right_lines, first_lines, right_kinds, followed, bytes, slowest, .. } = figures;
    let percent = |part: usize| share(part, *edits);
    tally.figure("damaged edits, all refused, the first line of the error as ever", edits);
    tally.figure("% whose hint names the right line", format!("{:.1}", percent(*right_lines)));
    tally.figure("% whose hint names it first", format!("{:.1}", percent(*first_lines)));
    tally.figure("% whose hint names the right kind", format!("{:.1}", percent(*right_kinds)));
    for (way, [edits, lines, kinds]) in &figures.ways {
        let figure = format!("{:.0} / {:.0}", share(*lines, *edits), share(*kinds, *edits));
        tally.figure(format!("% right line / kind: {way:?}"), figure);
    }
    tally.figure(
        "hints of one place, in indentation, quotes or line numbers, followed to the letter",
        followed[0],
    );
    tally.figure("of them made the edit", followed[1]);
    tally.figure("bytes of the longest hint", bytes[0]);
    tally.figure("bytes of a hint on average", bytes[1] / (*edits).max(1));
    tally.figure(
        "ms for the slowest refused edit, from call to answer",
        format!("{:.1}", milliseconds(*slowest)),
    );
    tally.check(percent(*right_lines) >= RIGHT_LINES, || {
        format!("right lines: {:.1} %", percent(*right_lines))
    });
    tally.check(percent(*right_kinds) >= RIGHT_KINDS, || {
        format!("right kinds: {:.1} %", percent(*right_kinds))
    });
    tally.check(followed[0] > 0 && followed[0] == followed[1], || {
        let last = figures.wrong.iter().find(|wrong| wrong.starts_with("followed")).cloned();
        format!(
            "{} of {} hints, followed, made no edit: {}",
            followed[0] - followed[1],
            followed[0],
            last.unwrap_or_default()
        )
    });
    tally.check(bytes[0] <= MOST_BYTES, || format!("a hint of {} bytes", bytes[0]));
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
