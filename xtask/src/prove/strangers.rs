//! Strangers that take no lock: one renames over the file, one rewrites it in place, one does that and restores the
//! times. Each writes a text of its own every time and keeps a log; [`History`] judges.
//!
//! The strangers take turns among themselves (it is not their quarrel that is looked at), so that their writes have an
//! order. Before each write the file is looked at: what is there must be what the last stranger wrote, or come from
//! it by edits that were applied. After a write in place the stranger looks whether the file that it wrote to still has
//! the name: if so, the write has landed. If not, it went into a file that our publication had taken away while the
//! stranger held it open, which nobody can promise anything about; such a write may be gone, any other may not.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::prove::ground::Ground;
use crate::prove::history::{Call, History, Outcome, Write};
use crate::prove::program::Program;
use crate::prove::tally::Tally;

const CALLS: usize = 4_000;
const PROCESSES: usize = 2;
/// How often a look is repeated until two in a row are equal: a look may meet a candidate that is then withdrawn.
const LOOKS: usize = 50;

#[derive(Clone, Copy, Debug)]
enum Stranger {
    Renames,
    Rewrites,
    RewritesAndRestores,
}

const STRANGERS: [(Stranger, &str); 3] = [
    (Stranger::Renames, "stranger R"),
    (Stranger::Rewrites, "stranger W"),
    (Stranger::RewritesAndRestores, "stranger T"),
];

/// Makes this part of the proof.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let workspace = ground.folder("strangers")?;
    let file = workspace.join("a.txt");
    let initial = text("the beginning");
    fs::write(&file, &initial)?;
    let calls = ground.scaled(CALLS);
    let began = Instant::now();
    let over = AtomicBool::new(false);
    let log = Mutex::new(Vec::new());
    let (ours, theirs) = std::thread::scope(|scope| {
        let strangers: Vec<_> = STRANGERS
            .into_iter()
            .zip(1..)
            .map(|((stranger, name), seed)| {
                let (file, over, log) = (&file, &over, &log);
                scope.spawn(move || interfere(stranger, name, seed, file, log, over, began))
            })
            .collect();
        let ours: Vec<_> = (0..PROCESSES)
            .map(|process| {
                let workspace = &workspace;
                scope.spawn(move || work(ground, workspace, process, calls, began))
            })
            .collect();
        let ours: Vec<_> = ours.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        over.store(true, Ordering::Relaxed);
        (ours, strangers.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>())
    });
    for result in theirs {
        result.map_err(|_| anyhow::anyhow!("a stranger panicked"))??;
    }
    let mut all = Vec::new();
    for result in ours {
        all.extend(result.map_err(|_| anyhow::anyhow!("a worker panicked"))??);
    }
    let writes = log.into_inner().unwrap_or_else(PoisonError::into_inner);
    let end = look(&file)?;
    let kept = kept(&workspace, &file)?;
    tally.add(History { initial, writes, calls: all, end, kept }.judge());
    Ok(())
}

/// Two lines, always of one size, well below a page. The second one tells halves of two texts apart.
fn text(id: &str) -> String {
    format!("id {id:>28}\n{}\n", format!("{id:>28}/").repeat(20))
}

/// As an edit changes it: the first line only.
fn edited(text: &str, id: &str) -> Option<(String, String, String)> {
    let (old, rest) = text.split_once('\n')?;
    let new = format!("id {id:>28}");
    Some((old.to_owned(), new.clone(), format!("{new}\n{rest}")))
}

fn interfere(
    stranger: Stranger,
    name: &str,
    seed: u64,
    file: &Path,
    log: &Mutex<Vec<Write>>,
    over: &AtomicBool,
    began: Instant,
) -> anyhow::Result<()> {
    let mut dice = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for number in 0.. {
        if over.load(Ordering::Relaxed) {
            break;
        }
        // Bursts, so that writes meet within one publication, and rests, so that edits can succeed.
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let pause =
            if (dice >> 33).is_multiple_of(2) { (dice >> 35) % 300 } else { 2_000 + (dice >> 35) % 9_000 };
        std::thread::sleep(Duration::from_micros(pause));
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let found = look(file)?;
        let text = text(&format!("{name} {number:08}"));
        let start = began.elapsed();
        let landed = match stranger {
            Stranger::Renames => rename_over(file, &text).map(|()| true)?,
            Stranger::Rewrites => rewrite(file, &text, false)?,
            Stranger::RewritesAndRestores => rewrite(file, &text, true)?,
        };
        log.push(Write { text, seen: found, start, end: began.elapsed(), landed });
    }
    Ok(())
}

fn rename_over(file: &Path, text: &str) -> anyhow::Result<()> {
    let beside = file.with_extension("stranger");
    fs::write(&beside, text)?;
    Ok(fs::rename(beside, file)?)
}

/// In one write. Gives whether it landed in the file that has the name.
fn rewrite(file: &Path, text: &str, restore: bool) -> anyhow::Result<bool> {
    let open = OpenOptions::new().write(true).open(file)?;
    let before = open.metadata()?;
    open.write_all_at(text.as_bytes(), 0)?;
    if restore {
        open.set_times(FileTimes::new().set_modified(before.modified()?).set_accessed(before.accessed()?))?;
    }
    // A candidate may have the name for a moment.
    for _ in 0..LOOKS {
        if fs::metadata(file)?.ino() == before.ino() {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    Ok(false)
}

fn look(file: &Path) -> anyhow::Result<String> {
    let mut last = fs::read_to_string(file)?;
    for _ in 0..LOOKS {
        std::thread::sleep(Duration::from_micros(100));
        let next = fs::read_to_string(file)?;
        if next == last {
            break;
        }
        last = next;
    }
    Ok(last)
}

/// By turns an edit and a write, each after a read.
fn work(
    ground: &Ground,
    workspace: &Path,
    process: usize,
    calls: usize,
    began: Instant,
) -> anyhow::Result<Vec<Call>> {
    let mut program = Program::start(ground.program(workspace))?;
    let mut done = Vec::new();
    for number in 0..calls {
        let read_start = began.elapsed();
        let read = program.must("read", json!({"file_path": "a.txt"}))?.text();
        let id = format!("ours {process} {number:08}");
        let Some((old, new, after)) = edited(&read, &id) else { continue };
        let start = began.elapsed();
        let (after, answer) = if number % 2 == 0 {
            let args = json!({"file_path": "a.txt", "old_string": old, "new_string": new});
            (after, program.call("edit", args)?)
        } else {
            (text(&id), program.call("write", json!({"file_path": "a.txt", "content": text(&id)}))?)
        };
        let end = began.elapsed();
        let outcome = if answer.is_error() {
            Outcome::Refused { code: answer.code().to_owned(), message: answer.content().to_owned() }
        } else {
            Outcome::Applied {
                before: answer.value("before").to_owned(),
                after: answer.value("after").to_owned(),
            }
        };
        done.push(Call { read_start, start, end, candidate: after, outcome });
    }
    program.end()?;
    Ok(done)
}

/// What lies beside the file under a name that an error told.
fn kept(workspace: &Path, file: &Path) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let mut kept = Vec::new();
    for entry in fs::read_dir(workspace)? {
        let path = entry?.path();
        if path != file {
            let text = std::io::read_to_string(File::open(&path)?)?;
            kept.push((path, text));
        }
    }
    Ok(kept)
}
