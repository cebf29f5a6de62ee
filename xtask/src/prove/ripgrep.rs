//! The search tools against the real `rg`: generated trees, generated calls, the same files and the same lines.
//!
//! Each round has a tree, a program and some calls of its own, all from the round's seed, which a failure names:
//! `cargo xtask prove ripgrep --seed N --scale 0.0005` makes that round alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context as _, bail};
use serde_json::{Value as Json, json};

use crate::dice::Dice;
use crate::prove::ground::Ground;
use crate::prove::program::{self, Program};
use crate::prove::tally::Tally;

mod calls;
mod decided;
mod rg;
mod tree;

use calls::Call;
use decided::{Answer, Expected, Row};
use rg::Rg;

pub(crate) use rg::version as rg_version;

const ROUNDS: usize = 2_000;
const CALLS: usize = 10;
/// Lines of a `grep` that are looked up with `read`.
const READ: usize = 2;

const COMPOSITION: &str = "\
- name: dsh-fs-local
- name: dsh-tool-fs
- name: dsh-tool-fs-search
  config:
    sampleOverCapGlobResults: false
    globMaxResults: 1000000
    grepMaxMatches: 1000000
    grepMaxLineBytes: 1000000
    searchMetaMaxBytes: 1000
";

/// What rounds counted.
#[derive(Debug, Default)]
struct Count {
    calls: BTreeMap<&'static str, usize>,
    /// Files listed, lines found, calls refused.
    found: BTreeMap<&'static str, usize>,
    rows: BTreeMap<Row, usize>,
    failures: Vec<String>,
}

/// Makes the proof.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let version = rg_version()?;
    decided::table_is_complete()?;
    let composition = ground.path().join("search.yaml");
    fs::write(&composition, COMPOSITION)?;
    let rounds = ground.scaled(ROUNDS);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let counts = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers)
            .map(|worker| {
                let composition = &composition;
                scope.spawn(move || work(ground, composition, worker, (worker..rounds).step_by(workers)))
            })
            .collect();
        workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    let mut all = Count::default();
    for count in counts {
        all.add(count.map_err(|_| anyhow::anyhow!("a worker panicked"))??);
    }
    tally.figure(format!("rounds against {version}, each with a tree of its own"), rounds);
    for (tool, calls) in &all.calls {
        tally.figure(format!("calls of {tool}, each answered as by rg or as decided"), calls);
    }
    for (what, found) in &all.found {
        tally.figure(*what, found);
    }
    for row in Row::ALL {
        let calls = all.rows.get(&row).copied().unwrap_or_default();
        tally.figure(format!("calls with the decided difference `{}`", row.id()), calls);
        // One round that is made again need not have them all.
        tally.check(calls > 0 || rounds < ROUNDS / 100, || format!("no call met `{}`", row.id()));
    }
    tally.failures.extend(all.failures);
    Ok(())
}

impl Count {
    fn add(&mut self, other: Self) {
        for (tool, calls) in other.calls {
            *self.calls.entry(tool).or_default() += calls;
        }
        for (what, found) in other.found {
            *self.found.entry(what).or_default() += found;
        }
        for (row, calls) in other.rows {
            *self.rows.entry(row).or_default() += calls;
        }
        self.failures.extend(other.failures);
    }
}

fn work(
    ground: &Ground,
    composition: &Path,
    worker: usize,
    rounds: impl Iterator<Item = usize>,
) -> anyhow::Result<Count> {
    let mut count = Count::default();
    for round in rounds {
        let seed = ground.seed() + round as u64;
        make_round(ground, composition, worker, seed, &mut count).with_context(|| format!("seed {seed}"))?;
    }
    Ok(count)
}

