//! Eight processes edit one object in a store, each after a read; then the same over a connection that breaks, waits and
//! answers with errors of its own. Every edit is applied, or reported stale where it was guarded; what was applied is there,
//! once, and nothing else is.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use serde_json::json;

use crate::prove::Store;
use crate::prove::bad_connection::BadConnection;
use crate::prove::ground::Ground;
use crate::prove::program::{Answer, Program};
use crate::prove::tally::Tally;

const PROCESSES: usize = 8;
const EDITS: usize = 100;

/// Makes the proof.
pub(crate) fn prove(ground: &Ground, store: &Store, tally: &mut Tally) -> anyhow::Result<()> {
    rivals(ground, store, "a good connection", &store.endpoint, tally)?;
    let bad = BadConnection::start(&store.endpoint, ground.seed())?;
    let endpoint = bad.endpoint();
    rivals(ground, store, "a bad connection", &endpoint, tally)?;
    let (requests, disturbed) = bad.requests();
    tally.check(disturbed > 0, || "objects: the bad connection was a good one".to_owned());
    tally.figure("requests over the bad connection", requests);
    tally.figure(
        "of them cut, delayed, or answered with 500 or 503 (before or after they were made)",
        disturbed,
    );
    Ok(())
}

/// What a process is told where the connection was too bad, and nothing was changed for sure.
const FAILED: &str = "FS_IO_ERROR";
/// What such a failure says if nobody knows.
const IN_DOUBT: &str = "does not say whether the change was made";
/// How often a read is made that fails.
const READS: usize = 20;

/// What became of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Became {
    Applied,
    Stale,
    Failed,
    InDoubt,
}

/// What became of the edits of one process, in order.
#[derive(Default)]
struct Edits {
    became: Vec<Became>,
    problems: Vec<String>,
    /// Reads that failed and were made again.
    reads_failed: usize,
}

/// One run: `store` is where the file is laid and looked at, `endpoint` where the rivals work.
fn rivals(
    ground: &Ground,
    store: &Store,
    name: &str,
    endpoint: &str,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let folder = ground.folder("objects")?;
    let prefix = format!("{}/{}", name.replace(' ', "-"), std::process::id());
    // A bad connection would already spoil the probe; that one is made by who lays the file.
    let compose = |name, probe, policy| compose(&folder.join(name), store, &prefix, probe, policy);
    let probing = compose("probing.json", true, true)?;
    let working = [compose("guarded.json", false, true)?, compose("unguarded.json", false, false)?];
    let mut text = String::new();
    for process in 0..PROCESSES {
        for edit in 0..EDITS {
            writeln!(text, "{}|", line(process, edit))?;
        }
    }
    let mut layer = Program::start(program(ground, &probing, &store.endpoint))?;
    layer.must("write", json!({"file_path": "shared.txt", "content": text}))?;
    let results = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..PROCESSES)
            .map(|process| {
                let compose = &working[usize::from(!is_guarded(process))];
                scope.spawn(move || work(Program::start(program(ground, compose, endpoint))?, process))
            })
            .collect();
        workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    let end = layer.must("read", json!({"file_path": "shared.txt"}))?.text();
    layer.end()?;
    let lines: Vec<&str> = end.lines().collect();
    let (mut all, mut reads_failed) = (Vec::new(), 0);
    for (process, result) in results.into_iter().enumerate() {
        let result = result.map_err(|_| anyhow::anyhow!("a worker panicked"))?.context(name.to_owned())?;
        tally.failures.extend(result.problems);
        reads_failed += result.reads_failed;
        for (edit, &became) in result.became.iter().enumerate() {
            let found = lines.get(process * EDITS + edit).copied().unwrap_or_default();
            let line = line(process, edit);
            let is_new = found == format!("{line}+|");
            let is_right = match became {
                Became::Applied => is_new,
                Became::Stale | Became::Failed => found == format!("{line}|"),
                Became::InDoubt => is_new || found == format!("{line}|"),
            };
            tally.check(is_right, || format!("{name}: \"{found}\", and its edit became {became:?}"));
            tally.check(became != Became::Stale || is_guarded(process), || {
                format!("{name}: an edit without a guard was stale")
            });
        }
        all.extend(result.became);
    }
    let count = |what| all.iter().filter(|became| **became == what).count();
    tally.check(lines.len() == PROCESSES * EDITS, || format!("{name}: {} lines at the end", lines.len()));
    tally.check(count(Became::Applied) > 0, || format!("{name}: no edit was applied"));
    tally.figure(format!("edits by {PROCESSES} processes over {name}"), all.len());
    tally.figure("of them applied, and in the object once at the end", count(Became::Applied));
    tally.figure("of them reported stale, and not there", count(Became::Stale));
    tally.figure("of them reported failed, and not there", count(Became::Failed));
    tally.figure("of them reported as in doubt", count(Became::InDoubt));
    tally.figure("reads that failed, and were made again", reads_failed);
    Ok(())
}

fn line(process: usize, edit: usize) -> String {
    format!("p{process} e{edit:03} ")
}

/// Every other rival has no guard: its edits apply to whatever the object holds, and are tried again.
fn is_guarded(process: usize) -> bool {
    process.is_multiple_of(2)
}

fn work(mut program: Program, process: usize) -> anyhow::Result<Edits> {
    let mut result = Edits::default();
    for edit in 0..EDITS {
        let line = line(process, edit);
        let window = json!({"file_path": "shared.txt", "offset": process * EDITS + edit + 1, "limit": 1});
        for _ in 0..READS {
            if !program.call("read", window.clone())?.is_error() {
                break;
            }
            result.reads_failed += 1;
        }
        // What is applied twice shows.
        let change = json!({"file_path": "shared.txt", "old_string": line, "new_string": format!("{line}+")});
        let answer = program.call("edit", change)?;
        let became = became(&answer);
        result.problems.extend(became.is_none().then(|| format!("objects: {}", answer.content())));
        result.became.push(became.unwrap_or(Became::Failed));
    }
    program.end()?;
    Ok(result)
}

fn became(answer: &Answer) -> Option<Became> {
    match answer.code() {
        _ if !answer.is_error() => Some(Became::Applied),
        "FS_STALE_VERSION" => Some(Became::Stale),
        FAILED if answer.content().contains(IN_DOUBT) => Some(Became::InDoubt),
        FAILED => Some(Became::Failed),
        _ => None,
    }
}

/// The composition file of a workspace.
fn compose(file: &Path, store: &Store, prefix: &str, probe: bool, policy: bool) -> anyhow::Result<PathBuf> {
    let url = format!("{}/{prefix}", store.url.trim_end_matches('/'));
    let mut rows = vec![json!({"name": "dsh-fs-object", "config": {"url": url, "probe": probe}})];
    if policy {
        rows.push(json!({"name": "dsh-fs-observation-policy"}));
    }
    rows.push(json!({"name": "dsh-tool-fs"}));
    fs::write(file, serde_json::Value::from(rows).to_string())?;
    Ok(file.to_owned())
}

/// The program with a workspace at an endpoint. Which of the two variables counts is for the URL to say.
fn program(ground: &Ground, compose: &Path, endpoint: &str) -> Command {
    let mut command = Command::new(ground.path().join("dsh-fs"));
    command.args(["run", "--values", "--compose"]).arg(compose).env_remove("DSH_LOG").current_dir("/");
    command.env("AWS_ENDPOINT", endpoint).env("AZURITE_BLOB_STORAGE_URL", endpoint);
    command
}
