//! The tools against the reference, two published servers, and the system's own programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::bench::budget::{Budget, Made, Table};
use crate::bench::pairs::Pairs;
use crate::bench::peer::{Peer, Protocol};
use crate::bench::peers::{Peers, Which};
use crate::prove::Ground;

mod edits;
mod growth;
mod page;
mod pages;
mod readers;
mod rewrites;
mod start;

/// Whatever it is, ours takes at most this part of the reference's time.
const OF_THE_REFERENCE: f64 = 0.5;
/// Free bytes that it wants.
const ROOM: u64 = 15_000_000_000;
/// What the reference has no fence against, ours is measured without one too.
const UNFENCED: &str = "- name: dsh-fs-local\n- name: dsh-fs-observation-policy\n- name: dsh-tool-fs\n";

/// Measures all of it.
pub(crate) fn measure(ground: &Ground, say: fn(&str)) -> anyhow::Result<Made> {
    let disk = rustix::fs::statvfs(ground.path())?;
    let (free, wanted) = (disk.f_bavail * disk.f_frsize, ground.scaled(usize::try_from(ROOM)?) as u64);
    ensure!(free >= wanted, "{free} bytes are free, and {wanted} are wanted; give another --place");
    let compose = ground.folder("composition")?.join("unfenced.yaml");
    fs::write(&compose, UNFENCED)?;
    let stage = Stage { ground, peers: Peers::install(say)?, compose };
    let mut sheet = Sheet::new(say);
    for which in Which::ALL {
        if let Some(why) = stage.peers.missing(which) {
            sheet.note(format!("{} takes no part, it cannot be installed: {why}", which.name()));
        }
    }
    start::measure(&stage, &mut sheet)?;
    edits::measure(&stage, &mut sheet)?;
    rewrites::measure(&stage, &mut sheet)?;
    let large = pages::measure(&stage, &mut sheet)?;
    readers::measure(&stage, &large, &mut sheet)?;
    growth::measure(&stage, &large, &mut sheet)?;
    Ok(sheet.into_made())
}

/// Who takes part, and where.
#[derive(Debug)]
struct Stage<'a> {
    ground: &'a Ground,
    peers: Peers,
    compose: PathBuf,
}

impl Stage<'_> {
    /// Ours, as the reference is: without a fence.
    fn ours(&self, workspace: &Path) -> anyhow::Result<Peer> {
        let compose = self.compose.to_str().context("a path that is not UTF-8")?;
        Peer::start(self.ground.command(&["run", "--compose", compose], workspace), Protocol::Lines)
    }

    /// Ours, as it is when nothing is said.
    fn ours_by_default(&self, workspace: &Path) -> anyhow::Result<Peer> {
        Peer::start(self.ground.command(&["run"], workspace), Protocol::Lines)
    }

    /// The same over the Model Context Protocol.
    fn ours_over_mcp(&self, workspace: &Path) -> anyhow::Result<Peer> {
        Peer::start(self.ground.command(&["mcp"], workspace), Protocol::Mcp)
    }

    /// A number of bytes at the scale of the run.
    fn bytes(&self, full: u64) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "sizes of files are far below 2^52"
        )]
        let scaled = (full as f64 * self.ground.scale()) as u64;
        scaled.max(1)
    }
}

/// What is known so far.
#[derive(Debug)]
struct Sheet {
    say: fn(&str),
    rows: Vec<Vec<String>>,
    made: Made,
}

impl Sheet {
    fn new(say: fn(&str)) -> Self {
        Self { say, rows: Vec::new(), made: Made::default() }
    }

    /// A comparison. A limit is of the ratio, ours by theirs; against the reference there always is one.
    fn versus(&mut self, what: &str, against: &str, pairs: &Pairs, limit: Option<f64>) {
        let (ours, theirs) = pairs.medians();
        let (ratio, low, high) = pairs.ratio();
        let spread = format!("{ratio:.3} ({low:.3}–{high:.3})");
        self.row(vec![what.to_owned(), time(ours), against.to_owned(), time(theirs), spread]);
        let general = (against == Which::Reference.name()).then_some(OF_THE_REFERENCE);
        if let Some(limit) = limit.or(general) {
            self.budget(format!("{what}, by {against}"), ratio, limit, "");
        }
    }

    /// Ours, with nobody beside it and the reason.
    fn alone(&mut self, what: &str, ours: Duration, why: &str) {
        self.row(vec![what.to_owned(), time(ours), why.to_owned(), String::new(), String::new()]);
    }

    /// What a peer does not offer.
    fn not_offered(&mut self, what: &str, which: Which) {
        let name = which.name().to_owned();
        self.row(vec![what.to_owned(), String::new(), name, "not offered".to_owned(), String::new()]);
    }

    fn row(&mut self, row: Vec<String>) {
        (self.say)(&format!("  {}", row.join("  ")));
        self.rows.push(row);
    }

    fn table(&mut self, table: Table) {
        table.rows.iter().for_each(|row| (self.say)(&format!("  {}", row.join("  "))));
        self.made.tables.push(table);
    }

    fn budget(&mut self, what: impl Into<String>, measured: f64, limit: f64, unit: &'static str) {
        self.made.budgets.push(Budget { what: what.into(), measured, limit, unit });
    }

    fn note(&mut self, note: String) {
        (self.say)(&format!("  {note}"));
        self.made.notes.push(note);
    }

    fn into_made(mut self) -> Made {
        let head = vec!["work", "dsh-fs", "against", "its time", "ratio"];
        self.made.tables.insert(0, Table { head, rows: self.rows });
        self.made
    }
}

/// For a person, with as many digits as mean something.
fn time(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 1e-3 => format!("{:.0} µs", seconds * 1e6),
        seconds if seconds < 0.1 => format!("{:.2} ms", seconds * 1e3),
        seconds if seconds < 10.0 => format!("{:.0} ms", seconds * 1e3),
        seconds => format!("{seconds:.1} s"),
    }
}

/// For a budget.
fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
