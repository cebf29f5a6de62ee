//! The lines that resemble a text which is nowhere in the file, not even in its [`Skeleton`].

use std::collections::HashMap;
use std::ops::Range;

use crate::hint::budget::Deadline;
use crate::hint::fold::{Skeleton, skeleton};
use crate::hint::lines::Lines;

/// Where a text could have been meant, as spans of whole lines counted from 0; the best first, and none that is much worse.
pub(crate) fn places(
    lines: &Lines<'_>,
    file: &Skeleton<'_>,
    old: &str,
    deadline: Deadline,
) -> Vec<Range<usize>> {
    let wanted: Vec<String> = old.trim_end_matches('\n').split('\n').map(skeleton).collect();
    let mut starts = by_equal_lines(lines, file, &wanted, deadline);
    if deadline.is_over() {
        return Vec::new();
    }
    starts.extend(by_longest_line(lines, file, &wanted));
    starts.sort_unstable();
    starts.dedup();
    let mut scored: Vec<(f64, usize)> = Vec::new();
    for start in starts {
        let Some(score) = resemblance(lines, file, &wanted, start, deadline) else { return Vec::new() };
        scored.push((score, start));
    }
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let best = scored.first().map_or(0.0, |&(score, _)| score);
    let close = scored.into_iter().take_while(|&(score, _)| score >= ENOUGH && score >= best * CLOSE);
    close.take(3).map(|(_, start)| start..(start + wanted.len()).min(lines.count())).collect()
}

/// From this share of equal groups of three characters on, a place is worth a model's look.
const ENOUGH: f64 = 0.45;
/// What is this close to the best is named too.
const CLOSE: f64 = 0.97;
/// The most starts that either way proposes.
const PROPOSED: usize = 8;
/// The most places in the request that one distinct line of it votes for.
const VOTES: usize = 8;
/// After this many lines of the file the time is looked at.
const LINES_AT_ONCE: usize = 1024;
/// Lines that are longer are data, and resemble everything.
const LONGEST_LINE: usize = 4096;

/// First lines for which the most, and the longest, lines are equal; none where the time is over.
fn by_equal_lines(
    lines: &Lines<'_>,
    file: &Skeleton<'_>,
    wanted: &[String],
    deadline: Deadline,
) -> Vec<usize> {
    let places = indexes(wanted);
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for number in 0..lines.count() {
        if number % LINES_AT_ONCE == 0 && deadline.is_over() {
            return Vec::new();
        }
        let line = file.line(number);
        for index in places.get(line).into_iter().flatten() {
            if let Some(start) = number.checked_sub(*index) {
                *votes.entry(start).or_default() += line.len().min(40);
            }
        }
    }
    let mut votes: Vec<(usize, usize)> = votes.into_iter().collect();
    votes.sort_unstable_by_key(|&(start, votes)| (usize::MAX - votes, start));
    votes.into_iter().take(PROPOSED).map(|(start, _)| start).collect()
}

/// Where each line that tells something is in the request; only its first places, or a request of one line over and over
/// would cost its length for each line of the file.
fn indexes(wanted: &[String]) -> HashMap<&str, Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate().filter(|(_, line)| line.len() > 3) {
        let places = places.entry(line).or_default();
        if places.len() < VOTES {
            places.push(index);
        }
    }
    places
}

/// First lines for which the longest line has the most groups of three characters in common.
fn by_longest_line(lines: &Lines<'_>, file: &Skeleton<'_>, wanted: &[String]) -> Vec<usize> {
    let Some((index, probe)) = wanted.iter().enumerate().max_by_key(|(_, line)| line.len()) else {
        return Vec::new();
    };
    let mut groups = Groups::of(probe);
    let mut best: Vec<(usize, usize)> = Vec::new();
    for number in index..lines.count() {
        let shared = groups.shared_with(file.line(number));
        if shared * 3 > groups.distinct
            && (best.len() < PROPOSED || best.last().is_some_and(|&(least, _)| shared > least))
        {
            let at = best.partition_point(|&(score, _)| score >= shared);
            best.insert(at, (shared, number - index));
            best.truncate(PROPOSED);
        }
    }
    best.into_iter().map(|(_, start)| start).collect()
}

