//! Damaged edits: whether a refusal of `edit` names the right place, and the right reason, when `old_string` is nearly right.
//!
//! A valid edit of a real source file is damaged as models damage theirs ([`Way`]), made, and refused. The hint has to name the
//! line that was meant and the way in which it was missed, within its bytes and its time; and where it names one place that
//! differs in indentation, quotes or copied line numbers, doing what it says, to the letter, has to make the edit.
//!
//! The tools are behind [`Desk`]: `cargo xtask prove hints` sits the built program there, the tests a harness of their own.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::ensure;

use crate::dice::Dice;

mod damage;
mod judge;
mod sources;

pub use damage::{Trial, Way};
pub use judge::{Judged, followed, hint_of, judge};
pub use sources::{Sources, sources};

/// Most bytes of a hint.
pub const MOST_BYTES: usize = 600;
/// Longest time of a refused edit with its hint, in a file of a megabyte.
pub const MOST_TIME: Duration = Duration::from_millis(20);
/// Shares, in per cent, that have to be reached.
pub const RIGHT_LINES: f64 = 97.0;
/// The same for the kind.
pub const RIGHT_KINDS: f64 = 90.0;

/// Tools with `editHints`, at which a session reads and edits.
pub trait Desk {
    /// Puts a file into the workspace, as another program would.
    fn put(&mut self, path: &str, text: &str) -> anyhow::Result<()>;

    /// Reads a file, from line `offset` on, `limit` lines; gives what the model sees.
    fn read(&mut self, path: &str, window: Option<(usize, usize)>) -> anyhow::Result<String>;

    /// Edits a file. `Err` holds the text of a refusal.
    fn edit(&mut self, path: &str, old: &str, new: &str) -> anyhow::Result<Result<(), String>>;
}

/// What came out.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Damaged edits that were made.
    pub edits: usize,
    /// Those whose hint names the right line.
    pub right_lines: usize,
    /// Those where the first line that is named is right.
    pub first_lines: usize,
    /// Those whose hint names the right kind.
    pub right_kinds: usize,
    /// For each way: edits, right lines, right kinds.
    pub ways: BTreeMap<Way, [usize; 3]>,
    /// Hints of one place and a kind that can be undone, and those that made the edit when they were followed.
    pub followed: [usize; 2],
    /// Bytes of the longest hint, and of all together.
    pub bytes: [usize; 2],
    /// How long the slowest refused edit took.
    pub slowest: Duration,
    /// Some of what was wrong.
    pub wrong: Vec<String>,
}

/// Makes `edits` damaged edits, as many of each way.
pub fn try_out(desk: &mut dyn Desk, sources: &Sources, edits: usize, seed: u64) -> anyhow::Result<Figures> {
    let mut dice = Dice::new(seed);
    let mut figures = Figures::default();
    while figures.edits < edits {
        let way = Way::ALL[figures.edits % Way::ALL.len()];
        let mut made = None;
        for _ in 0..20_000 {
            made = Trial::new(way, sources, &mut dice, figures.edits);
            if made.is_some() {
                break;
            }
        }
        let Some(trial) = made else { anyhow::bail!("no source can be damaged by {way:?}") };
        one(desk, &trial, &mut figures)?;
    }
    Ok(figures)
}

fn one(desk: &mut dyn Desk, trial: &Trial, figures: &mut Figures) -> anyhow::Result<()> {
    for (path, text) in trial.other.iter().chain([&trial.file]) {
        desk.put(path, text)?;
        desk.read(path, Some((1, 1)))?;
    }
    let path = &trial.file.0;
    let began = Instant::now();
    let Err(said) = desk.edit(path, &trial.damaged, &trial.new)? else {
        anyhow::bail!("a damaged edit was made: {:?} in {path}", trial.damaged);
    };
    figures.slowest = figures.slowest.max(began.elapsed());
    let plain =
        format!("Error: old_string was not found in \"{}\"", said.split('"').nth(1).unwrap_or_default());
    ensure!(said.lines().next() == Some(plain.as_str()), "the first line is another: {said}");
    let hint = hint_of(&said);
    let Judged { line, first, kind } = judge(trial, hint);
    figures.edits += 1;
    figures.right_lines += usize::from(line);
    figures.first_lines += usize::from(first);
    figures.right_kinds += usize::from(kind);
    let of_way = figures.ways.entry(trial.way).or_default();
    for (count, one) in of_way.iter_mut().zip([true, line, kind]) {
        *count += usize::from(one);
    }
    figures.bytes = [figures.bytes[0].max(hint.len()), figures.bytes[1] + hint.len()];
    if !(line && kind) {
        figures.wrong.push(format!("{:?}, line {}: {:?}\n{hint}", trial.way, trial.line, trial.damaged));
    }
    if let Some(old) = followed(trial, hint, desk)? {
        figures.followed[0] += 1;
        match desk.edit(path, &old, &trial.new)? {
            Ok(()) => figures.followed[1] += 1,
            Err(said) => figures.wrong.push(format!("followed to {old:?}:\n{said}\nafter\n{hint}")),
        }
    }
    Ok(())
}

/// A share in per cent.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
pub fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { part as f64 * 100.0 / all as f64 }
}