fn make_round(
    ground: &Ground,
    composition: &Path,
    worker: usize,
    seed: u64,
    count: &mut Count,
) -> anyhow::Result<()> {
    let mut dice = Dice::new(seed);
    let folder = ground.folder(&format!("search-{worker}"))?;
    let [workspace, outside, home] = ["workspace", "outside", "home"].map(|name| folder.join(name));
    for folder in [&workspace, &outside, &home] {
        fs::create_dir(folder)?;
    }
    fs::write(outside.join("a.rs"), "foo outside\n")?;
    let tree = tree::make(&workspace, &outside, &mut dice)?;
    let rg = Rg { home: &home, cwd: &workspace };
    let mut program = start(ground, composition, &workspace, &home)?;
    for _ in 0..CALLS {
        let call = calls::some(&tree, &workspace, &mut dice);
        let Expected { answer, rows } = decided::expected(&call, &rg)?;
        let answered = program.call(call.tool, call.args())?;
        let mut wrong = Vec::new();
        match found(&call, &answered) {
            Ok(found) => {
                if let Some(difference) = difference(&found, &answer) {
                    wrong.push(difference);
                }
                wrong.extend(out_of_order(&call, answered.canonical(), &workspace));
                wrong.extend(unread(&found, &workspace, &mut program)?);
                count.note(&call, &found, rows);
            }
            Err(error) => wrong.push(format!("{error:#}")),
        }
        let told = |wrong| format!("seed {seed}: {} {}: {wrong}", call.tool, call.args());
        count.failures.extend(wrong.into_iter().map(told));
    }
    program.end()?;
    Ok(())
}

fn start(ground: &Ground, composition: &Path, workspace: &Path, home: &Path) -> anyhow::Result<Program> {
    let mut command: Command = ground.program(workspace);
    command.arg("--compose").arg(composition);
    rg::isolate(&mut command, home);
    Program::start(command)
}

impl Count {
    fn note(&mut self, call: &Call, found: &Answer, rows: BTreeSet<Row>) {
        *self.calls.entry(call.tool).or_default() += 1;
        let (what, number) = match found {
            Answer::Lines(lines) => ("lines found by grep", lines.values().map(Vec::len).sum()),
            Answer::Paths(paths) => ("files found by glob", paths.len()),
            Answer::Refused | Answer::BadPattern | Answer::Failed => ("calls refused", 1),
        };
        *self.found.entry(what).or_default() += number;
        for row in rows {
            *self.rows.entry(row).or_default() += 1;
        }
    }
}

/// What the tool found.
fn found(call: &Call, answered: &program::Answer) -> anyhow::Result<Answer> {
    if answered.is_error() {
        return Ok(match answered.code() {
            "INVALID_ARGS" => Answer::Refused,
            "SEARCH_INVALID_PATTERN" => Answer::BadPattern,
            code if code == "SEARCH_FAILED" || code.starts_with("FS_") => Answer::Failed,
            code => bail!("failed with {code}: {}", answered.content()),
        });
    }
    let value = answered.canonical();
    if call.tool == "glob" {
        let list = value["paths"].as_array().context("no paths")?;
        let paths: BTreeSet<String> = list.iter().filter_map(Json::as_str).map(str::to_owned).collect();
        if paths.len() != list.len() {
            bail!("a path is there twice");
        }
        return Ok(Answer::Paths(paths));
    }
    let mut lines: BTreeMap<String, Vec<(u64, String)>> = BTreeMap::new();
    let mut last = "";
    for matched in value["matches"].as_array().context("no matches")? {
        let path = matched["path"].as_str().context("a match without a path")?;
        let number = matched["lineNumber"].as_u64().context("a match without a line number")?;
        let line = matched["line"].as_str().context("a match without a line")?;
        if path != last && lines.contains_key(path) {
            bail!("{path} is there twice");
        }
        last = path;
        lines.entry(path.to_owned()).or_default().push((number, line.to_owned()));
    }
    Ok(Answer::Lines(lines))
}