/// From 0 to 1: the share of the text that the lines from `start` on have, each line one further up or down if need be. `None`
/// where the time is over.
fn resemblance(
    lines: &Lines<'_>,
    file: &Skeleton<'_>,
    wanted: &[String],
    start: usize,
    deadline: Deadline,
) -> Option<f64> {
    let (mut shared, mut all) = (0.0, 0.0);
    for (index, line) in wanted.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        if deadline.is_over() {
            return None;
        }
        let mut groups = Groups::of(line);
        let weight = to_f64(line.len());
        let at = start + index;
        let near = (at.saturating_sub(1)..=at + 1).filter(|&number| number < lines.count());
        let best = near.map(|number| {
            let there = file.line(number);
            // Right where it is expected, and no longer than expected, is a little better than elsewhere.
            let off = if number == at { 0.0 } else { 0.02 };
            let longer = to_f64(there.len().saturating_sub(line.len())) / to_f64(there.len().max(1));
            groups.share(there) - off - 0.05 * longer
        });
        shared += weight * best.fold(0.0, f64::max);
        all += weight;
    }
    Some(if all > 0.0 { shared / all } else { 0.0 })
}

fn to_f64(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

/// The groups of three bytes of a text, by their hash: enough to tell much from little.
struct Groups {
    /// For each hash: 0 where it is not of the text, else the round in which it was last met.
    met: Vec<u32>,
    round: u32,
    distinct: usize,
    text: String,
}

const HASHES: usize = 1 << 13;

impl Groups {
    fn of(text: &str) -> Self {
        let mut groups = Self { met: vec![0; HASHES], round: 1, distinct: 0, text: text.to_owned() };
        for group in text.as_bytes().windows(3) {
            let met = &mut groups.met[hash(group)];
            groups.distinct += usize::from(*met == 0);
            *met = 1;
        }
        groups
    }

    fn shared_with(&mut self, line: &str) -> usize {
        if line.len() > LONGEST_LINE {
            return 0;
        }
        self.round += 1;
        let mut shared = 0;
        for group in line.as_bytes().windows(3) {
            let met = &mut self.met[hash(group)];
            if *met != 0 && *met != self.round {
                *met = self.round;
                shared += 1;
            }
        }
        shared
    }

    fn share(&mut self, line: &str) -> f64 {
        if self.distinct == 0 {
            return if line.contains(&self.text) { 1.0 } else { 0.0 };
        }
        to_f64(self.shared_with(line)) / to_f64(self.distinct)
    }
}

fn hash(group: &[u8]) -> usize {
    group.iter().fold(0_usize, |hash, &byte| hash.wrapping_mul(331).wrapping_add(usize::from(byte))) % HASHES
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_line_over_and_over_votes_for_a_few_places_only() {
        let mut wanted = vec!["abcd".to_owned(); 13_000];
        wanted.extend(["other", "a"].map(str::to_owned));
        let places = indexes(&wanted);
        assert_eq!(places["abcd"], [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!((places.len(), &places["other"]), (2, &vec![13_000]));
    }

    #[test]
    fn a_large_file_of_one_line_proposes_a_few_starts_and_none_without_time() {
        let text = "abcd\n".repeat(200_000);
        let (lines, file) = (Lines::of(&text), Skeleton::of(&text));
        let wanted = vec!["abcd".to_owned(); 13_000];
        let starts = |time| by_equal_lines(&lines, &file, &wanted, Deadline::after(time));
        assert_eq!(starts(Duration::from_secs(60)), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(starts(Duration::ZERO), [0_usize; 0]);
        assert_eq!(places(&lines, &file, "abcd\nzz", Deadline::after(Duration::ZERO)), []);
    }
}
