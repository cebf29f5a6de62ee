//! Swap race: a rival exchanges folders and files of the workspace for links to a tree outside, as fast as it can, while
//! the tools write and read. Nothing outside may change, and nothing from outside may be told.
//!
//! The same is then tried without a fence, where it must succeed: a rival that never gets through shows nothing.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use rustix::fs::{RenameFlags, readlinkat, renameat, renameat_with, symlinkat};
use rustix::io::Errno;
use serde_json::{Value as Json, json};

use crate::dice::Dice;
use crate::prove::ground::Ground;
use crate::prove::program::{Answer, Program};
use crate::prove::tally::Tally;

const CALLS: usize = 20_000;
/// In every file outside, and nowhere else.
const SECRET: &str = "secret-of-the-outside";
/// In the name of a file that is only outside.
const NAME: &str = "only-outside";
/// Without syncs there are more calls in the same time; the fence is the same.
const FENCE: &str = "dsh-fs-sandbox\n  config: { cwd: w, mode: workspace-write, durability: rename";
const NO_FENCE: &str = "dsh-fs-local\n  config: { cwd: w, durability: rename";
const TOOLS: &str =
    " }\n- name: dsh-tool-fs\n- name: dsh-tool-fs-search\n  config: { sampleOverCapGlobResults: true }\n";

/// Makes the proof.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let open =
        ["/tmp".into(), std::env::temp_dir()].map(|folder: PathBuf| folder.canonicalize().unwrap_or(folder));
    ensure!(
        !open.iter().any(|folder| ground.path().starts_with(folder)),
        "wants a --place that is not below /tmp or TMPDIR, where every fence lets write"
    );
    let calls = ground.scaled(CALLS);
    for (what, rows, make) in [
        ("mutations", FENCE.to_owned(), mutation as Make),
        ("reads", format!("{FENCE}, readRoots: [w]"), read),
    ] {
        let fenced = Race::new(ground, what, &rows)?.run(calls, make, |_| false)?;
        tally.figure(format!("{what} against a rival that swaps"), fenced.calls);
        tally.figure("swaps meanwhile", fenced.swaps);
        tally.figure("of the calls: done", fenced.done);
        tally.figure("of the calls: refused by the fence", fenced.denied);
        tally.figure("files outside that were changed, made or removed", fenced.changed.len());
        tally.figure("answers with something from outside", fenced.told.len());
        let escapes = fenced.changed.iter().chain(&fenced.told);
        tally.failures.extend(escapes.map(|how| format!("{what}: {how}")));
        tally.check(fenced.done > 0 && fenced.denied > 0, || {
            format!("{what}: the rival did not get in the way")
        });
    }
    for (what, make) in [("mutations", mutation as Make), ("reads", read)] {
        let unfenced = Race::new(ground, what, NO_FENCE)?.run(calls, make, Escapes::any)?;
        tally.figure(format!("{what} without a fence until one escaped"), unfenced.calls);
        tally.check(unfenced.any(), || format!("{what}: the rival does not get out where there is no fence"));
    }
    Ok(())
}

