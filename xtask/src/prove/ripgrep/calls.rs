//! Generated calls of `grep` and `glob` in a [`Tree`].

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::dice::Dice;
use crate::prove::ripgrep::tree::Tree;

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) tool: &'static str,
    pub(crate) pattern: String,
    pub(crate) path: Option<String>,
    /// Of `grep` alone.
    pub(crate) include: Option<String>,
}

impl Call {
    /// Its arguments.
    pub(crate) fn args(&self) -> Json {
        let mut args = json!({"pattern": self.pattern});
        if let Some(path) = &self.path {
            args["path"] = path.as_str().into();
        }
        if let Some(include) = &self.include {
            args["include"] = include.as_str().into();
        }
        args
    }
}

const REGEXES: [&str; 56] = [
    "foo",
    "bar",
    "nothing at all",
    "^foo",
    "foo$",
    "^foo$",
    "^",
    "$",
    "^$",
    r"^\s*$",
    r"^\s*$",
    r"^\s*$",
    r"^\s+foo",
    r"foo\s",
    r"\bfoo\b",
    r"foo\B",
    r"\Bbar",
    "(?i)foo",
    "(?i:f)oo",
    "(?i)GR\u{dc}N",
    "(?-i)Foo",
    "foo|bar",
    "(foo|bar) (foo|bar)",
    "|foo",
    "[fF]oo",
    "[^a-z]",
    "[[:upper:]]",
    r"[\w&&[^f]]oo",
    "f.o",
    "fo+b?",
    "fo{2}",
    "(fo*){1,2}bar",
    ".",
    ".*",
    "x*",
    r"\d{2,}",
    r"\d+ \d+",
    r"\w+\(\)",
    r"\[foo\]",
    r"a\.b",
    "-foo",
    "\u{65e5}",
    r"\x{65e5}.",
    r"\p{Lu}",
    r"\p{Han}+ foo",
    "na\u{ef}ve",
    r"(?-u)\xff",
    r"(?-u)foo.bar",
    "(?m)^bar$",
    "(?s)foo.bar",
    "(?x) f o o # a comment",
    r"foo\r?$",
    r"\r",
    "foo.*bar|gr\u{fc}n$",
    "x{3000}",
    " ",
];

/// That ripgrep refuses.
const BAD_REGEXES: [&str; 6] = ["(", "[", "foo\nbar", r"foo\nbar", "a{2,1}", r"\p{Nothing}"];

const GLOBS: [&str; 62] = [
    "*",
    "*.rs",
    "*.rs",
    "*.txt",
    "*.{rs,txt}",
    "*.{md,log,}",
    "a.rs",
    "main.rs",
    "?.rs",
    "[ab].rs",
    "[!a].rs",
    "[a-m]*.rs",
    "a*",
    "*a*",
    "README*",
    ".*",
    "*.RS",
    "-*",
    "*\u{fc}*",
    "\u{65e5}*",
    "bad-*",
    "*line*",
    r"\[x\].rs",
    "[[]x].rs",
    r"back\\slash.rs",
    r"star\*.rs",
    r"\{x?y\}.rs",
    "*'\"*",
    "* *",
    "target",
    "**",
    "**",
    "**",
    "**/*",
    "**/*.rs",
    "**/a.rs",
    "**/src/**",
    "**/src/*.rs",
    "src",
    "src/",
    "src/*",
    "src/**",
    "src/**/*.rs",
    "src/*.{rs,txt}",
    "a/**/b.rs",
    "a/*/*.rs",
    "*/*.rs",
    "*/*",
    "*/a.rs",
    "/*",
    "/*.rs",
    "/a.rs",
    "/src/*.rs",
    "**/.hidden/*",
    ".hidden/**",
    ".git/**",
    "./a.rs",
    "./src/*.rs",
    "./**/a.rs",
    "a**",
    r"\#hash*",
    r"\!bang*",
];

/// That ripgrep refuses.
const BAD_GLOBS: [&str; 3] = ["[a", "{a,b", "*.[b-a]"];

/// That mean something else relative to a folder.
const ANCHORED_GLOBS: [&str; 6] = ["/*", "/*.rs", "*/*", "*/*.rs", "a/*", "src/**"];

/// That mean something else to ripgrep.
const ODD_GLOBS: [&str; 5] = ["#*", "#hash.rs", "trail.rs ", "*.rs ", "#hash* "];

/// That are decided to be refused.
const REFUSED_GLOBS: [&str; 6] = ["!*.rs", "!src/**", "*.rs,*.txt", "a.rs,b.rs", "../*.rs", "src/../*"];

/// Some call.
pub(crate) fn some(tree: &Tree, root: &Path, dice: &mut Dice) -> Call {
    if dice.one_in(2) { grep(tree, root, dice) } else { glob(tree, root, dice) }
}

fn grep(tree: &Tree, root: &Path, dice: &mut Dice) -> Call {
    let pattern = if dice.one_in(20) { dice.pick(&BAD_REGEXES) } else { dice.pick(&REGEXES) };
    let include = dice.one_in(3).then(|| match dice.below(24) {
        0 => dice.pick(&BAD_GLOBS),
        1 => dice.pick(&ODD_GLOBS),
        2 => dice.pick(&REFUSED_GLOBS[..4]),
        _ => dice.pick(&GLOBS),
    });
    let path = path(tree, root, dice);
    // Below a link, rules are judged where the files are and an include by the path as typed: no question to rg has both.
    let link = path.as_deref().is_some_and(|path| path.contains("link"));
    let include = include.filter(|include| !link || !include.contains('/')).map(str::to_owned);
    Call { tool: "grep", pattern: pattern.to_owned(), path, include }
}

fn glob(tree: &Tree, root: &Path, dice: &mut Dice) -> Call {
    let mut path = path(tree, root, dice);
    let pattern = match dice.below(24) {
        0 => dice.pick(&BAD_GLOBS),
        1 | 2 => dice.pick(&ODD_GLOBS),
        3 => dice.pick(&REFUSED_GLOBS),
        4..=7 if !tree.folders.is_empty() => {
            path = tree.folders[dice.below(tree.folders.len())].to_str().map(str::to_owned);
            dice.pick(&ANCHORED_GLOBS)
        }
        _ => dice.pick(&GLOBS),
    };
    Call { tool: "glob", pattern: pattern.to_owned(), path, include: None }
}

/// Absent, or something in the tree under one of the names that it has.
fn path(tree: &Tree, root: &Path, dice: &mut Dice) -> Option<String> {
    if dice.one_in(3) {
        return None;
    }
    let candidates = match dice.below(12) {
        0 => return Some(dice.pick(&[".", "./", "missing", "a/missing", "missing.rs"]).to_owned()),
        1 => return root.to_str().map(str::to_owned),
        2 | 3 => &tree.folder_links,
        4 => &tree.file_links,
        5 => &tree.binary,
        6 | 7 => &tree.files,
        _ => &tree.folders,
    };
    if candidates.is_empty() {
        return None;
    }
    let path = candidates[dice.below(candidates.len())].to_str()?;
    // A file of that kind is never shown, so nobody has its name.
    if path.contains(".dsh-") || path.contains(char::is_control) {
        return None;
    }
    Some(match dice.below(8) {
        0 => format!("./{path}"),
        1 => root.join(path).to_str()?.to_owned(),
        2 if root.join(path).is_dir() => format!("{path}/"),
        _ => path.to_owned(),
    })
}
