//! `cargo xtask`: checks this repository, and writes the pages that are derived from code.
#![expect(clippy::print_stdout, reason = "a command line")]

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use xtask::bench::{self, bench};
use xtask::prove::{Options, prove};
use xtask::{Check, Freshness, Page, Verdict, home};

/// Checks this repository, and writes the pages that are derived from code.
#[derive(Debug, Parser)]
#[command(name = "xtask", bin_name = "cargo xtask")]
struct Line {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check the rules of the repository, all of them or those that are named
    ///
    /// `cargo test --package xtask` makes the same checks.
    Check {
        /// What to check
        #[arg(value_enum)]
        checks: Vec<Check>,
    },
    /// Write the pages that are derived from code, all of them or those that are named
    Generate {
        /// What to write
        #[arg(value_enum)]
        pages: Vec<Page>,
        /// Write nothing; fail if a page in the repository is not the one that the code gives
        #[arg(long)]
        check: bool,
    },
    /// Show on a real disk that a file holds the old bytes or the new ones, whatever happens
    ///
    /// Builds the program and tries it out as docs/reliability.md tells. Wants root, strace, mkfs.xfs, mkfs.btrfs,
    /// setfacl and rg; `./test` installs them.
    Prove(Options),
    /// Measure the program side by side with others that do the same work
    ///
    /// Builds the program and holds its figures against the budgets, as docs/benchmarks.md tells. Wants rg, which `./test`
    /// installs, valgrind, npm for what it is measured beside, and at full scale 15 GB of disk and as much memory.
    Bench(bench::Options),
}

fn main() -> anyhow::Result<ExitCode> {
    let good = match Line::parse().command {
        Command::Check { checks } => check(&named_or_all(checks))?,
        Command::Generate { pages, check } => generate(&named_or_all(pages), check)?,
        Command::Prove(options) => prove(&options, |line| println!("{line}"))?,
        Command::Bench(options) => bench(&options, |line| println!("{line}"))?,
    };
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn check(checks: &[Check]) -> anyhow::Result<bool> {
    let mut good = true;
    for check in checks {
        let name = name(check);
        match check.run(&home())? {
            Verdict::Held => println!("{name}: held"),
            Verdict::NotMade(why) => println!("{name}: not made, {why}"),
            Verdict::Broken(problems) => {
                good = false;
                println!("{name}: broken");
                for problem in problems {
                    println!("  {problem}");
                }
            }
        }
    }
    Ok(good)
}

fn generate(pages: &[Page], check: bool) -> anyhow::Result<bool> {
    let mut good = true;
    for page in pages {
        match page.freshness(&home())? {
            Freshness::Current => println!("{}: current", page.path()),
            Freshness::Outdated if check => {
                good = false;
                println!("{}: out of date; run `cargo xtask generate {}`", page.path(), name(page));
            }
            Freshness::Outdated => {
                page.write(&home())?;
                println!("{}: written", page.path());
            }
        }
    }
    Ok(good)
}

fn named_or_all<T: ValueEnum + Clone>(named: Vec<T>) -> Vec<T> {
    if named.is_empty() { T::value_variants().to_vec() } else { named }
}

fn name<T: ValueEnum>(value: &T) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
