//! The benches: what the built program costs, side by side with another program that does the same work in the same run.
//!
//! A single run of one program says what the machine did that day; a ratio of two that took turns holds. Budgets are
//! ratios therefore, and a missed one fails the bench.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::ValueEnum;

use crate::prove::{Ground, Machine, build};

mod budget;
mod fence;
mod instructions;
mod pairs;
mod peer;
mod peers;
mod report;
mod search;
mod speed;
mod text;

use budget::Made;

/// Something that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Bench {
    /// read, write and edit against the reference, two published servers and the system's own programs
    Speed,
    /// How many instructions a start, a read and an edit take
    Instructions,
    /// grep and glob against rg: 50,000 files, and one of 1 GB
    Search,
    /// An edit and a read, fenced against not fenced
    Fence,
}

/// How it is measured.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// What; without a name, everything
    #[arg(value_enum)]
    pub benches: Vec<Bench>,
    /// How much of it: 1 is what docs/benchmarks.md reports
    #[arg(long, default_value_t = 1.0)]
    pub scale: f64,
    /// Write the figures into this page, if everything was measured
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// The program; without it, a release build of this repository
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// A folder on the disk to work in
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    pub place: PathBuf,
}

impl Bench {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::Instructions => "instructions",
            Self::Search => "search",
            Self::Fence => "fence",
        }
    }

    fn measure(self, ground: &Ground, say: fn(&str)) -> anyhow::Result<Made> {
        match self {
            Self::Speed => speed::measure(ground, say),
            Self::Instructions => instructions::measure(ground, say),
            Self::Search => search::measure(ground, say),
            Self::Fence => fence::measure(ground, say),
        }
    }
}

/// Measures and says on the way what comes out. `false`: a budget is missed.
pub fn bench(options: &Options, say: fn(&str)) -> anyhow::Result<bool> {
    ensure!(options.scale > 0.0 && options.scale <= 1.0, "--scale is above 0 and at most 1");
    let program = options.program.clone().map_or_else(build, Ok)?;
    let ground = Ground::new(&options.place, &program, options.scale)?;
    let all = Bench::value_variants();
    let benches = if options.benches.is_empty() { all } else { &options.benches };
    let complete = all.iter().all(|bench| benches.contains(bench));
    ensure!(options.report.is_none() || complete, "--report wants all benches");
    let mut made = Vec::new();
    for &bench in benches {
        let began = Instant::now();
        say(&format!("{}:", bench.name()));
        let measured = bench.measure(&ground, say)?;
        measured.budgets.iter().for_each(|budget| say(&format!("  {budget}")));
        say(&format!("{}: {:.0} s", bench.name(), began.elapsed().as_secs_f64()));
        made.push((bench, measured));
    }
    if let Some(file) = &options.report {
        let text = report::page(&made, options.scale, &Machine::this(&ground)?);
        fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
        say(&format!("{} is written", file.display()));
    }
    Ok(made.iter().all(|(_, made)| made.budgets.iter().all(budget::Budget::is_held)))
}
