//! [`History`]: what strangers and tools did to one file, and whether it adds up.
//!
//! Every text that anybody wrote is unique, so texts stand for events. The times are of one clock; a call or a write
//! happened somewhere between its start and its end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use crate::prove::tally::Tally;

/// A write of a stranger that was completed.
#[derive(Clone, Debug)]
pub struct Write {
    /// What it wrote.
    pub text: String,
    /// What it saw in the file just before.
    pub seen: String,
    /// Before it.
    pub start: Duration,
    /// After it.
    pub end: Duration,
    /// Whether the file that was written to still had the name afterwards.
    pub landed: bool,
}

/// An edit or write through the tool, with the read before it.
#[derive(Clone, Debug)]
pub struct Call {
    /// Before the read.
    pub read_start: Duration,
    /// After the read, before the change.
    pub start: Duration,
    /// After the change.
    pub end: Duration,
    /// What it would have put into the file.
    pub candidate: String,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a call ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It says that it replaced `before` by `after`.
    Applied {
        /// The old text.
        before: String,
        /// The new text.
        after: String,
    },
    /// It says that it did nothing.
    Refused {
        /// Of the error.
        code: String,
        /// What a model would see.
        message: String,
    },
}

/// All that happened.
#[derive(Clone, Debug)]
pub struct History {
    /// The text at the beginning.
    pub initial: String,
    /// By strangers, in their order.
    pub writes: Vec<Write>,
    /// By tools, in no order.
    pub calls: Vec<Call>,
    /// The text at the end.
    pub end: String,
    /// What lies beside the file at the end.
    pub kept: Vec<(PathBuf, String)>,
}

impl History {
    /// Counts, and finds what does not add up.
    pub fn judge(&self) -> Tally {
        let mut tally = Tally::default();
        let applied = self.applied();
        self.every_before_was_there(&mut tally);
        let lost = self.no_write_is_lost(&applied, &mut tally);
        self.nothing_is_left(&mut tally);
        let displaced = self.writes.iter().filter(|write| !write.landed).count();
        tally.figure("writes by three strangers", self.writes.len());
        tally.figure("of them into a file held open across a publication", displaced);
        tally.figure("edits and writes of ours against them", self.calls.len());
        tally.figure("of them applied, each to the text that was there", applied.len());
        self.no_refusal_without_a_change(&mut tally);
        tally.figure("completed writes of strangers that were lost", lost);
        tally.figure("kept as conflict files", self.kept.len());
        tally
    }

    /// What was applied, from the text before to the text after.
    fn applied(&self) -> BTreeMap<&str, &str> {
        let both = self.calls.iter().filter_map(|call| match &call.outcome {
            Outcome::Applied { before, after } => Some((before.as_str(), after.as_str())),
            Outcome::Refused { .. } => None,
        });
        both.collect()
    }

    /// Each text that was replaced had been written by somebody, was replaced once, and was current at some time during
    /// the call.
    fn every_before_was_there(&self, tally: &mut Tally) {
        // When a text was surely in the file.
        let mut births = BTreeMap::from([(self.initial.as_str(), Duration::ZERO)]);
        births.extend(self.writes.iter().map(|write| (write.text.as_str(), write.end)));
        for call in &self.calls {
            if let Outcome::Applied { after, .. } = &call.outcome {
                births.insert(after, call.end);
            }
        }
        let mut replaced = BTreeSet::new();
        for call in &self.calls {
            let Outcome::Applied { before, after } = &call.outcome else { continue };
            let name = first_line(before);
            tally
                .check(*after == call.candidate, || format!("{}: not what was asked for", first_line(after)));
            tally.check(replaced.insert(before), || format!("{name}: replaced twice, so a change was lost"));
            let Some(birth) = births.get(before.as_str()) else {
                tally.fail(format!("{name}: replaced, but nobody wrote that"));
                continue;
            };
            // Somebody else's write that began after this text was there and was over before the call began.
            let newer = self.writes.iter().find(|w| w.landed && w.start > *birth && w.end < call.start);
            if let Some(newer) = newer {
                let newer = first_line(&newer.text);
                tally.fail(format!("{name}: was replaced, but {newer} had been there since"));
            }
        }
    }

    /// What each stranger saw comes from the last completed write by applied changes alone.
    fn no_write_is_lost(&self, applied: &BTreeMap<&str, &str>, tally: &mut Tally) -> usize {
        let candidates: BTreeSet<&str> = self
            .calls
            .iter()
            .filter(|call| matches!(call.outcome, Outcome::Refused { .. }))
            .map(|call| call.candidate.as_str())
            .collect();
        let mut lost = 0;
        // What the file may have come from: more than one text after a write that may not have landed.
        let mut bases = vec![self.initial.as_str()];
        let looks = self.writes.iter().map(|write| (write.seen.as_str(), Some(write)));
        for (seen, write) in looks.chain([(self.end.as_str(), None)]) {
            if let Some(base) = bases.iter().find(|base| comes_from(seen, base, applied)) {
                bases = vec![base];
            } else if candidates.contains(seen) && write.is_some() {
                // Withdrawn later; the next look sees what it was withdrawn for.
            } else {
                let newest = bases.last().copied().unwrap_or_default();
                if !self.kept.iter().any(|(_, text)| text == newest) {
                    lost += 1;
                    let (newest, seen) = (first_line(newest), first_line(seen));
                    tally.fail(format!("{newest}: lost without an error; then there was {seen}"));
                }
                bases = vec![seen];
            }
            match write {
                Some(write) if write.landed => bases = vec![&write.text],
                Some(write) => bases.push(&write.text),
                None => {}
            }
        }
        lost
    }

    /// A call that was refused overlaps with somebody else's write, from its read to its end.
    fn no_refusal_without_a_change(&self, tally: &mut Tally) {
        let mut refusals: BTreeMap<&str, usize> = BTreeMap::new();
        for (number, call) in self.calls.iter().enumerate() {
            let Outcome::Refused { code, message } = &call.outcome else { continue };
            *refusals.entry(code).or_default() += 1;
            let overlaps = |start: Duration, end: Duration| start <= call.end && end >= call.read_start;
            let others = self.calls.iter().enumerate().filter(|(other, _)| *other != number);
            let stranger = self.writes.iter().any(|write| overlaps(write.start, write.end));
            // A refused call of another process counts too: its candidate may have been there for a moment.
            let changed = stranger || others.into_iter().any(|(_, other)| overlaps(other.start, other.end));
            tally.check(changed, || format!("refused though nobody wrote: {message}"));
            tally.check(code.starts_with("FS_"), || format!("refused without a code of its own: {message}"));
        }
        for (code, count) in refusals {
            tally.figure(format!("of them refused with {code}"), count);
        }
    }

    /// Beside the file lies nothing but what an error has named.
    fn nothing_is_left(&self, tally: &mut Tally) {
        for (path, _) in &self.kept {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let told = self.calls.iter().any(|call| match &call.outcome {
                Outcome::Refused { message, .. } => message.contains(&*name),
                Outcome::Applied { .. } => false,
            });
            tally.check(told, || format!("{name}: left behind, and no error names it"));
        }
    }
}

/// Does `text` come from `base` by applied changes?
fn comes_from(text: &str, base: &str, applied: &BTreeMap<&str, &str>) -> bool {
    let mut current = base;
    for _ in 0..=applied.len() {
        if current == text {
            return true;
        }
        let Some(next) = applied.get(current) else { return false };
        current = next;
    }
    false
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_start_matches("id").trim()
}
