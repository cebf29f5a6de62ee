//! What a walk takes, enters and passes over: the one place that decides.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_fs::ReadRules;
use dsh_fs::leftovers::is_leftover_name;

use crate::search::glob_pattern::GlobPattern;
use crate::search::ignore_rules::{IgnoreRules, Word};

/// Folders in which version control keeps its own.
const VERSION_CONTROL: [&[u8]; 6] = [b".git", b".svn", b".hg", b".bzr", b".jj", b".sl"];

/// Decides over every entry of a walk.
pub(crate) struct Sieve {
    pub(crate) wanted: Wanted,
    /// What may be read, where not everything may. The rest is as if it were not there.
    pub(crate) read_rules: Option<Arc<dyn ReadRules>>,
    /// The folder that is searched, as it was named, where that leads to it by a link.
    pub(crate) name: Option<PathBuf>,
}

/// What a search is for.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// All files whose path below the root matches, hidden and ignored ones too.
    Glob {
        pattern: GlobPattern,
        /// The same pattern read from the workspace, for where it matches nothing from the root.
        from_workspace: Option<FromWorkspace>,
    },
    /// The files that ignore files leave and that are not hidden; with an include those that match it, whatever they are.
    Grep { include: Option<Include> },
}

/// A pattern from the workspace on, and the way from there to the root.
#[derive(Debug)]
pub(crate) struct FromWorkspace {
    pub(crate) pattern: GlobPattern,
    pub(crate) root: Vec<u8>,
}

/// The filter of a `grep`, and the way from the workspace to the root.
#[derive(Debug)]
pub(crate) struct Include {
    pub(crate) pattern: GlobPattern,
    pub(crate) root: Vec<u8>,
}

/// One entry of a folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) name: &'a [u8],
    /// Its whole path.
    pub(crate) path: &'a [u8],
    /// Its path below the root.
    pub(crate) below: &'a [u8],
}

/// What becomes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// A file is looked at, a folder entered.
    Taken,
    /// A file whose path matches from the workspace, not from the root.
    TakenFromWorkspace,
    /// Passed over, and nobody need know.
    Left,
    /// Passed over for a reason that a search without result tells.
    PassedOver(Reason),
}

/// Why something that a search could have meant was not searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Ignored,
    Hidden,
    NotIncluded,
}

impl Sieve {
    pub(crate) fn folder(&self, folder: Candidate<'_>, rules: &IgnoreRules) -> Fate {
        match self.wanted.folder(folder, rules) {
            Fate::Left => Fate::Left,
            fate if self.may_find(folder, true) => fate,
            _ => Fate::Left,
        }
    }

    pub(crate) fn file(&self, file: Candidate<'_>, rules: &IgnoreRules) -> Fate {
        match self.wanted.file(file, rules) {
            Fate::Left => Fate::Left,
            fate if self.may_find(file, false) => fate,
            _ => Fate::Left,
        }
    }

    /// May what a walk found be read? Neither where it is nor the name by which it was reached may be denied.
    fn may_find(&self, found: Candidate<'_>, is_folder: bool) -> bool {
        self.may_read(found.path, is_folder)
            && self.name.as_ref().zip(self.read_rules.as_ref()).is_none_or(|(name, rules)| {
                rules.permits_name(&name.join(OsStr::from_bytes(found.below)), is_folder)
            })
    }

    /// May the file of this path be read, or the folder be entered?
    pub(crate) fn may_read(&self, path: &[u8], is_folder: bool) -> bool {
        let permits =
            |rules: &Arc<dyn ReadRules>| rules.permits(Path::new(OsStr::from_bytes(path)), is_folder);
        self.read_rules.as_ref().is_none_or(permits)
    }
}

impl Wanted {
    /// Does what a walk takes depend on ignore files?
    pub(crate) fn heeds_ignore_files(&self) -> bool {
        matches!(self, Self::Grep { .. })
    }

    fn folder(&self, folder: Candidate<'_>, rules: &IgnoreRules) -> Fate {
        if is_version_control(folder.name) {
            return Fate::Left;
        }
        match self {
            Self::Glob { pattern, from_workspace: None } if !pattern.may_match_below(folder.below) => {
                Fate::Left
            }
            Self::Glob { .. } => Fate::Taken,
            Self::Grep { include: Some(include) } if include.matches(folder.below, true) => Fate::Taken,
            Self::Grep { .. } => by_rules(folder, true, rules),
        }
    }

    pub(crate) fn file(&self, file: Candidate<'_>, rules: &IgnoreRules) -> Fate {
        if is_leftover_name(file.name) || is_version_control(file.name) {
            return Fate::Left;
        }
        match self {
            Self::Glob { pattern, from_workspace } => {
                if pattern.matches(file.below, false) {
                    Fate::Taken
                } else if from_workspace.as_ref().is_some_and(|other| other.matches(file.below)) {
                    Fate::TakenFromWorkspace
                } else {
                    Fate::Left
                }
            }
            Self::Grep { include: Some(include) } => {
                if include.matches(file.below, false) {
                    Fate::Taken
                } else {
                    Fate::PassedOver(Reason::NotIncluded)
                }
            }
            Self::Grep { include: None } => by_rules(file, false, rules),
        }
    }
}

/// Is this the name of something that belongs to version control?
pub(crate) fn is_version_control(name: &[u8]) -> bool {
    VERSION_CONTROL.contains(&name)
}

fn by_rules(entry: Candidate<'_>, is_folder: bool, rules: &IgnoreRules) -> Fate {
    match rules.judge(entry.path, is_folder) {
        Some(Word::Ignored) => Fate::PassedOver(Reason::Ignored),
        None if entry.name.starts_with(b".") => Fate::PassedOver(Reason::Hidden),
        _ => Fate::Taken,
    }
}

impl FromWorkspace {
    fn matches(&self, below: &[u8]) -> bool {
        self.pattern.matches(&joined(&self.root, below), false)
    }
}

impl Include {
    fn matches(&self, below: &[u8], is_folder: bool) -> bool {
        if self.pattern.is_anchored() && !self.root.is_empty() {
            self.pattern.matches(&joined(&self.root, below), is_folder)
        } else {
            self.pattern.matches(below, is_folder)
        }
    }
}

fn joined(root: &[u8], below: &[u8]) -> Vec<u8> {
    [root, b"/", below].concat()
}
