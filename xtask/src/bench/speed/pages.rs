//! Pages of large files: the first one, any later one, and all of them.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::json;

use crate::bench::pairs::{Pairs, median};
use crate::bench::peer::Peer;
use crate::bench::peers::Which;
use crate::bench::speed::page::{Page, same_lines};
use crate::bench::speed::{Sheet, Stage, milliseconds, time};
use crate::bench::text;

/// By `wc -l`.
const FIRST_BY_WC: f64 = 1.5;
/// By the reference.
const FIRST_BY_REFERENCE: f64 = 0.25;
/// Milliseconds.
const LATER: f64 = 5.0;
/// MiB that a process may have had after reading pages of the largest file.
pub(crate) const MEMORY: f64 = 64.0;
const ROUNDS: usize = 7;
const LATER_ROUNDS: usize = 5;
/// Pages that are followed by turns.
const FOLLOWED: usize = 20;

/// A folder with the files that are read.
#[derive(Debug)]
pub(crate) struct Large {
    pub(crate) folder: PathBuf,
    /// In [`Large::GB`].
    pub(crate) lines: u64,
}

impl Large {
    pub(crate) const GB: &str = "1gb.txt";
    pub(crate) const MB: &str = "100mb.txt";
    /// What a process is warmed up with.
    pub(crate) const SMALL: &str = "small.txt";

    /// A program of ours that has answered, and does not know the large file.
    pub(crate) fn ours(&self, stage: &Stage<'_>) -> anyhow::Result<Peer> {
        let mut ours = stage.ours(&self.folder)?;
        ours.must("read", &json!({"file_path": Self::SMALL}))?;
        Ok(ours)
    }

    fn path(&self, name: &str) -> anyhow::Result<String> {
        Ok(self.folder.join(name).to_str().context("a path that is not UTF-8")?.to_owned())
    }
}

/// Measures it, and leaves the files.
pub(crate) fn measure(stage: &Stage<'_>, sheet: &mut Sheet) -> anyhow::Result<Large> {
    let folder = stage.ground.folder("large")?;
    let lines = text::write(&folder.join(Large::GB), stage.bytes(1_000_000_000))?;
    let hundred_lines = text::write(&folder.join(Large::MB), stage.bytes(100_000_000))?;
    text::write(&folder.join(Large::SMALL), 10 * 1024)?;
    let large = Large { folder, lines };
    text::settle(&large.folder.join(Large::MB))?;
    first(stage, &large, sheet)?;
    later(stage, &large, sheet)?;
    late_in_100_mb(stage, &large, hundred_lines, sheet)?;
    followed(stage, &large, hundred_lines, sheet)?;
    Ok(large)
}

/// Each of ours by a process of its own, which has no index yet.
fn first(stage: &Stage<'_>, large: &Large, sheet: &mut Sheet) -> anyhow::Result<()> {
    let what = "first page of 1 GB, with its total";
    let mut page = None;
    let mut ours = || -> anyhow::Result<Duration> {
        let read = Page::read(&mut large.ours(stage)?, Large::GB, 1)?;
        read.check(1, large.lines)?;
        let took = read.took;
        page = Some(read);
        Ok(took)
    };
    let pairs = Pairs::timed(ROUNDS, &mut ours, || wc(large))?;
    sheet.versus(what, "`wc -l`", &pairs, Some(FIRST_BY_WC));
    if let Some(mut reference) = stage.peers.start(Which::Reference, &large.folder)? {
        let mut theirs = None;
        let pairs = Pairs::timed(ROUNDS, &mut ours, || {
            let read = Page::read(&mut reference, Large::GB, 1)?;
            let took = read.took;
            theirs = Some(read.whole);
            Ok(took)
        })?;
        ensure!(
            theirs == page.as_ref().map(|page| page.whole.clone()),
            "the reference shows another first page"
        );
        sheet.versus(what, Which::Reference.name(), &pairs, Some(FIRST_BY_REFERENCE));
    }
    for which in [Which::JsServer, Which::RustServer] {
        let page = page.clone().context("no page yet")?;
        servers(
            stage,
            large,
            which,
            "the first lines of 1 GB; theirs without a total",
            (Large::GB, 1),
            &page,
            sheet,
        )?;
    }
    Ok(())
}

/// `wc` is given nothing to print to but us, who look whether it counted right.
fn wc(large: &Large) -> anyhow::Result<Duration> {
    let mut command = Command::new("wc");
    command.arg("-l").arg(Large::GB).current_dir(&large.folder).stdin(Stdio::null());
    let began = Instant::now();
    let output = command.output().context("cannot start wc")?;
    let took = began.elapsed();
    let counted = String::from_utf8_lossy(&output.stdout);
    ensure!(counted.starts_with(&format!("{} ", large.lines)), "wc counts {counted}");
    Ok(took)
}

