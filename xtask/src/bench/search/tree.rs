//! What is searched: folders full of something like source code, and one large file of it.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use anyhow::ensure;

use crate::dice::Dice;
use crate::prove::Ground;

const FILES: usize = 50_000;
const A_FOLDER: usize = 50;
const LARGE: usize = 1_000_000_000;
const MARKED: usize = 750_000;
/// Free bytes that it wants.
const ROOM: u64 = 3_000_000_000;

/// In a few lines of the tree and one of the large file.
pub(crate) const RARE: &str = "needle_in_haystack";
/// In the marked lines of the large file.
pub(crate) const WORD: &str = "checkpoint";

/// Where everything lies.
#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) files: PathBuf,
    pub(crate) large: PathBuf,
    /// How many lines of the large file have [`WORD`].
    pub(crate) marked: usize,
    /// Lines of the tree whose word is nowhere else.
    pub(crate) unique: Vec<Unique>,
}

#[derive(Debug)]
pub(crate) struct Unique {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) word: String,
    pub(crate) text: String,
}

const WORDS: [&str; 24] = [
    "let", "mut", "self", "value", "index", "buffer", "config", "request", "response", "length", "Some",
    "None", "Result", "error", "match", "path", "offset", "Timer", "timer", "session", "cursor", "token",
    "state", "next",
];

/// Makes it, below the ground.
pub(crate) fn make(ground: &Ground) -> anyhow::Result<Places> {
    let disk = rustix::fs::statvfs(ground.path())?;
    let (free, wanted) = (disk.f_bavail * disk.f_frsize, ground.scaled(usize::try_from(ROOM)?) as u64);
    ensure!(free >= wanted, "{free} bytes are free, and {wanted} are wanted; give another --place");
    let mut dice = Dice::new(1);
    let pool: Vec<String> = (0..4_000).map(|_| line(&mut dice)).collect();
    let (files, large) = (ground.folder("files")?, ground.folder("large")?);
    let mut unique = Vec::new();
    let count = ground.scaled(FILES);
    for number in 0..count {
        let folder = number / A_FOLDER;
        let inner = ["", "/inner", "/tests"][folder % 3];
        let folder = format!("part{}/module_{folder}{inner}", folder % 10);
        let ending = ["rs", "rs", "md", "txt", "json", "toml"][number % 6];
        let path = format!("{folder}/unit_{number}.{ending}");
        let mut text = String::new();
        let lines = 20 + dice.below(80);
        for _ in 0..lines {
            text.push_str(&pool[dice.below(pool.len())]);
        }
        if number % (count / 4).max(1) == 0 {
            writeln!(text, "    {RARE}();")?;
        }
        if number % (count / 100).max(1) == 0 {
            let word = format!("only_here_{number}_");
            let marked = format!("    let {word} = 1;");
            writeln!(text, "{marked}")?;
            unique.push(Unique { path: path.clone(), line: text.lines().count(), word, text: marked });
        }
        let at = files.join(&path);
        if number % A_FOLDER == 0 {
            fs::create_dir_all(at.parent().unwrap_or(&files))?;
        }
        fs::write(at, text)?;
    }
    let (size, marked) = (ground.scaled(LARGE), ground.scaled(MARKED));
    let mut file = BufWriter::with_capacity(1 << 20, File::create(large.join("large.log"))?);
    let mut written = 0;
    for number in 0..marked {
        let mark = format!("{WORD} {number} reached\n");
        file.write_all(mark.as_bytes())?;
        written += mark.len();
        while written < size / marked * (number + 1) {
            let line = &pool[dice.below(pool.len())];
            file.write_all(line.as_bytes())?;
            written += line.len();
        }
    }
    writeln!(file, "{RARE}")?;
    file.into_inner()?.sync_all()?;
    Ok(Places { files, large, marked, unique })
}

/// Something like a line of source code, with its newline.
fn line(dice: &mut Dice) -> String {
    let mut line = "    ".repeat(dice.below(4));
    match dice.below(40) {
        0 => line.push_str("return "),
        1 => {
            line.push_str(dice.pick(&[
                "fn open_handler(request) ",
                "fn close_handler() ",
                "fn plain(a, b) ",
            ]));
        }
        2 => return "\n".to_owned(),
        3 if dice.one_in(4) => line.push_str(dice.pick(&["Timeout ", "timeout "])),
        _ => {}
    }
    for _ in 0..2 + dice.below(8) {
        line.push_str(dice.pick(&WORDS));
        line.push_str(dice.pick(&[" ", ".", "(", ") ", ", ", " = "]));
    }
    line.push('\n');
    line
}
