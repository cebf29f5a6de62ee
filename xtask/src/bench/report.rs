//! docs/benchmarks.md: what is measured, how, and the figures of a run.

use std::fmt::Write as _;

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
    let _ =
        writeln!(page, "\nThe figures are of one run at {scale}: {cores} cores, {kernel}, {file_system}.");
    for (bench, made) in made {
        let _ = writeln!(page, "\n{}", text(*bench));
        for figures in &made.tables {
            table(&mut page, figures);
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

fn table(page: &mut String, Table { head, rows }: &Table) {
    let _ = writeln!(page, "\n| {} |", head.join(" | "));
    let _ = writeln!(page, "|---|{}", "---:|".repeat(head.len().saturating_sub(1)));
    for row in rows {
        let _ = writeln!(page, "| {} |", row.join(" | "));
    }
}

fn text(bench: Bench) -> &'static str {
    match bench {
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
