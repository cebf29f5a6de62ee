//! Which files ignore files leave out: `.rgignore`, `.ignore`, `.gitignore`, `.git/info/exclude` and the user's global one,
//! with the precedence that ripgrep gives them.
//!
//! The nearest folder's word counts, and among kinds of files the order above. Git's files count inside a repository only, and
//! not beyond its top.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The most of an ignore file that is heeded, in bytes.
pub(crate) const MOST_RULES: u64 = 1 << 20;

/// What a folder's own ignore files hold, where they are there.
#[derive(Clone, Debug, Default)]
pub(crate) struct IgnoreFiles {
    pub(crate) rgignore: Option<Vec<u8>>,
    pub(crate) ignore: Option<Vec<u8>>,
    pub(crate) gitignore: Option<Vec<u8>>,
    /// Of `.git/info/exclude`.
    pub(crate) exclude: Option<Vec<u8>>,
    /// Is there a `.git`?
    pub(crate) is_repository: bool,
}

/// The rules that hold for the children of one folder.
#[derive(Debug)]
pub(crate) struct IgnoreRules {
    above: Option<Arc<IgnoreRules>>,
    /// Where in a full path the part below this folder begins.
    offset: usize,
    rgignore: Gitignore,
    ignore: Gitignore,
    gitignore: Gitignore,
    exclude: Gitignore,
    is_repository: bool,
    in_repository: bool,
    global: Arc<Gitignore>,
    /// Where the paths begin that the global rules are about.
    global_offset: usize,
}

impl IgnoreRules {
    /// No rules but the user's own, for paths below `root`, a full path.
    pub(crate) fn new(global: Gitignore, root: &[u8]) -> Arc<Self> {
        Arc::new(Self {
            above: None,
            offset: 0,
            rgignore: Gitignore::empty(),
            ignore: Gitignore::empty(),
            gitignore: Gitignore::empty(),
            exclude: Gitignore::empty(),
            is_repository: false,
            in_repository: false,
            global: Arc::new(global),
            global_offset: offset_below(root),
        })
    }

    /// The rules for the children of `folder`, a full path, which has these ignore files. `unusable` is told the name of
    /// each that holds, but cannot be made, rules.
    pub(crate) fn enter(
        self: &Arc<Self>,
        folder: &[u8],
        files: &IgnoreFiles,
        mut unusable: impl FnMut(&str),
    ) -> Arc<Self> {
        let mut rules = |name: &str, file: &Option<Vec<u8>>| {
            file.as_deref()
                .and_then(|file| rules(file).inspect_err(|_| unusable(name)).ok())
                .unwrap_or_else(Gitignore::empty)
        };
        Arc::new(Self {
            above: Some(self.clone()),
            offset: offset_below(folder),
            rgignore: rules(".rgignore", &files.rgignore),
            ignore: rules(".ignore", &files.ignore),
            gitignore: rules(".gitignore", &files.gitignore),
            exclude: rules(".git/info/exclude", &files.exclude),
            is_repository: files.is_repository,
            in_repository: files.is_repository || self.in_repository,
            global: self.global.clone(),
            global_offset: self.global_offset,
        })
    }

    /// What the rules say of a child, given by its full path. `None` where they are silent.
    pub(crate) fn judge(&self, path: &[u8], is_folder: bool) -> Option<Word> {
        let (mut rgignore, mut ignore, mut gitignore, mut exclude) = (None, None, None, None);
        let mut in_this_repository = self.in_repository;
        let mut next = Some(self);
        while let Some(here) = next {
            let below = Path::new(OsStr::from_bytes(path.get(here.offset..).unwrap_or_default()));
            let said = |rules: &Gitignore| word(rules, below, is_folder);
            rgignore = rgignore.or_else(|| said(&here.rgignore));
            ignore = ignore.or_else(|| said(&here.ignore));
            if in_this_repository {
                gitignore = gitignore.or_else(|| said(&here.gitignore));
                exclude = exclude.or_else(|| said(&here.exclude));
            }
            in_this_repository &= !here.is_repository;
            next = here.above.as_deref();
        }
        let global = || {
            let below = Path::new(OsStr::from_bytes(path.get(self.global_offset..).unwrap_or_default()));
            word(&self.global, below, is_folder)
        };
        rgignore
            .or(ignore)
            .or(gitignore)
            .or(exclude)
            .or_else(|| if self.in_repository { global() } else { None })
    }
}

