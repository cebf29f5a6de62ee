//! What happens to a file between a read and an edit: a change of the bytes is never missed, and nothing else counts.

use std::fs::{self, File, FileTimes, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::json;

use crate::prove::ground::Ground;
use crate::prove::program::{Answer, Program};
use crate::prove::tally::Tally;

const REWRITES: usize = 10_000;
const TOUCHES: usize = 1_000;

/// One file, and a program that edits it.
struct Bench {
    program: Program,
    file: PathBuf,
}

impl Bench {
    fn start(ground: &Ground, name: &str) -> anyhow::Result<Self> {
        let workspace = ground.folder(name)?;
        let file = workspace.join("a.txt");
        Ok(Self { program: Program::start(ground.program(&workspace))?, file })
    }

    fn read(&mut self) -> anyhow::Result<()> {
        self.program.must("read", json!({"file_path": "a.txt"})).map(drop)
    }

    fn edit(&mut self, old: &str, new: &str) -> anyhow::Result<Answer> {
        self.program.call("edit", json!({"file_path": "a.txt", "old_string": old, "new_string": new}))
    }
}

/// Makes this part of the proof.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    rewrites(ground, tally)?;
    touches(ground, tally)
}

/// Rewritten with as many bytes right after a read; by turns in place, in place with the old times, and by a rename.
fn rewrites(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let mut bench = Bench::start(ground, "rewrites")?;
    let count = ground.scaled(REWRITES);
    let mut missed = 0;
    let mut odd = 0;
    fs::write(&bench.file, text(0))?;
    for number in 1..=count {
        bench.read()?;
        match number % 3 {
            0 => rewrite(&bench.file, &text(number))?,
            1 => rewrite_with_old_times(&bench.file, &text(number))?,
            _ => replace(&bench.file, &text(number))?,
        }
        let answer = bench.edit("fixed line", "edited line")?;
        missed += usize::from(!answer.is_error());
        odd += usize::from(answer.is_error() && answer.code() != "FS_STALE_VERSION");
        let there = fs::read_to_string(&bench.file)?;
        tally.check(there == text(number), || format!("rewrite {number} was replaced"));
        if !answer.is_error() {
            fs::write(&bench.file, text(number))?;
        }
    }
    bench.program.end()?;
    tally.figure("rewrites of the same size right after a read", count);
    tally.figure("of them missed", missed);
    tally.check(missed == 0, || format!("{missed} of {count} rewrites of the same size were missed"));
    tally.check(odd == 0, || format!("{odd} edits after a rewrite failed with another code than stale"));
    Ok(())
}

/// Everything that leaves the bytes alone.
fn touches(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let mut bench = Bench::start(ground, "touches")?;
    let count = ground.scaled(TOUCHES);
    let mut tried = 0;
    let mut refused = 0;
    let mut current = text(0);
    fs::write(&bench.file, &current)?;
    for number in 0..count {
        for way in ["touch", "chmod", "identical rewrite", "identical replacement"] {
            bench.read()?;
            match way {
                "touch" => touch(&bench.file)?,
                "chmod" => {
                    let mode = if number % 2 == 0 { 0o600 } else { 0o644 };
                    fs::set_permissions(&bench.file, Permissions::from_mode(mode))?;
                }
                "identical rewrite" => fs::write(&bench.file, &current)?,
                _ => replace(&bench.file, &current)?,
            }
            let (old, new) = if tried % 2 == 0 { ("fixed", "other") } else { ("other", "fixed") };
            let answer = bench.edit(old, new)?;
            tried += 1;
            if answer.is_error() {
                refused += 1;
                tally.fail(format!("refused after {way}: {}", answer.content()));
                fs::write(&bench.file, current.replacen(old, new, 1))?;
            }
            current = current.replacen(old, new, 1);
            tally.check(fs::read_to_string(&bench.file)? == current, || format!("wrong bytes after {way}"));
        }
    }
    bench.program.end()?;
    tally.figure("touch, chmod, identical rewrite and replacement after a read", tried);
    tally.figure("of them refused", refused);
    Ok(())
}

fn text(number: usize) -> String {
    format!("number {number:08}\nfixed line\n{}", "and some more\n".repeat(20))
}

/// In one write, so that no half of it can be seen.
fn rewrite(file: &Path, text: &str) -> anyhow::Result<()> {
    Ok(OpenOptions::new().write(true).open(file)?.write_all(text.as_bytes())?)
}

fn rewrite_with_old_times(file: &Path, text: &str) -> anyhow::Result<()> {
    let before = fs::metadata(file)?;
    rewrite(file, text)?;
    let times = FileTimes::new().set_modified(before.modified()?).set_accessed(before.accessed()?);
    Ok(OpenOptions::new().write(true).open(file)?.set_times(times)?)
}

/// As a checkout does it.
fn replace(file: &Path, text: &str) -> anyhow::Result<()> {
    let beside = file.with_extension("new");
    fs::write(&beside, text)?;
    Ok(fs::rename(beside, file)?)
}

fn touch(file: &Path) -> anyhow::Result<()> {
    let now = SystemTime::now();
    Ok(File::open(file)?.set_times(FileTimes::new().set_modified(now).set_accessed(now))?)
}
