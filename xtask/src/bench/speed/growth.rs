//! How cost grows with a file from 1 MB to 10 GB, and with the size of an edit: a table, and that no step is steeper than the
//! file.

use std::fs;
use std::time::Duration;

use anyhow::Context as _;

use crate::bench::budget::Table;
use crate::bench::pairs::median;
use crate::bench::speed::edits::{self, Editor};
use crate::bench::speed::page::Page;
use crate::bench::speed::pages::{Large, MEMORY};
use crate::bench::speed::{Sheet, Stage, time};
use crate::bench::text;

/// Bytes, at full scale; each ten times the one before it.
const SIZES: [(&str, u64); 5] = [
    ("1 MB", 1_000_000),
    ("10 MB", 10_000_000),
    ("100 MB", 100_000_000),
    ("1 GB", 1_000_000_000),
    ("10 GB", 10_000_000_000),
];
/// Edits hold the file in memory.
const EDITED: usize = 3;
/// A file ten times as large may take so much longer. What is beyond 10 is noise, and caches that it outgrows.
const STEP: f64 = 15.0;
/// Below it a step is start-up and pipes.
const MEASURABLE: Duration = Duration::from_millis(2);
const ROUNDS: usize = 5;
const LATER_ROUNDS: usize = 20;
const CHANGES: [(&str, usize); 4] = [("100 B", 100), ("1 KB", 1_000), ("10 KB", 10_000), ("100 KB", 100_000)];

/// Measures it. The file of 1 GB is there already.
pub(crate) fn measure(stage: &Stage<'_>, large: &Large, sheet: &mut Sheet) -> anyhow::Result<()> {
    of_file(stage, large, sheet)?;
    of_change(stage, sheet)
}

fn of_file(stage: &Stage<'_>, large: &Large, sheet: &mut Sheet) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    let (mut firsts, mut edited) = (Vec::new(), Vec::new());
    for (index, (name, size)) in SIZES.into_iter().enumerate() {
        let read = of_reads(stage, large, size)?;
        firsts.push(read.first);
        let mut row = vec![
            name.to_owned(),
            time(read.first),
            time(read.later),
            time(read.last),
            format!("{:.1} MiB", read.memory),
        ];
        if index < EDITED {
            let (took, peak) = of_edits(stage, size)?;
            edited.push(took);
            row.extend([time(took), format!("{peak:.0} MiB")]);
        } else {
            row.extend(["–".to_owned(), "–".to_owned()]);
        }
        rows.push(row);
        if index + 1 == SIZES.len() {
            sheet.budget(
                format!("peak memory after the first and last pages of {name}"),
                read.memory,
                MEMORY,
                " MiB",
            );
        }
    }
    let head =
        vec!["file", "first page", "a later page", "the last page", "peak memory", "edit", "its peak memory"];
    sheet.table(Table { head, rows });
    sheet.budget("first page, a file ten times as large", steepest(&firsts), STEP, "");
    sheet.budget("edit, a file ten times as large", steepest(&edited), STEP, "");
    Ok(())
}

/// The steepest step among those that can be measured.
fn steepest(times: &[Duration]) -> f64 {
    let steps = times.windows(2).filter_map(|pair| match pair {
        [before, after] if *before >= MEASURABLE => Some(after.as_secs_f64() / before.as_secs_f64()),
        _ => None,
    });
    steps.fold(0.0, f64::max)
}

struct Reads {
    first: Duration,
    /// Somewhere in the file.
    later: Duration,
    last: Duration,
    /// MiB.
    memory: f64,
}

fn of_reads(stage: &Stage<'_>, large: &Large, size: u64) -> anyhow::Result<Reads> {
    let (name, lines, total) = file(stage, large, size)?;
    let path = large.folder.join(&name);
    text::settle(&path)?;
    let (mut firsts, mut laters, mut lasts, mut memory) = (Vec::new(), Vec::new(), Vec::new(), 0.0);
    for round in 0..=ROUNDS {
        let mut ours = large.ours(stage)?;
        let first = Page::read(&mut ours, &name, 1)?;
        first.check(1, lines)?;
        // The first round brings the file into the cache.
        if round > 0 {
            firsts.push(first.took);
        }
        for step in 0..LATER_ROUNDS as u64 {
            let offset = (total / LATER_ROUNDS as u64 * step).max(1);
            let page = Page::read(&mut ours, &name, offset)?;
            page.check(offset, lines)?;
            laters.push(page.took);
        }
        let offset = total - 99;
        let last = Page::read(&mut ours, &name, offset)?;
        last.check(offset, lines)?;
        anyhow::ensure!(
            last.whole.contains(&format!("(End of file - total {total} lines)")),
            "not the end of {name}"
        );
        lasts.push(last.took);
        memory = ours.memory()?.peak;
    }
    if name != Large::GB {
        fs::remove_file(path)?;
    }
    Ok(Reads { first: median(firsts), later: median(laters), last: median(lasts), memory })
}

/// Its name, after how many lines it repeats itself, and how many it has.
fn file(stage: &Stage<'_>, large: &Large, size: u64) -> anyhow::Result<(String, u64, u64)> {
    const GB: u64 = 1_000_000_000;
    if size == GB {
        return Ok((Large::GB.to_owned(), large.lines, large.lines));
    }
    let name = "grown.txt".to_owned();
    let path = large.folder.join(&name);
    if size > GB {
        let times = size / GB;
        text::repeat(&path, &large.folder.join(Large::GB), times)?;
        return Ok((name, large.lines, large.lines * times));
    }
    let lines = text::write(&path, stage.bytes(size))?;
    Ok((name, lines, lines))
}

fn of_edits(stage: &Stage<'_>, size: u64) -> anyhow::Result<(Duration, f64)> {
    let original = text::text(usize::try_from(stage.bytes(size))?);
    let (old, new) = edits::middle(&original)?;
    let mut ours = edits::ours(stage, "ours", &original, (&old, &new))?;
    let times = repeated(&mut ours)?;
    ours.check(&original)?;
    Ok((median(times), ours.peer().memory()?.peak))
}

fn repeated(editor: &mut Editor) -> anyhow::Result<Vec<Duration>> {
    (0..ROUNDS).map(|_| editor.edit()).collect()
}

fn of_change(stage: &Stage<'_>, sheet: &mut Sheet) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    let mut times = Vec::new();
    for (name, size) in CHANGES {
        let original = text::text(1_000_000);
        let start = original.len() / 2;
        let start = start + original[start..].find('\n').context("no line")? + 1;
        let end = start + original[start..].char_indices().nth(size).context("too short")?.0;
        let old = &original[start..end];
        let new = old.to_uppercase();
        let mut ours = edits::ours(stage, "ours", &original, (old, &new))?;
        let took = median(repeated(&mut ours)?);
        ours.check(&original)?;
        rows.push(vec![name.to_owned(), time(took)]);
        times.push(took);
    }
    sheet.table(Table { head: vec!["changed text, in a file of 1 MB", "edit"], rows });
    sheet.budget("edit, a change ten times as large", steepest(&times), STEP, "");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::steepest;

    #[test]
    fn the_steepest_step_counts_among_those_that_can_be_measured() {
        let times = [1, 90, 180, 900].map(Duration::from_millis);
        assert!((steepest(&times) - 5.0).abs() < 1e-9);
    }
}
