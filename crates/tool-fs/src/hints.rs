//! Adds to a refusal what gets the next call right (`editHints`): who may be told what, and from which file.
//!
//! Everything is looked at through the backend, under the policy of the call that was refused, and nothing of it counts as
//! seen: a hint licenses no mutation. Text of a file is quoted only where the edit got as far as matching, so a policy that
//! asks for a read first has been satisfied. What cannot be looked at costs the hint, never the refusal.

use std::fmt;
use std::sync::Arc;

use dsh_fs::line_endings::to_lf;
use dsh_fs::shown_name::shown;
use dsh_fs::{FileSystem, FsCall, FsKind, FsOp, FsTarget, Owner, SandboxMode, text};
use dsh_harness::Execution;
use dsh_plugin::{Coded, Failure};

use crate::hint::ambiguous::ambiguous;
use crate::hint::budget::{Deadline, LARGEST_FILE, MOST_TIME, Said};
use crate::hint::nearest::{Nearest, nearest};
use crate::neighbours::{Missing, WALK_TIME, Walk, denied};
use crate::read_paths::ReadPaths;
use crate::seen_blocks::{BlockScan, SeenBlocks};
use crate::stack::NO_POLICY;

/// The most other files of a name that are searched for `old_string`.
const OTHER_FILES: usize = 3;

/// What hints are made from: the backend, and a little memory of each session.
pub(crate) struct Hints {
    fs: Arc<dyn FileSystem>,
    read_limit: u64,
    seen: SeenBlocks,
    paths: ReadPaths,
}

/// The call that was refused.
#[derive(Clone, Copy)]
pub(crate) struct Refused<'a> {
    /// What it was to do.
    pub(crate) op: FsOp,
    /// The path as it was written.
    pub(crate) path: &'a str,
    /// What the path means; `None` where it means nothing.
    pub(crate) target: Option<&'a FsTarget>,
    /// `old_string` and `new_string` of an edit.
    pub(crate) edit: Option<(&'a str, &'a str)>,
    pub(crate) call: &'a FsCall,
    pub(crate) exec: &'a Execution,
}

impl Hints {
    /// `read_limit` is the most lines that one read shows.
    pub(crate) fn new(fs: Arc<dyn FileSystem>, read_limit: u64) -> Self {
        Self { fs, read_limit, seen: SeenBlocks::default(), paths: ReadPaths::default() }
    }

    /// Remembers a file as the session was shown it.
    pub(crate) fn shown(&self, target: &FsTarget, blocks: BlockScan, exec: &Execution) {
        let Some(owner) = owner(exec) else { return };
        self.seen.remember(owner.clone(), target.key(), blocks.finish());
        self.paths.remember(owner, target);
    }

    /// Remembers a file as the session wrote it.
    pub(crate) fn wrote(&self, target: &FsTarget, after: &str, exec: &Execution) {
        let mut blocks = BlockScan::default();
        blocks.push(after);
        self.shown(target, blocks, exec);
    }

    /// The failure with its hint, if there is one for it.
    pub(crate) async fn told(&self, failure: Failure, refused: Refused<'_>) -> Failure {
        match self.hint(&*failure, refused).await {
            Some(hint) => Hinted { failure, hint }.into(),
            None => failure,
        }
    }

    async fn hint(&self, failure: &dyn Coded, refused: Refused<'_>) -> Option<String> {
        if failure.name() != "FsError" {
            return None;
        }
        match failure.code()? {
            "FS_EDIT_NOT_FOUND" => self.not_found(refused).await,
            "FS_AMBIGUOUS_EDIT" => {
                let now = self.text(refused.target?, refused.call).await?;
                ambiguous(&now, &to_lf(refused.edit?.0), Deadline::after(MOST_TIME))
            }
            "FS_STALE_VERSION" => self.stale(refused).await,
            "FS_NOT_OBSERVED" if failure.to_string() != NO_POLICY => self.not_observed(refused).await,
            "FS_NOT_FOUND" => self.missing(refused).await,
            "FS_NOT_REGULAR_FILE" => self.folder(refused).await,
            "FS_SANDBOX_DENIED" => self.denied(failure, refused),
            "FS_NOT_TEXT" => Some(match refused.op {
                FsOp::Edit => "Replace the whole file with write: edit changes UTF-8 text only.".to_owned(),
                _ => "No tool shows it as lines. If you mean to replace it, write the whole file.".to_owned(),
            }),
            "FS_TOO_LARGE" => Some(too_large(refused.op).to_owned()),
            _ => None,
        }
    }

    async fn not_found(&self, refused: Refused<'_>) -> Option<String> {
        let target = refused.target?;
        let (old, new) = refused.edit?;
        let (old, new) = (to_lf(old), to_lf(new));
        let now = self.text(target, refused.call).await?;
        match nearest(&now, &old, &new, Deadline::after(MOST_TIME)) {
            Nearest::Certain(hint) => Some(hint),
            Nearest::Alike(hint) => {
                let elsewhere = self.in_another_file(&old, target, refused).await;
                let Some(elsewhere) = elsewhere else { return Some(hint) };
                let mut said = Said::default();
                said.add(&elsewhere);
                said.add(&format!("\nIn this file:\n{hint}"));
                said.into_hint()
            }
            Nearest::Nothing => self.in_another_file(&old, target, refused).await,
        }
    }