type Make = fn(usize) -> (&'static str, Json);

/// A workspace `w`, the tree `out` beside it, and a program at work in `w`.
struct Race {
    workspace: PathBuf,
    outside: PathBuf,
    program: Program,
}

/// What came of it.
#[derive(Default)]
struct Escapes {
    calls: usize,
    done: usize,
    denied: usize,
    swaps: usize,
    changed: Vec<String>,
    told: Vec<String>,
}

impl Escapes {
    fn any(&self) -> bool {
        !self.changed.is_empty() || !self.told.is_empty()
    }

    fn hear(&mut self, call: &str, answer: &Answer) {
        self.calls += 1;
        self.done += usize::from(!answer.is_error());
        self.denied += usize::from(answer.code() == "FS_SANDBOX_DENIED");
        let text = answer.json().to_string();
        if text.contains(SECRET) || text.contains(NAME) {
            let text: String = text.chars().take(200).collect();
            self.told.push(format!("{call} told {text}"));
        }
    }
}

impl Race {
    fn new(ground: &Ground, what: &str, rows: &str) -> anyhow::Result<Self> {
        let base = ground.folder(&format!("escape-{what}"))?;
        let (workspace, outside) = (base.join("w"), base.join("out"));
        for (tree, line) in [(&workspace, "inside"), (&outside, SECRET)] {
            for folder in ["d", "p/q"] {
                fs::create_dir_all(tree.join(folder))?;
                fs::write(tree.join(folder).join("f.txt"), format!("{line}\nturn a\n"))?;
            }
            fs::write(tree.join("leaf.txt"), format!("{line}\nturn a\n"))?;
        }
        fs::write(outside.join("d").join(format!("{NAME}.txt")), SECRET)?;
        let compose = base.join("compose.yaml");
        fs::write(&compose, format!("- name: {rows}{TOOLS}"))?;
        let compose = compose.to_str().context("a path that is not UTF-8")?;
        let program = Program::start(ground.command(&["run", "--values", "--compose", compose], &workspace))?;
        Ok(Self { workspace, outside, program })
    }

    fn run(mut self, calls: usize, make: Make, enough: fn(&Escapes) -> bool) -> anyhow::Result<Escapes> {
        let before = look(&self.outside)?;
        let over = AtomicBool::new(false);
        let swaps = AtomicUsize::new(0);
        let links = self.links()?;
        let mut escapes = std::thread::scope(|scope| {
            let rivals: Vec<_> = links
                .iter()
                .zip(1..)
                .map(|(pairs, seed)| {
                    let (over, swaps) = (&over, &swaps);
                    scope.spawn(move || swap(pairs, seed, over, swaps))
                })
                .collect();
            let escapes = self.call(calls, make, &before, enough);
            over.store(true, Ordering::Relaxed);
            for rival in rivals {
                rival.join().map_err(|_| anyhow::anyhow!("a rival panicked"))??;
            }
            escapes
        })?;
        escapes.swaps = swaps.into_inner();
        escapes.changed = changes(&before, &look(&self.outside)?);
        self.program.end()?;
        Ok(escapes)
    }

    fn call(
        &mut self,
        calls: usize,
        make: Make,
        before: &Looked,
        enough: fn(&Escapes) -> bool,
    ) -> anyhow::Result<Escapes> {
        let mut escapes = Escapes::default();
        for number in 0..calls {
            let (tool, args) = make(number);
            let call = format!("{tool} {args}");
            let answer = self.program.call(tool, args)?;
            escapes.hear(&call, &answer);
            // The whole tree is looked at only now and then: every look costs as much as some calls.
            if number % 64 == 63 {
                escapes.changed = changes(before, &look(&self.outside)?);
                if enough(&escapes) {
                    break;
                }
            }
        }
        Ok(escapes)
    }

    /// What each rival exchanges: a name in the workspace, and a link to its like outside.
    fn links(&self) -> anyhow::Result<[Vec<Pair>; 2]> {
        let aside = self.workspace.join(".aside");
        fs::create_dir(&aside)?;
        let pair = |name: &str| -> anyhow::Result<Pair> {
            let link = name.replace('/', "-");
            let target = self.outside.join(name);
            symlink(&target, aside.join(&link))?;
            let (folder, name) = name.rsplit_once('/').unwrap_or((".", name));
            let folder = File::open(self.workspace.join(folder))?;
            Ok(Pair { folder, name: name.to_owned(), aside: File::open(&aside)?, link, target })
        };
        Ok([vec![pair("d")?, pair("p")?], vec![pair("leaf.txt")?, pair("p/q/f.txt")?]])
    }
}

/// Two names that are exchanged. Their folders are held, so that no swap of another rival leads this one outside.
struct Pair {
    folder: File,
    name: String,
    aside: File,
    link: String,
    target: PathBuf,
}

impl Pair {
    fn exchange(&self) -> rustix::io::Result<()> {
        renameat_with(
            &self.aside,
            self.link.as_str(),
            &self.folder,
            self.name.as_str(),
            RenameFlags::EXCHANGE,
        )
    }

    /// A write may have replaced the link just when it had the name: that is not outside.
    fn renew(&self) -> rustix::io::Result<()> {
        let is_link = |folder: &File, name: &str| readlinkat(folder, name, Vec::new()).is_ok();
        if is_link(&self.folder, &self.name) || is_link(&self.aside, &self.link) {
            return Ok(());
        }
        symlinkat(self.target.as_path(), &self.aside, "new")?;
        renameat(&self.aside, "new", &self.aside, self.link.as_str())
    }
}

/// Exchanges, by turns without a pause and with short ones, so that no length of a window is left out.
fn swap(pairs: &[Pair], seed: u64, over: &AtomicBool, swaps: &AtomicUsize) -> anyhow::Result<()> {
    let mut dice = Dice::new(seed);
    while !over.load(Ordering::Relaxed) {
        let pause = if dice.one_in(2) { 0 } else { dice.below(200) as u64 };
        for pair in pairs {
            pair.renew().context("the rival cannot make a link")?;
        }
        for _ in 0..64 {
            match pairs[dice.below(pairs.len())].exchange() {
                Ok(()) => swaps.fetch_add(1, Ordering::Relaxed),
                // For an instant of a publication the name may be gone.
                Err(Errno::NOENT) => 0,
                Err(error) => return Err(error).context("the rival cannot exchange"),
            };
            if pause > 0 {
                std::thread::sleep(Duration::from_micros(pause));
            }
        }
    }
    Ok(())
}

/// Creates, overwrites and edits below what is swapped. Nothing was read before: there is no policy here.
fn mutation(number: usize) -> (&'static str, Json) {
    let turn = number / 8;
    let (old, new) = if turn.is_multiple_of(2) { ("turn a", "turn b") } else { ("turn b", "turn a") };
    let edit = |path: &str| ("edit", json!({"file_path": path, "old_string": old, "new_string": new}));
    let write = |path: String| ("write", json!({"file_path": path, "content": format!("inside\n{old}\n")}));
    match number % 8 {
        0 => write("d/f.txt".to_owned()),
        1 => edit("d/f.txt"),
        2 => write("leaf.txt".to_owned()),
        3 => edit("leaf.txt"),
        4 => write("p/q/f.txt".to_owned()),
        5 => edit("p/q/f.txt"),
        6 => write(format!("d/new-{turn}.txt")),
        _ => write(format!("p/q/new-{turn}/new.txt")),
    }
}

/// Reads and searches below what is swapped.
fn read(number: usize) -> (&'static str, Json) {
    let read = |path: &str| ("read", json!({"file_path": path}));
    let search = |tool, pattern: &str, path: &str| (tool, json!({"pattern": pattern, "path": path}));
    match number % 8 {
        0 => read("d/f.txt"),
        1 => read("leaf.txt"),
        2 => read("p/q/f.txt"),
        3 => search("grep", "inside|secret", "."),
        4 => search("grep", "inside|secret", "d"),
        5 => search("glob", "**", "d"),
        6 => search("glob", "**/*.txt", "."),
        _ => search("grep", "inside|secret", "p/q/f.txt"),
    }
}

/// By path: what it is, with its bytes.
type Looked = BTreeMap<PathBuf, (u64, u32, Vec<u8>)>;

fn look(folder: &Path) -> anyhow::Result<Looked> {
    let mut looked = Looked::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let found = fs::symlink_metadata(&path)?;
        let is_folder = found.is_dir();
        let bytes = if is_folder { Vec::new() } else { fs::read(&path)? };
        if is_folder {
            looked.extend(look(&path)?);
        }
        looked.insert(path, (found.ino(), found.mode(), bytes));
    }
    Ok(looked)
}

fn changes(before: &Looked, after: &Looked) -> Vec<String> {
    let gone = before.keys().filter(|path| !after.contains_key(*path)).map(|path| ("removed", path));
    let other = after.iter().filter_map(|(path, found)| match before.get(path) {
        None => Some(("made", path)),
        Some(known) => (known != found).then_some(("changed", path)),
    });
    gone.chain(other).map(|(what, path)| format!("{} was {what}", path.display())).collect()
}
