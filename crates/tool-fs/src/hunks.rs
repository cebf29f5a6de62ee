//! The changes of a file as hunks for a diff card: changed lines with three lines around them.
//!
//! An edit knows what it replaced, so its hunks cost the change and not the file. A whole-file write is compared
//! line by line between the first and the last difference, with an upper bound on the work.

use dsh_fs::literal_edit::Change;
use serde::{Deserialize, Serialize};

use crate::line_diff::{Block, changed_blocks};

/// Lines shown before and after a change.
const CONTEXT: usize = 3;

/// One hunk: the same lines before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// The path as the model wrote it.
    pub path: String,
    /// The old lines, joined by `\n`; `None` where there were none.
    pub old_text: Option<String>,
    /// The new lines, joined by `\n`.
    pub new_text: String,
}

/// The hunks of an edit. `changes` are byte ranges of both texts, in order.
pub fn of_edit(path: &str, before: &str, after: &str, changes: &[Change]) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    let mut changes = changes.iter().peekable();
    while let Some(first) = changes.next() {
        let mut last = first;
        let stretch = loop {
            while let Some(next) = changes.next_if(|next| near(&before[last.before.end..next.before.start])) {
                last = next;
            }
            let next_change =
                changes.peek().map_or(before.len(), |next| line_start(before, next.before.start));
            let stretch = Stretch::around(first, last, before, after).slid_down(before, after, next_change);
            // It may have slid close to the next change, which must not lie in its context.
            match changes.next_if(|next| near(&before[stretch.old.end..next.before.start])) {
                Some(next) => last = next,
                None => break stretch,
            }
        };
        stretch.hunks(path, before, after, &mut hunks);
    }
    hunks
}

/// The hunks of a whole-file write.
pub fn of_rewrite(path: &str, before: &str, after: &str) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    if before != after {
        let stretch = Stretch { old: 0..before.len(), new: 0..after.len() };
        stretch.trimmed(before, after).hunks(path, before, after, &mut hunks);
    }
    hunks
}

/// Do two changes with this text between them share a hunk? Up to twice the context of whole lines lies between.
fn near(between: &str) -> bool {
    // One line ending ends the line of the first change.
    memchr::memchr_iter(b'\n', between.as_bytes()).nth(2 * CONTEXT + 1).is_none()
}

/// Ranges of whole lines outside which both texts are the same.
#[derive(Clone)]
struct Stretch {
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

impl Stretch {
    /// The lines that these changes and what lies between them touch.
    fn around(first: &Change, last: &Change, before: &str, after: &str) -> Self {
        let at_line_start = |text: &str, at: usize| line_start(text, at) == at;
        let (old_end, new_end) = (last.before.end, last.after.end);
        // Behind the last change both texts are the same, so both lines end after the same number of bytes.
        let rest = if at_line_start(before, old_end) && at_line_start(after, new_end) {
            0
        } else {
            line_end(before, old_end) - old_end
        };
        Self {
            old: line_start(before, first.before.start)..old_end + rest,
            new: line_start(after, first.after.start)..new_end + rest,
        }
    }

    /// Without the lines that are the same at the start and at the end.
    fn trimmed(mut self, before: &str, after: &str) -> Self {
        let (old, new) = (&before[self.old.clone()], &after[self.new.clone()]);
        let prefix: usize =
            lines(old).zip(lines(new)).take_while(|(old, new)| old == new).map(|(line, _)| line.len()).sum();
        self.old.start += prefix;
        self.new.start += prefix;
        loop {
            let (old, new) = (last_line(&before[self.old.clone()]), last_line(&after[self.new.clone()]));
            if old.is_empty() || old != new {
                return self;
            }
            self.old.end -= old.len();
            self.new.end -= new.len();
        }
    }

    /// A mere insertion or deletion is shown as late as the lines around it allow, as a comparison of whole files
    /// from the top would find it; not beyond `limit`, where the next change begins.
    fn slid_down(self, before: &str, after: &str, limit: usize) -> Self {
        let mut at = self.trimmed(before, after);
        while at.old.is_empty() != at.new.is_empty() && at.old.end < limit {
            let following = lines(&before[at.old.end..]).next().unwrap_or_default();
            let first = if at.old.is_empty() {
                lines(&after[at.new.clone()]).next()
            } else {
                lines(&before[at.old.clone()]).next()
            };
            if first != Some(following) {
                break;
            }
            at = Self {
                old: at.old.start + following.len()..at.old.end + following.len(),
                new: at.new.start + following.len()..at.new.end + following.len(),
            };
        }
        at
    }

    /// Adds the hunks of this stretch.
    fn hunks(self, path: &str, before: &str, after: &str, hunks: &mut Vec<Hunk>) {
        let lead = context_before(before, self.old.start);
        let trail = context_after(before, self.old.end);
        let old: Vec<&str> = lines(&before[lead..trail]).collect();
        let behind = trail - self.old.end;
        let new: Vec<&str> = lines(&before[lead..self.old.start])
            .chain(lines(&after[self.new.start..self.new.end + behind]))
            .collect();
        let blocks = changed_blocks(&old, &new);
        let mut blocks = blocks.iter().peekable();
        while let Some(first) = blocks.next() {
            let mut last = first;
            while let Some(next) = blocks.next_if(|next| next.old.start - last.old.end <= 2 * CONTEXT) {
                last = next;
            }
            hunks.push(hunk(path, &old, &new, first, last));
        }
    }
}

fn hunk(path: &str, old: &[&str], new: &[&str], first: &Block, last: &Block) -> Hunk {
    let lead = first.old.start.min(CONTEXT);
    let trail = (old.len() - last.old.end).min(CONTEXT);
    let old = &old[first.old.start - lead..last.old.end + trail];
    let new = &new[first.new.start - lead..last.new.end + trail];
    Hunk { path: path.to_owned(), old_text: (!old.is_empty()).then(|| joined(old)), new_text: joined(new) }
}

fn joined(lines: &[&str]) -> String {
    let bare: Vec<&str> = lines.iter().map(|line| line.strip_suffix('\n').unwrap_or(line)).collect();
    bare.join("\n")
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n')
}

fn last_line(text: &str) -> &str {
    let body = text.strip_suffix('\n').unwrap_or(text);
    &text[line_start(body, body.len())..]
}

fn line_start(text: &str, at: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |newline| newline + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |newline| at + newline + 1)
}

fn context_before(text: &str, mut at: usize) -> usize {
    for _ in 0..CONTEXT {
        if at == 0 {
            break;
        }
        at = line_start(text, at - 1);
    }
    at
}

fn context_after(text: &str, mut at: usize) -> usize {
    for _ in 0..CONTEXT {
        if at == text.len() {
            break;
        }
        at = line_end(text, at);
    }
    at
}

#[cfg(test)]
mod tests;
