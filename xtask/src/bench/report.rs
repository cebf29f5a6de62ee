//! docs/benchmarks.md: what is measured, how, and the figures of a run.

use std::fmt::Write as _;
use std::fs;

use crate::bench::Bench;
use crate::bench::budget::{Made, Table};
use crate::prove::Machine;

const HEAD: &str = "\
<!-- Written by `cargo xtask bench --report docs/benchmarks.md`. -->

# Benchmarks

`cargo xtask bench` builds the program and measures it from outside, as whole calls of a running `dsh-fs run`, by turns with
another program that does the same work: pair after pair in the same run, so that a slow moment meets both. A ratio is
ours by theirs, the median of the pairs, with the quartiles behind it. Budgets are ratios, because seconds are a
machine's.
";

/// The page for a run.
pub(crate) fn page(made: &[(Bench, Made)], scale: f64, machine: &Machine) -> String {
    let Machine { cores, kernel, file_system } = machine;
    let scale =
        if (scale - 1.0).abs() < f64::EPSILON { "full scale".to_owned() } else { format!("scale {scale}") };
    let mut page = HEAD.to_owned();
    let hardware = hardware().map_or_else(String::new, |hardware| format!(" ({hardware})"));
    let _ = writeln!(
        page,
        "\nThe figures are of one run at {scale}: {cores} cores{hardware}, {kernel}, {file_system}."
    );
    for (bench, made) in made {
        let _ = writeln!(page, "\n{}", text(*bench));
        for figures in &made.tables {
            table(&mut page, figures);
        }
        for note in &made.notes {
            let _ = writeln!(page, "\n* {note}");
        }
        if made.budgets.is_empty() {
            continue;
        }
        let budgets = made.budgets.iter().map(|budget| {
            let verdict = if budget.is_held() { "held" } else { "**missed**" };
            let (measured, limit, unit) = (budget.measured, budget.limit, budget.unit);
            vec![
                budget.what.clone(),
                format!("{measured:.2}{unit}"),
                format!("≤ {limit}{unit}"),
                verdict.to_owned(),
            ]
        });
        table(&mut page, &Table { head: vec!["budget", "measured", "limit", ""], rows: budgets.collect() });
    }
    page
}

/// The processor and the memory, where the kernel tells.
fn hardware() -> Option<String> {
    let processor = fs::read_to_string("/proc/cpuinfo").ok()?;
    let processor =
        processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "))?.1.to_owned();
    let memory = fs::read_to_string("/proc/meminfo").ok()?;
    let kibibytes: u64 = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .ok()?;
    Some(format!("{processor}, {} GiB of memory", kibibytes.div_ceil(1 << 20)))
}

fn table(page: &mut String, Table { head, rows }: &Table) {
    let _ = writeln!(page, "\n| {} |", head.join(" | "));
    let _ = writeln!(page, "|---|{}", "---:|".repeat(head.len().saturating_sub(1)));
    for row in rows {
        let _ = writeln!(page, "| {} |", row.join(" | "));
    }
}

fn text(bench: Bench) -> &'static str {
    match bench {
        Bench::Speed => {
            "\
## Speed

`read`, `write` and `edit` beside the reference (npm `@deepseek-ai/dsh-tool-fs` with its `dsh-fs-local` and
`dsh-fs-observation-policy`), npm `@modelcontextprotocol/server-filesystem`, crate `rust-mcp-filesystem`, and what the system has:
`wc -l`, and a write, fsync, rename and fsync of the folder. `benches/peers` holds the versions and the driver of the reference;
they are installed below the target folder. All are called as running processes, over the same files or equal copies, by turns. An
answer that is not the same work fails the bench: a page must show the same lines, and after edits the file must hold the same
bytes. The reference has no fence, so ours has none here either, except where it says so; it syncs what it writes, the two servers
do not, and they give no totals. Files are page-cached. Memory is `VmHWM` of the process. Where the time of a 10 KB edit goes
is in [decision 22](decisions/0022-a-small-edit-is-two-syncs.md); what bounds a first page of 1 GB and
an edit of 100 MB, in [decision 21](decisions/0021-pages-come-from-an-index.md)."
        }
        Bench::Instructions => {
            "\
## Instructions

Counted by callgrind in a whole `dsh-fs run` with the fence, and taken apart by differences: `cargo xtask bench instructions`
repeats it, and wants valgrind, which Debian has in the package of that name. Unlike times they can be compared between runs."
        }
        Bench::Search => {
            "\
## Search

A tree of 50,000 files and one file of 1 GB, page-cached, made for the run. `grep` against `rg --json` with the same pattern,
its output thrown away; `glob` against `rg --files --sort=modified` with the same pattern and nothing ignored, as the tool has
it. Ours is a call to a program that runs, theirs a process, as a tool that spawns it pays for it; starting `rg` at all is
the first line. Peak memory is of a fresh process for each case (`rg` looked at every millisecond). The hundred searches at
once are pipelined over one MCP connection, each with an answer of its own that is checked."
        }
        Bench::Fence => {
            "\
## Fence

The same calls to two programs that run, one with `dsh-fs-sandbox` in `workspace-write` mode, one with `dsh-fs-local`, each in
a workspace of its own."
        }
    }
}