/// Ours has read the file before: a server that gives no total is not held against a whole pass.
fn servers(
    stage: &Stage<'_>,
    large: &Large,
    which: Which,
    what: &str,
    (name, offset): (&str, u64),
    page: &Page,
    sheet: &mut Sheet,
) -> anyhow::Result<()> {
    let Some(mut peer) = stage.peers.start(which, &large.folder)? else { return Ok(()) };
    let path = large.path(name)?;
    if same_lines(&mut peer, which, &path, offset, page)?.is_none() {
        sheet.not_offered(what, which);
        return Ok(());
    }
    let mut ours = large.ours(stage)?;
    let pairs = Pairs::timed(
        ROUNDS,
        || Ok(Page::read(&mut ours, name, offset)?.took),
        || same_lines(&mut peer, which, &path, offset, page)?.context("not offered any more"),
    )?;
    sheet.versus(what, which.name(), &pairs, None);
    Ok(())
}

fn later(stage: &Stage<'_>, large: &Large, sheet: &mut Sheet) -> anyhow::Result<()> {
    let mut ours = large.ours(stage)?;
    Page::read(&mut ours, Large::GB, 1)?;
    let before = ours.memory()?.peak;
    let mut worst = Duration::ZERO;
    for step in 1..=20 {
        let offset = large.lines * step / 20 - 5;
        let mut times = Vec::new();
        for _ in 0..LATER_ROUNDS {
            let page = Page::read(&mut ours, Large::GB, offset)?;
            page.check(offset, large.lines)?;
            times.push(page.took);
        }
        worst = worst.max(median(times));
    }
    sheet.alone("any later page of 1 GB: the slowest of 20", worst, "nobody: it is a budget of time");
    sheet.budget("any later page of 1 GB", milliseconds(worst), LATER, " ms");
    let after = ours.memory()?.peak;
    sheet.budget("peak memory after pages of 1 GB", after, MEMORY, " MiB");
    sheet.note(format!(
        "Peak memory was {before:.1} MiB after the first page of 1 GB, {after:.1} MiB after 100 later ones."
    ));
    if let Some(mut reference) = stage.peers.start(Which::Reference, &large.folder)? {
        let offset = large.lines / 2;
        let pairs = Pairs::timed(
            3,
            || Ok(Page::read(&mut ours, Large::GB, offset)?.took),
            || Ok(Page::read(&mut reference, Large::GB, offset)?.took),
        )?;
        sheet.versus("a page in the middle of 1 GB", Which::Reference.name(), &pairs, None);
    }
    Ok(())
}

fn late_in_100_mb(stage: &Stage<'_>, large: &Large, lines: u64, sheet: &mut Sheet) -> anyhow::Result<()> {
    let offset = lines * 3 / 4;
    let page = Page::read(&mut large.ours(stage)?, Large::MB, offset)?;
    page.check(offset, lines)?;
    let what = "lines at three quarters of 100 MB";
    for which in Which::ALL {
        servers(stage, large, which, what, (Large::MB, offset), &page, sheet)?;
    }
    Ok(())
}

/// As a model pages: what the footer says, until it says that it is the end.
fn followed(stage: &Stage<'_>, large: &Large, lines: u64, sheet: &mut Sheet) -> anyhow::Result<()> {
    if let Some(mut reference) = stage.peers.start(Which::Reference, &large.folder)? {
        let mut ours = large.ours(stage)?;
        let (mut next, mut behind) = (1, 1);
        let pairs = Pairs::timed(
            stage.ground.scaled(FOLLOWED),
            || {
                let page = Page::read(&mut ours, Large::MB, next)?;
                page.check(next, lines)?;
                next = page.next.context("the end too soon")?;
                Ok(page.took)
            },
            || {
                let page = Page::read(&mut reference, Large::MB, behind)?;
                page.check(behind, lines)?;
                behind = page.next.context("the end too soon")?;
                Ok(page.took)
            },
        )?;
        ensure!(next == behind, "after the same pages ours is at line {next}, the reference at {behind}");
        sheet.versus("a page of 100 MB, following the footers", Which::Reference.name(), &pairs, None);
    }
    let mut ours = large.ours(stage)?;
    let (mut next, mut pages, mut took, mut seen) = (Some(1), 0_u32, Duration::ZERO, 0);
    while let Some(offset) = next {
        let page = Page::read(&mut ours, Large::MB, offset)?;
        page.check(offset, lines)?;
        pages += 1;
        took += page.took;
        seen += page.lines.len() as u64;
        next = page.next;
    }
    ensure!(seen == lines, "the pages show {seen} lines of {lines}");
    let what = format!("100 MB by following the footers, all {pages} pages");
    sheet.alone(&what, took, "nobody: see a page of it");
    sheet.note(format!("Paging through 100 MB takes {}, {} a page.", time(took), time(took / pages)));
    Ok(())
}
