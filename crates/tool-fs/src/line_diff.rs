//! Which lines differ: the shortest edit script, found greedily from the top, with an upper bound on the work.
//!
//! Where several shortest scripts exist the choice is that of the reference: paths are extended by growing number
//! of edits and ascending diagonal; of two predecessors the one farther in the old text wins, at a tie a deletion.

use std::collections::HashMap;
use std::ops::Range;

/// More differing lines than this (removed and added together) are shown as one block: the work grows with the
/// square of this number, about 10 ms at the bound.
const MAX_EDITS: usize = 2000;

/// More lines than this on a side are not compared at all.
const MAX_LINES: usize = 200_000;

/// Lines `old` that became lines `new`; indices into the compared slices. Never both empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// The differing blocks of two texts, given as lines, in order; between two blocks lies at least one equal line.
pub(crate) fn changed_blocks(old: &[&str], new: &[&str]) -> Vec<Block> {
    if old == new {
        return Vec::new();
    }
    let script =
        if old.len().max(new.len()) <= MAX_LINES { shortest_script(&numbered(old, new)) } else { None };
    script.unwrap_or_else(|| vec![Block { old: 0..old.len(), new: 0..new.len() }])
}

/// Both sides as numbers, equal for equal lines, so that comparing costs the same for long lines.
struct Numbered {
    old: Vec<u32>,
    new: Vec<u32>,
}

fn numbered<'a>(old: &[&'a str], new: &[&'a str]) -> Numbered {
    let mut numbers: HashMap<&'a str, u32> = HashMap::with_capacity(old.len());
    let mut number = |line: &&'a str| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(line).or_insert(next)
    };
    Numbered { old: old.iter().map(&mut number).collect(), new: new.iter().map(&mut number).collect() }
}

/// How far each diagonal (old position − new position) has come after one number of edits. With each edit the diagonals
/// are every second one.
struct Front {
    lowest: isize,
    /// Old positions; [`UNREACHED`] where no path leads.
    reached: Vec<u32>,
}

const UNREACHED: u32 = u32::MAX;

impl Front {
    /// The old position that was reached on a diagonal next to those of the following front.
    fn at(&self, diagonal: isize) -> Option<usize> {
        let index = usize::try_from(diagonal - self.lowest).ok()? / 2;
        let reached = *self.reached.get(index)?;
        (reached != UNREACHED).then_some(reached as usize)
    }
}

/// One step of a path: where it came from on the front before.
enum Step {
    Removal { from: usize },
    Addition { from: usize },
}

impl Numbered {
    /// The step that leads to `diagonal` from the front before, if any does.
    fn step(&self, before: &Front, diagonal: isize) -> Option<Step> {
        let removal = before.at(diagonal - 1).filter(|&old| old < self.old.len());
        let addition = before
            .at(diagonal + 1)
            .filter(|&old| new_position(old, diagonal + 1).is_some_and(|new| new < self.new.len()));
        match (removal, addition) {
            (Some(removal), Some(addition)) if removal < addition => Some(Step::Addition { from: addition }),
            (Some(from), _) => Some(Step::Removal { from }),
            (None, Some(from)) => Some(Step::Addition { from }),
            (None, None) => None,
        }
    }

    /// Follows equal lines from `old` on `diagonal`; the positions where they end.
    fn follow(&self, mut old: usize, diagonal: isize) -> Option<(usize, usize)> {
        let mut new = new_position(old, diagonal)?;
        while old < self.old.len() && new < self.new.len() && self.old[old] == self.new[new] {
            old += 1;
            new += 1;
        }
        Some((old, new))
    }
}

/// An old position as a front keeps it; [`MAX_LINES`] is far below the limit.
fn position(old: usize) -> u32 {
    u32::try_from(old).unwrap_or(UNREACHED)
}

fn new_position(old: usize, diagonal: isize) -> Option<usize> {
    old.checked_add_signed(-diagonal)
}

/// The blocks of the shortest script; `None` beyond [`MAX_EDITS`].
fn shortest_script(sides: &Numbered) -> Option<Vec<Block>> {
    let (old_len, new_len) = (sides.old.len(), sides.new.len());
    let (start, _) = sides.follow(0, 0)?;
    let mut fronts = vec![Front { lowest: 0, reached: vec![position(start)] }];
    // Diagonals whose path has reached the end of a side lead nowhere better.
    let (mut lowest, mut highest) = (isize::MIN, isize::MAX);
    for edits in 1..=MAX_EDITS.min(old_len + new_len) {
        let reach = edits.cast_signed();
        let first = if lowest > -reach { lowest + (lowest + reach).rem_euclid(2) } else { -reach };
        let before = fronts.last()?;
        let mut front = Front { lowest: first, reached: Vec::with_capacity(edits + 1) };
        let mut diagonal = first;
        while diagonal <= highest.min(reach) {
            let reached = match sides.step(before, diagonal) {
                None => None,
                Some(Step::Removal { from }) => sides.follow(from + 1, diagonal),
                Some(Step::Addition { from }) => sides.follow(from, diagonal),
            };
            front.reached.push(reached.map_or(UNREACHED, |(old, _)| position(old)));
            if let Some((old, new)) = reached {
                if old >= old_len && new >= new_len {
                    return Some(blocks(sides, &fronts, diagonal));
                }
                if old >= old_len {
                    highest = highest.min(diagonal - 1);
                }
                if new >= new_len {
                    lowest = lowest.max(diagonal + 1);
                }
            }
            diagonal += 2;
        }
        fronts.push(front);
    }
    None
}

/// Walks back from the end on `diagonal` and gathers what was removed and added.
fn blocks(sides: &Numbered, fronts: &[Front], mut diagonal: isize) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for front in fronts.iter().rev() {
        let Some(step) = sides.step(front, diagonal) else { break };
        let (old, new) = match step {
            Step::Removal { from } => {
                diagonal -= 1;
                (from..from + 1, new_position(from, diagonal).map(|new| new..new))
            }
            Step::Addition { from } => {
                diagonal += 1;
                (from..from, new_position(from, diagonal).map(|new| new..new + 1))
            }
        };
        let Some(new) = new else { break };
        match blocks.last_mut() {
            Some(block) if block.old.start == old.end && block.new.start == new.end => {
                *block = Block { old: old.start..block.old.end, new: new.start..block.new.end };
            }
            _ => blocks.push(Block { old, new }),
        }
    }
    blocks.reverse();
    blocks
}

#[cfg(test)]
mod tests;