    async fn in_another_file(&self, old: &str, target: &FsTarget, refused: Refused<'_>) -> Option<String> {
        for other in self.paths.of_same_name(&owner(refused.exec)?, target, OTHER_FILES) {
            let Some(text) = self.text(&other, refused.call).await else { continue };
            if let Some(at) = text.find(old) {
                let line = text[..at].matches('\n').count() + 1;
                let path = shown(other.display_path().as_bytes());
                return Some(format!(
                    "old_string is in another file that you know, \"{path}\", at line {line}."
                ));
            }
        }
        None
    }

    async fn stale(&self, refused: Refused<'_>) -> Option<String> {
        let target = refused.target?;
        if self.fs.stat(target, refused.call).await.ok()?.is_none() {
            return self.missing(refused).await;
        }
        let now = self.text(target, refused.call).await?;
        let (changed, total) = self.seen.changed(&owner(refused.exec)?, target.key(), &now)?;
        let what = match changed.len() {
            0 => format!("lines are gone after line {}", changed.start),
            1 => format!("line {}", changed.start + 1),
            _ => format!("lines {}-{}", changed.start + 1, changed.end),
        };
        // What is gone shows by the lines around it.
        let (offset, limit) =
            if changed.is_empty() { (changed.start.max(1), 2) } else { (changed.start + 1, changed.len()) };
        let limit = if limit as u64 <= self.read_limit { format!(", limit={limit}") } else { String::new() };
        Some(if total == 0 {
            "Changed since you saw it: the file is empty now.".to_owned()
        } else {
            format!(
                "Changed since you saw it: {what}, of {total} lines now. Read offset={offset}{limit}, then retry."
            )
        })
    }

    async fn not_observed(&self, refused: Refused<'_>) -> Option<String> {
        let target = refused.target?;
        let found = self.fs.stat(target, refused.call).await.ok()?;
        let Some(found) = found else { return self.missing(refused).await };
        (found.kind == FsKind::File).then(|| {
            let (path, op) = (shown(target.display_path().as_bytes()), refused.op.verb());
            format!(
                "Call read with file_path \"{path}\" (any part of it will do), then send this {op} again."
            )
        })
    }

    async fn missing(&self, refused: Refused<'_>) -> Option<String> {
        let missing = Missing::new(refused.path, refused.target, refused.exec)?;
        missing.hint(&self.walk(refused), refused.op).await
    }

    fn walk<'a>(&'a self, refused: Refused<'a>) -> Walk<'a> {
        Walk { fs: &*self.fs, call: refused.call, deadline: Deadline::after(WALK_TIME) }
    }

    async fn folder(&self, refused: Refused<'_>) -> Option<String> {
        let target = refused.target?;
        let listed = self.fs.list_dir(target, refused.call);
        let entries = self.walk(refused).within(listed).await?.ok()?;
        let files = entries
            .iter()
            .filter(|entry| entry.kind == FsKind::File && !denied(&*self.fs, &entry.target, false));
        let mut said = Said::default();
        said.add("It is a folder; name a file.");
        for (index, file) in files.take(5).enumerate() {
            let before = if index == 0 { " In it, among others: " } else { ", " };
            said.add(&format!("{before}\"{}\"", shown(file.name.as_bytes())));
        }
        said.into_hint()
    }

    fn denied(&self, failure: &dyn Coded, refused: Refused<'_>) -> Option<String> {
        let target = refused.target?;
        if denied(&*self.fs, target, false) {
            return Some("No mode opens this path. Go on without it.".to_owned());
        }
        if failure.to_string().contains("[sandbox: escalation available") {
            // The step that works has been named.
            return None;
        }
        let policy = refused.call.policy.as_ref()?;
        let root = policy.workspace_root.as_path();
        let place = self.fs.process_path(target).unwrap_or_else(|| target.display_path().into());
        Some(match policy.mode {
            SandboxMode::ReadOnly => "Nothing can be written here. Say what you would change.".to_owned(),
            SandboxMode::WorkspaceWrite if !place.starts_with(root) => {
                format!(
                    "Write below the workspace instead, \"{}\".",
                    shown(root.as_os_str().as_encoded_bytes())
                )
            }
            _ => "This path is protected. Leave it, and tell the user what you would change.".to_owned(),
        })
    }

    /// The whole text of a file that is not too large, with `\n` for `\r\n`.
    async fn text(&self, target: &FsTarget, call: &FsCall) -> Option<String> {
        let read = self.fs.read_bytes(target, LARGEST_FILE, call).await.ok()?;
        Some(to_lf(text::decode(&read.bytes).ok()?).into_owned())
    }
}

fn too_large(op: FsOp) -> &'static str {
    match op {
        FsOp::Write => "Write less at once, or split it into several files.",
        FsOp::Edit => "It cannot be edited here; read the part you need with offset and limit.",
        _ => "Read a part of it, with offset and limit.",
    }
}

fn owner(exec: &Execution) -> Option<Owner> {
    exec.session.as_ref().map(Owner::of)
}

/// A failure with its hint. Name and code stay; the original is the source.
#[derive(Debug)]
struct Hinted {
    failure: Failure,
    hint: String,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\n{}", self.failure, self.hint)
    }
}

impl std::error::Error for Hinted {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.failure)
    }
}

impl Coded for Hinted {
    fn name(&self) -> &str {
        self.failure.name()
    }

    fn code(&self) -> Option<&str> {
        self.failure.code()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_told_by_what_was_to_be_done() {
        let told = [FsOp::Read, FsOp::Write, FsOp::Edit].map(too_large);
        let expected = [
            "Read a part of it, with offset and limit.",
            "Write less at once, or split it into several files.",
            "It cannot be edited here; read the part you need with offset and limit.",
        ];
        assert_eq!(told, expected);
    }
}
