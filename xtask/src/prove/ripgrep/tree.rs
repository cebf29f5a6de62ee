//! A generated tree: whatever makes a search pass something over, show it differently, or stumble.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::dice::Dice;

/// What lies in a workspace, from its root.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Folders, the root not among them.
    pub(crate) folders: Vec<PathBuf>,
    /// Plain files.
    pub(crate) files: Vec<PathBuf>,
    /// Those of them that have a NUL.
    pub(crate) binary: Vec<PathBuf>,
    /// Symbolic links to files that are there.
    pub(crate) file_links: Vec<PathBuf>,
    /// Symbolic links to folders that are there.
    pub(crate) folder_links: Vec<PathBuf>,
}

const FOLDERS: [&[u8]; 16] = [
    b"a",
    b"b",
    b"src",
    b"src",
    b"docs",
    b"target",
    b"build",
    b".hidden",
    b"with blank",
    b"-dash",
    b"[br]",
    "gr\u{fc}n".as_bytes(),
    b"back\\slash",
    b"trail ",
    b"bad-\xff",
    b".svn",
];

const FILES: [&[u8]; 40] = [
    b"a.rs",
    b"b.rs",
    b"a.txt",
    b"b.txt",
    b"main.rs",
    b"main.rs",
    b"lib.rs",
    b"notes.md",
    b"README",
    b"README.md",
    b"x.log",
    b"y.log",
    b"A.RS",
    b"target",
    b"build",
    b".env",
    b".a.rs",
    b".git",
    b"with blank.txt",
    b"quote'\".rs",
    b"-n",
    b"-dash.rs",
    b"[x].rs",
    b"{x,y}.rs",
    b"back\\slash.rs",
    b"#hash.rs",
    b"#hash",
    b"!bang.rs",
    b"trail.rs ",
    b"trail.rs",
    b"star*.rs",
    "\u{65e5}\u{672c}.txt".as_bytes(),
    "gr\u{fc}n.rs".as_bytes(),
    b"bad-\xff.rs",
    b"cut-\xe6\x97.txt",
    b"new\nline.rs",
    b"tab\t.txt",
    b".dsh-0123456789ab",
    b".dsh-vuts0rq98765",
    b"a.rs.dsh-conflict-1",
];

const RULES: [&str; 50] = [
    "*.log",
    "*.rs",
    "*.txt",
    "!*.rs",
    "!a.rs",
    "!main.rs",
    "!x.log",
    "target",
    "target/",
    "/target",
    "build/",
    "/build/",
    "!build/",
    "/a.rs",
    "/src/a.rs",
    "src/*.rs",
    "src/*.txt",
    "/src/[ab]*",
    "a/*.rs",
    "/a/*",
    "b/*.rs",
    "/b/*.txt",
    "docs/*.rs",
    "link/*.rs",
    "link.rs/*",
    "a.link/*",
    "src/",
    "!src/",
    "/src",
    "**/docs",
    "**/src/*.txt",
    "src/**",
    "a/**/b.rs",
    "**/a/*.rs",
    "docs/**/*.md",
    "/*",
    "!/src",
    "!/a",
    "*",
    "!*/",
    "[ab].rs",
    "[!a].txt",
    "?.rs",
    "README*",
    "# a comment",
    "",
    "\\#hash",
    "\\!bang.rs",
    "trail.rs\\ ",
    "trail.rs ",
];

const WORDS: [&str; 20] = [
    "foo",
    "Foo",
    "FOO",
    "bar",
    "foobar",
    "foo bar",
    "bar foo",
    "fn main() {",
    "}",
    "",
    " foo",
    "\tbar",
    "foo ",
    "-foo",
    "[foo]",
    "a.b",
    "x1 22 333",
    "na\u{ef}ve",
    "\u{65e5}\u{672c} foo",
    "gr\u{fc}n",
];

