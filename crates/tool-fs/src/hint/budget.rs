//! How much a hint may cost: bytes in a model's context, and time before the refusal is out.

use std::time::{Duration, Instant};

/// Most bytes of one hint, the blank line before it aside.
pub(crate) const MOST_BYTES: usize = 600;

/// The largest file that is looked at for a hint, in bytes.
pub(crate) const LARGEST_FILE: u64 = 1 << 20;

/// Nothing is told of a request that is longer than this, in bytes.
pub(crate) const LONGEST_REQUEST: usize = 64 << 10;

/// Longest time that a hint is worked on; a file of [`LARGEST_FILE`] takes about half of it.
pub(crate) const MOST_TIME: Duration = Duration::from_millis(20);

/// The moment after which there is no hint any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// `time` from now. A build without optimisation works so much slower that it gets a multiple, or its tests
    /// would see other hints than users do.
    pub(crate) fn after(time: Duration) -> Self {
        let slower = if cfg!(debug_assertions) { 50 } else { 1 };
        Self(Instant::now() + time * slower)
    }

    /// Is it over?
    pub(crate) fn is_over(self) -> bool {
        Instant::now() >= self.0
    }

    /// The time until then.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}

/// A hint in the making: whole sentences, as long as they fit.
#[derive(Debug, Default)]
pub(crate) struct Said(String);

impl Said {
    /// Adds the part if it fits; says whether it did.
    pub(crate) fn add(&mut self, part: &str) -> bool {
        let fits = self.0.len() + part.len() <= MOST_BYTES;
        if fits {
            self.0.push_str(part);
        }
        fits
    }

    /// The hint; `None` where nothing was said.
    pub(crate) fn into_hint(self) -> Option<String> {
        (!self.0.is_empty()).then_some(self.0)
    }
}

/// The start of a line as it is quoted, with a mark where it goes on. A carriage return is written out, or it would hide
/// what stands before it.
pub(crate) fn quoted(line: &str, most: usize) -> String {
    let cut = (0..=most.min(line.len())).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0);
    let mark = if cut < line.len() { "…" } else { "" };
    format!("{}{mark}", line[..cut].replace('\r', "\\r"))
}
