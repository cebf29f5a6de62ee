//! `grep` and `glob` against `rg`.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value as Json, json};

use crate::bench::budget::{Budget, Made, Table};
use crate::bench::pairs::{Pairs, milliseconds, time};
use crate::prove::{Ground, Program, peak_memory};

mod at_once;
mod cancelled;
mod tree;

use tree::{Places, WORD};

const GREP: f64 = 1.1;
const GLOB: f64 = 0.6;
const ROUNDS: usize = 15;
/// In the large file.
const FEW_ROUNDS: usize = 7;

struct Case {
    what: &'static str,
    tool: &'static str,
    pattern: &'static str,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Files,
    Large,
}

const fn case(what: &'static str, tool: &'static str, pattern: &'static str, place: Place) -> Case {
    Case { what, tool, pattern, place }
}

const CASES: [Case; 13] = [
    case("rare literal", "grep", tree::RARE, Place::Files),
    case("no match", "grep", "never_written_anywhere", Place::Files),
    case("common word", "grep", "return", Place::Files),
    case("regex", "grep", r"fn \w+_handler\(\w*\)", Place::Files),
    case("case class", "grep", "[Tt]imeout", Place::Files),
    case("rare literal", "grep", tree::RARE, Place::Large),
    case("no match", "grep", "never_written_anywhere", Place::Large),
    case("750,000 lines", "grep", WORD, Place::Large),
    case("regex", "grep", r"fn \w+_handler\(\w*\)", Place::Large),
    case("case class", "grep", "[Tt]imeout", Place::Large),
    case("`*`", "glob", "*", Place::Files),
    case("`*.rs`", "glob", "*.rs", Place::Files),
    case("deep, anchored", "glob", "part3/**/inner/unit_*.rs", Place::Files),
];

impl Case {
    fn name(&self) -> String {
        let place = if self.place == Place::Files { "50,000 files" } else { "1 GB" };
        format!("{}, {place}: {}", self.tool, self.what)
    }

    fn limit(&self) -> f64 {
        if self.tool == "grep" { GREP } else { GLOB }
    }

    fn args(&self) -> Json {
        json!({"pattern": self.pattern})
    }

    fn folder<'a>(&self, places: &'a Places) -> &'a Path {
        if self.place == Place::Files { &places.files } else { &places.large }
    }

    /// The same work.
    fn rg(&self, places: &Places) -> Command {
        let mut command = Command::new("rg");
        command.arg("--no-config");
        if self.tool == "grep" {
            command.arg("--json").arg(format!("--regexp={}", self.pattern));
        } else {
            command.args(["--files", "--sort=modified", "--no-ignore", "--hidden"]);
            command.arg(format!("--glob={}", self.pattern));
            for name in [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"] {
                command.arg(format!("--glob=!**/{name}")).arg(format!("--glob=!**/{name}/**"));
            }
        }
        command
            .current_dir(self.folder(places))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }
}

/// Measures all of it.
pub(crate) fn measure(ground: &Ground, say: fn(&str)) -> anyhow::Result<Made> {
    let rg = crate::prove::rg_version()?;
    let places = tree::make(ground)?;
    let mut files = Program::start(ground.command(&["run"], &places.files))?;
    let mut large = Program::start(ground.command(&["run"], &places.large))?;
    let mut made = Made::default();
    let start = Pairs::measure(
        ROUNDS,
        || Ok(()),
        || end(&mut Command::new("rg").arg("--version").stdout(Stdio::null()).spawn()?),
    )?;
    let started = milliseconds(start.medians().1);
    let mut rows = vec![vec![
        format!("starting {rg}"),
        String::new(),
        started,
        String::new(),
        String::new(),
        String::new(),
    ]];
    for case in &CASES {
        let (program, rounds) = match case.place {
            Place::Files => (&mut files, ROUNDS),
            Place::Large => (&mut large, FEW_ROUNDS),
        };
        let pairs = Pairs::measure(
            rounds,
            || program.must(case.tool, case.args()).map(drop),
            || end(&mut case.rg(&places).spawn().context("cannot start rg")?),
        )?;
        let (ours, theirs) = pairs.medians();
        let (ratio, low, high) = pairs.ratio();
        let memory = (our_peak(ground, case, &places)?, their_peak(case, &places)?);
        rows.push(vec![
            case.name(),
            milliseconds(ours),
            milliseconds(theirs),
            format!("{ratio:.2} ({low:.2}–{high:.2})"),
            mebibytes(memory.0),
            mebibytes(memory.1),
        ]);
        say(&format!("  {}", rows[rows.len() - 1].join("  ")));
        let what = case.name();
        made.budgets.push(Budget { what, measured: ratio, limit: case.limit(), unit: "" });
    }
    made.tables.push(Table { head: vec!["work", "dsh-fs", "rg", "ratio", "peak memory", "of rg"], rows });
    made.tables.push(first_page(ground, &places)?);
    at_once::measure(ground, &places, &mut made)?;
    cancelled::measure(ground, &places, &mut made)?;
    for table in &made.tables[1..] {
        table.rows.iter().for_each(|row| say(&format!("  {}", row.join("  "))));
    }
    Ok(made)
}

fn end(child: &mut Child) -> anyhow::Result<()> {
    let status = child.wait()?;
    ensure!(matches!(status.code(), Some(0 | 1)), "rg ended with {status}");
    Ok(())
}

fn our_peak(ground: &Ground, case: &Case, places: &Places) -> anyhow::Result<u64> {
    let mut program = Program::start(ground.command(&["run"], case.folder(places)))?;
    program.must(case.tool, case.args())?;
    peak_memory(program.id())
}

/// The kernel keeps no record of a process that has ended, so this one is looked at until then.
fn their_peak(case: &Case, places: &Places) -> anyhow::Result<u64> {
    let mut child = case.rg(places).spawn().context("cannot start rg")?;
    let mut peak = 0;
    loop {
        // It has none any more while it ends.
        peak = peak_memory(child.id()).map_or(peak, |now| now.max(peak));
        if child.try_wait()?.is_some() {
            return Ok(peak);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The first call of a process that finds more than it can show.
fn first_page(ground: &Ground, places: &Places) -> anyhow::Result<Table> {
    let mut program = Program::start(ground.command(&["run"], &places.large))?;
    let mut content = String::new();
    let took = time(|| {
        program.must("grep", json!({"pattern": WORD})).map(|answer| answer.content().clone_into(&mut content))
    })?;
    let found = content.lines().next().unwrap_or_default();
    if !found.ends_with(&format!("of {} matches", places.marked)) {
        bail!("{} lines match, but grep says: {found}", places.marked);
    }
    let peak = mebibytes(peak_memory(program.id())?);
    Ok(Table {
        head: vec!["first page", "time", "peak memory"],
        rows: vec![vec![format!("grep, 1 GB: {found}"), milliseconds(took), peak]],
    })
}

/// From KiB.
fn mebibytes(memory: u64) -> String {
    format!("{} MiB", memory.div_ceil(1024))
}