/// The first thing that differs, for a person.
fn difference(found: &Answer, expected: &Answer) -> Option<String> {
    if found == expected {
        return None;
    }
    Some(match (found, expected) {
        (Answer::Paths(found), Answer::Paths(expected)) => {
            let extra: Vec<_> = found.difference(expected).take(4).collect();
            let missing: Vec<_> = expected.difference(found).take(4).collect();
            format!("not expected {extra:?}, missing {missing:?}")
        }
        (Answer::Lines(found), Answer::Lines(expected)) => {
            let paths: BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
            let path = paths.into_iter().find(|path| found.get(*path) != expected.get(*path));
            let path = path.cloned().unwrap_or_default();
            let none = Vec::new();
            let found = found.get(&path).unwrap_or(&none);
            let expected = expected.get(&path).unwrap_or(&none);
            let same = found.iter().zip(expected).take_while(|(one, other)| one == other).count();
            let (found, expected) = (told(found, same), told(expected, same));
            format!("in {path:?} after {same} equal lines {found}, expected {expected}")
        }
        _ => format!("{}, expected {}", kind(found), kind(expected)),
    })
}

fn told(lines: &[(u64, String)], from: usize) -> String {
    let Some((number, line)) = lines.get(from) else { return "nothing".to_owned() };
    format!("{number}:{:?}", line.chars().take(60).collect::<String>())
}

fn kind(answer: &Answer) -> String {
    match answer {
        Answer::Lines(lines) => format!("{} files with matches", lines.len()),
        Answer::Paths(paths) => format!("{} paths", paths.len()),
        Answer::Refused => "its arguments refused".to_owned(),
        Answer::BadPattern => "its pattern rejected".to_owned(),
        Answer::Failed => "nothing to search".to_owned(),
    }
}

/// Oldest change first, ties by path; matches by path.
fn out_of_order(call: &Call, value: &Json, workspace: &Path) -> Option<String> {
    let texts = |list: &Json, key: Option<&str>| -> Vec<String> {
        let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
        let text = |item: &Json| key.map_or(item, |key| &item[key]).as_str().map(str::to_owned);
        items.iter().filter_map(text).filter(|path| !path.ends_with(" (name escaped)")).collect()
    };
    let changed = |path: &String| -> Option<SystemTime> {
        workspace.join(path).symlink_metadata().ok()?.modified().ok()
    };
    let pairs: Vec<(Option<SystemTime>, PathBuf)> = if call.tool == "glob" {
        texts(&value["paths"], None).iter().map(|path| (changed(path), PathBuf::from(path))).collect()
    } else {
        texts(&value["matches"], Some("path")).iter().map(|path| (None, PathBuf::from(path))).collect()
    };
    let wrong = pairs.windows(2).find(|pair| pair[0] > pair[1])?;
    Some(format!("{} stands before {}", wrong[0].1.display(), wrong[1].1.display()))
}

/// Some of the paths and lines that `read` does not find as they stand.
fn unread(found: &Answer, workspace: &Path, program: &mut Program) -> anyhow::Result<Vec<String>> {
    let mut wrong = Vec::new();
    let marked = |path: &str| path.ends_with(" (name escaped)");
    match found {
        Answer::Lines(lines) => {
            let one_each = lines.iter().filter_map(|(path, lines)| Some((path, lines.last()?)));
            for (path, (number, line)) in one_each.filter(|(path, _)| !marked(path)).take(READ) {
                let args = json!({"file_path": path, "offset": number, "limit": 1});
                let answer = program.call("read", args)?;
                let text = is_text(&workspace.join(path));
                // A carriage return at the end of a file is no part of a line to `read`.
                let shown = answer.text();
                let same = shown.trim_end_matches(['\r', '\n']) == line.trim_end_matches('\r');
                let cut = shown.len() < line.len();
                if text && (answer.is_error() || !(same || cut)) {
                    wrong.push(format!("read does not find line {number} of {path:?}: {}", answer.content()));
                }
            }
        }
        Answer::Paths(paths) => {
            for path in paths.iter().filter(|path| !marked(path)).take(READ) {
                let answer = program.call("read", json!({"file_path": path}))?;
                if answer.is_error() && answer.code() != "FS_NOT_TEXT" {
                    wrong.push(format!("read does not find {path:?}: {}", answer.content()));
                }
            }
        }
        Answer::Refused | Answer::BadPattern | Answer::Failed => {}
    }
    Ok(wrong)
}

fn is_text(file: &Path) -> bool {
    fs::read(file).is_ok_and(|bytes| {
        std::str::from_utf8(&bytes).is_ok() && !bytes.iter().take(8192).any(|byte| *byte == 0)
    })
}