/// What an ignore file says of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Leave it out.
    Ignored,
    /// Take it, even if it is hidden.
    Wanted,
}

fn word(rules: &Gitignore, path: &Path, is_folder: bool) -> Option<Word> {
    if rules.is_empty() {
        return None;
    }
    match rules.matched(path, is_folder) {
        Match::None => None,
        Match::Ignore(_) => Some(Word::Ignored),
        Match::Whitelist(_) => Some(Word::Wanted),
    }
}

fn offset_below(folder: &[u8]) -> usize {
    if folder == b"/" { 1 } else { folder.len() + 1 }
}

/// The rules in an ignore file. A line that is none says nothing; the others hold.
pub(crate) fn rules(file: &[u8]) -> Result<Gitignore, ignore::Error> {
    let mut builder = GitignoreBuilder::new("");
    for line in dsh_fs::text::without_bom(file).split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Ok(line) = std::str::from_utf8(line)
            && let Err(error) = builder.add_line(None, line)
        {
            tracing::debug!(line = ?line, error = ?error.to_string(), "a line of an ignore file is no rule");
        }
    }
    builder.build()
}

#[cfg(test)]
#[expect(clippy::panic, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    fn file(lines: &str) -> Vec<u8> {
        lines.as_bytes().to_vec()
    }

    fn no_trouble(name: &str) {
        panic!("{name} is unusable");
    }

    fn ignored(rules: &IgnoreRules, path: &str) -> bool {
        rules.judge(path.as_bytes(), path.ends_with('/')) == Some(Word::Ignored)
    }

    #[test]
    fn git_files_count_in_a_repository_only_and_not_beyond_its_top() {
        let top = IgnoreRules::new(Gitignore::empty(), b"/w");
        let loose = IgnoreFiles { gitignore: Some(file("*.log\n")), ..IgnoreFiles::default() };
        assert!(!ignored(&top.enter(b"/w", &loose, no_trouble), "/w/a.log"));

        let repository = IgnoreFiles { is_repository: true, ..loose.clone() };
        let outer = top.enter(b"/w", &repository, no_trouble);
        assert!(ignored(&outer, "/w/a.log"));
        let inner =
            outer.enter(b"/w/in", &IgnoreFiles { is_repository: true, ..IgnoreFiles::default() }, no_trouble);
        assert!(!ignored(&inner, "/w/in/a.log"));
    }

    #[test]
    fn the_nearest_word_counts_and_then_the_kind_of_file() {
        let top = IgnoreRules::new(Gitignore::empty(), b"/w").enter(
            b"/w",
            &IgnoreFiles {
                ignore: Some(file("*.log\n/only.txt\nd/x\n")),
                is_repository: true,
                ..IgnoreFiles::default()
            },
            no_trouble,
        );
        assert!(ignored(&top, "/w/a.log") && ignored(&top, "/w/only.txt") && !ignored(&top, "/w/d/only.txt"));
        let below = top.enter(
            b"/w/d",
            &IgnoreFiles {
                ignore: Some(file("!keep.log\n")),
                gitignore: Some(file("keep.log\n")),
                ..IgnoreFiles::default()
            },
            no_trouble,
        );
        assert_eq!(below.judge(b"/w/d/keep.log", false), Some(Word::Wanted));
        assert!(ignored(&below, "/w/d/a.log") && ignored(&below, "/w/d/x"));
    }

    #[test]
    fn lines_that_are_no_rules_say_nothing() {
        let files =
            IgnoreFiles { ignore: Some(b"\xEF\xBB\xBFa\r\n{b\n\xFF\nc".to_vec()), ..IgnoreFiles::default() };
        let rules = IgnoreRules::new(Gitignore::empty(), b"/").enter(b"/", &files, no_trouble);
        assert!(ignored(&rules, "/a") && ignored(&rules, "/x/c") && !ignored(&rules, "/b"));
    }
}
