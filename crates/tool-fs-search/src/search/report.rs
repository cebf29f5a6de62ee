//! What a search has looked at and what it has not, counted while it runs; the latter is told at its end.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use dsh_harness::Pulse;

use crate::search::sieve::Reason;

/// How many entries that could not be read are named.
const NAMED: usize = 3;
/// How many are kept to name the first of them.
const KEPT: usize = 10_000;
/// After how many files it is looked whether it is time to say how many there were.
const BEAT: u64 = 16;

/// The counts of one search. Shared by all that take part.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Files that the sieve took.
    looked_at: AtomicU64,
    /// Where somebody waits to hear of them.
    pulse: Option<Mutex<Pulse>>,
    passed_over: PassedOver,
    /// Folders that were not entered; what is in them is counted when somebody asks.
    folders: Mutex<Vec<(Vec<u8>, Reason)>>,
    unreadable: Mutex<Unreadable>,
}

#[derive(Debug, Default)]
struct PassedOver {
    ignored: AtomicU64,
    hidden: AtomicU64,
    not_included: AtomicU64,
    binary: AtomicU64,
}

#[derive(Debug, Default)]
struct Unreadable {
    count: usize,
    first: Vec<(String, String)>,
}

impl Report {
    /// One that says meanwhile how many files were looked at.
    pub(crate) fn telling(pulse: Pulse) -> Self {
        Self { pulse: Some(Mutex::new(pulse)), ..Self::default() }
    }

    /// A file is looked at now.
    pub(crate) fn looked_at_one(&self) {
        let count = self.looked_at.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_multiple_of(BEAT)
            && let Some(Ok(mut pulse)) = self.pulse.as_ref().map(Mutex::try_lock)
        {
            // Under the lock, so that what is said only grows.
            let count = self.looked_at.load(Ordering::Relaxed);
            #[expect(clippy::cast_precision_loss, reason = "nobody waits for 2^53 files")]
            pulse.beat(count as f64, None, || format!("{count} files looked at"));
        }
    }

    /// `count` files were passed over.
    pub(crate) fn passed_over(&self, reason: Reason, count: u64) {
        let counter = match reason {
            Reason::Ignored => &self.passed_over.ignored,
            Reason::Hidden => &self.passed_over.hidden,
            Reason::NotIncluded => &self.passed_over.not_included,
        };
        counter.fetch_add(count, Ordering::Relaxed);
    }

    /// A file was passed over because it is binary.
    pub(crate) fn binary(&self) {
        self.passed_over.binary.fetch_add(1, Ordering::Relaxed);
    }

    /// A folder was not entered.
    pub(crate) fn folder_passed_over(&self, path: &[u8], reason: Reason) {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_vec(), reason));
    }

    /// The folders that were not entered, to be counted.
    pub(crate) fn take_folders(&self) -> Vec<(Vec<u8>, Reason)> {
        std::mem::take(&mut self.folders.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Something could not be read; `shown` is its path as a model may see it.
    pub(crate) fn unreadable(&self, shown: String, why: String) {
        let mut unreadable = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        unreadable.count += 1;
        if unreadable.first.len() < KEPT {
            unreadable.first.push((shown, why));
        }
    }

    /// One line about what could not be read, if there was anything.
    pub(crate) fn unreadable_notice(&self) -> Option<String> {
        let mut unreadable = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        unreadable.first.sort_unstable();
        let named: Vec<_> =
            unreadable.first.iter().take(NAMED).map(|(path, why)| format!("{path}: {why}")).collect();
        let more = match unreadable.count {
            0 => return None,
            count if count > named.len() => format!("; and {} more", count - named.len()),
            _ => String::new(),
        };
        let entries = if unreadable.count == 1 { "entry" } else { "entries" };
        Some(format!("({} {entries} could not be read: {}{more})", unreadable.count, named.join("; ")))
    }

    /// One line about files that a search without result did not look at, if there were any. `complete`: were they
    /// all counted?
    pub(crate) fn passed_over_notice(&self, complete: bool) -> Option<String> {
        let counts: Vec<_> = [
            (&self.passed_over.ignored, "ignored"),
            (&self.passed_over.hidden, "hidden"),
            (&self.passed_over.binary, "binary"),
            (&self.passed_over.not_included, "not matched by include"),
        ]
        .into_iter()
        .map(|(counter, what)| (counter.load(Ordering::Relaxed), what))
        .filter(|(count, _)| *count > 0)
        .collect();
        let all: u64 = counts.iter().map(|(count, _)| count).sum();
        if all == 0 {
            return None;
        }
        let each: Vec<_> = counts.iter().map(|(count, what)| format!("{count} {what}")).collect();
        let at_least = if complete { "" } else { "at least " };
        let files = if all == 1 { "file was" } else { "files were" };
        Some(format!(
            "({at_least}{all} {files} passed over: {}. To search such a file, name it as path.)",
            each.join(", ")
        ))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_of_nothing() {
        let report = Report::default();
        assert_eq!((report.unreadable_notice(), report.passed_over_notice(true)), (None, None));
    }

    #[test]
    fn files_passed_over_are_counted_by_reason() {
        let report = Report::default();
        report.passed_over(Reason::Hidden, 1);
        assert_eq!(
            report.passed_over_notice(true).unwrap(),
            "(1 file was passed over: 1 hidden. To search such a file, name it as path.)"
        );
        report.passed_over(Reason::Ignored, 2);
        report.passed_over(Reason::NotIncluded, 3);
        report.binary();
        assert_eq!(
            report.passed_over_notice(false).unwrap(),
            "(at least 7 files were passed over: 2 ignored, 1 hidden, 1 binary, 3 not matched by include. To search such \
             a file, name it as path.)"
        );
    }

    #[test]
    fn the_first_entries_that_could_not_be_read_are_named() {
        let report = Report::default();
        report.unreadable("b".to_owned(), "permission denied".to_owned());
        assert_eq!(report.unreadable_notice().unwrap(), "(1 entry could not be read: b: permission denied)");
        for name in ["d", "a", "c"] {
            report.unreadable(name.to_owned(), "it vanished".to_owned());
        }
        assert_eq!(
            report.unreadable_notice().unwrap(),
            "(4 entries could not be read: a: it vanished; b: permission denied; c: it vanished; and 1 more)"
        );
    }
}