/// Fills an empty folder. `outside` is a folder beside it, for links that lead out.
pub(crate) fn make(root: &Path, outside: &Path, dice: &mut Dice) -> anyhow::Result<Tree> {
    let mut tree = Tree::default();
    fill(root, Path::new(""), 0, dice, &mut tree)?;
    repository(root, dice)?;
    for folder in tree.folders.clone() {
        // A repository within: its rules begin there.
        if dice.one_in(12) {
            repository(&root.join(folder), dice)?;
        }
    }
    for _ in 0..dice.below(6) {
        link(root, outside, dice, &mut tree)?;
    }
    if dice.one_in(4) {
        let at = root.join(some_folder(&tree, dice)).join("pipe.rs");
        mknodat(CWD, &at, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    }
    if dice.one_in(5) {
        rules(root.parent().unwrap_or(root), dice)?;
    }
    Ok(tree)
}

fn fill(root: &Path, at: &Path, depth: usize, dice: &mut Dice, tree: &mut Tree) -> anyhow::Result<()> {
    let mut taken: BTreeSet<&[u8]> = BTreeSet::new();
    for _ in 0..3 + dice.below(6) {
        let name = dice.pick(&FILES);
        // In the root `.git` is the repository's.
        if (depth > 0 || name != b".git") && taken.insert(name) {
            let path = at.join(OsStr::from_bytes(name));
            let content = content(dice);
            file(&root.join(&path), &content, dice)?;
            if content.contains(&0) {
                tree.binary.push(path.clone());
            }
            tree.files.push(path);
        }
    }
    if depth < 3 {
        for _ in 0..dice.below(4) {
            let name = dice.pick(&FOLDERS);
            if taken.insert(name) {
                let path = at.join(OsStr::from_bytes(name));
                fs::create_dir(root.join(&path))?;
                tree.folders.push(path.clone());
                fill(root, &path, depth + 1, dice, tree)?;
            }
        }
    }
    if dice.one_in(if depth == 0 { 1 } else { 3 }) {
        rules(&root.join(at), dice)?;
    }
    Ok(())
}

/// Makes a folder a repository, most times.
fn repository(folder: &Path, dice: &mut Dice) -> anyhow::Result<()> {
    let git = folder.join(".git");
    if dice.one_in(4) || git.exists() {
        return Ok(());
    }
    fs::create_dir_all(git.join("info"))?;
    fs::write(git.join("config"), "foo = bar\n")?;
    if dice.one_in(3) {
        fs::write(git.join("info/exclude"), some_rules(dice))?;
    }
    Ok(())
}

fn rules(folder: &Path, dice: &mut Dice) -> anyhow::Result<()> {
    for name in [".gitignore", ".ignore", ".rgignore"] {
        if dice.one_in(2) {
            fs::write(folder.join(name), some_rules(dice))?;
        }
    }
    Ok(())
}

fn some_rules(dice: &mut Dice) -> String {
    let ending = if dice.one_in(6) { "\r\n" } else { "\n" };
    (0..=dice.below(4)).flat_map(|_| [dice.pick(&RULES), ending]).collect()
}

fn link(root: &Path, outside: &Path, dice: &mut Dice, tree: &mut Tree) -> anyhow::Result<()> {
    let at = some_folder(tree, dice).join(dice.pick(&["link", "link.rs", "a.link"]));
    if root.join(&at).symlink_metadata().is_ok() {
        return Ok(());
    }
    let target = match dice.below(6) {
        0 if !tree.files.is_empty() => {
            tree.file_links.push(at.clone());
            root.join(&tree.files[dice.below(tree.files.len())])
        }
        1 | 5 if !tree.folders.is_empty() => {
            tree.folder_links.push(at.clone());
            let folder = &tree.folders[dice.below(tree.folders.len())];
            if dice.one_in(2) {
                // A rule for the way there that does not lead through the link.
                let rules = File::options().append(true).create(true).open(root.join(".ignore"));
                writeln!(rules?, "/{}/*s", folder.display())?;
            }
            root.join(folder)
        }
        // A cycle, a way out, a dead end.
        2 => PathBuf::from("."),
        3 => outside.to_owned(),
        _ => PathBuf::from("nowhere"),
    };
    symlink(target, root.join(at))?;
    Ok(())
}

fn some_folder(tree: &Tree, dice: &mut Dice) -> PathBuf {
    if tree.folders.is_empty() || dice.one_in(2) {
        PathBuf::new()
    } else {
        tree.folders[dice.below(tree.folders.len())].clone()
    }
}

/// Makes a file, last changed at one of a few times, so that there are ties.
fn file(path: &Path, content: &[u8], dice: &mut Dice) -> anyhow::Result<()> {
    fs::write(path, content)?;
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + dice.below(12) as u64);
    File::options().write(true).open(path)?.set_times(FileTimes::new().set_modified(time))?;
    Ok(())
}

fn content(dice: &mut Dice) -> Vec<u8> {
    let text = text(dice);
    match dice.below(25) {
        0 => Vec::new(),
        1 | 24 => [b"\n", text.as_bytes(), b"foo\0bar\n", text.as_bytes()].concat(),
        2 | 3 => {
            let filling = "filling foo 12345\n".repeat(500 + dice.below(40));
            let late = if dice.one_in(4) { filling.repeat(9) } else { filling };
            [late.as_bytes(), text.as_bytes(), b"foo\0 bar\n", text.as_bytes()].concat()
        }
        4 => utf16(&text, u16::to_le_bytes),
        5 => utf16(&text, u16::to_be_bytes),
        6 => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        7 | 8 => [text.as_bytes(), b"foo \xff bar\n", text.as_bytes(), b"\xe6\x97 Foo"].concat(),
        9 => text.replace('\n', "\r").into_bytes(),
        10 => [text.replace('\n', "\r\n").as_bytes(), b"foo\rbar\r\r\nfoo\n"].concat(),
        11 => format!("{text}{}foo{}\n", "x".repeat(3_000), "y".repeat(100_000)).into_bytes(),
        _ => text.into_bytes(),
    }
}

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(bytes).collect()
}

/// A few lines, with or without a newline at the end, with `\n` or `\r\n` or both.
fn text(dice: &mut Dice) -> String {
    let endings: &[&str] =
        dice.pick(&[&["\n"] as &[&str], &["\n"], &["\n"], &["\r\n"], &["\n", "\r\n", "\r"]]);
    let mut text = String::new();
    for _ in 0..dice.below(8) {
        text.push_str(dice.pick(&WORDS));
        text.push_str(dice.pick(endings));
    }
    if dice.one_in(3) {
        text.push_str(dice.pick(&WORDS));
    }
    text
}
