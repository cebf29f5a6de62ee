//! `old_string` is in the file more than once: where, and what would make it one.

use std::ops::Range;

use memchr::memmem;

use crate::hint::budget::{Deadline, LONGEST_REQUEST, Said};
use crate::hint::lines::Lines;

/// The most matches whose lines are named.
const NAMED: usize = 10;
/// The most matches that are compared; with more of them there is no extension.
const COMPARED: usize = 10_000;
/// After this many matches that were compared the time is looked at.
const STARTS_AT_ONCE: usize = 64;
/// The most lines that an extension adds.
const MOST_LINES: usize = 8;

/// The lines of the matches, and for each of the first two the fewest whole lines around it that are nowhere else. Both
/// texts have `\n` for `\r\n`.
pub(crate) fn ambiguous(text: &str, old: &str, deadline: Deadline) -> Option<String> {
    if old.len() > LONGEST_REQUEST {
        return None;
    }
    let starts = matches(text, old, deadline)?;
    if starts.len() < 2 {
        return None;
    }
    let lines = Lines::of(text);
    let mut said = Said::default();
    let shown: Vec<String> = starts.iter().take(NAMED).map(|&at| (lines.at(at) + 1).to_string()).collect();
    let more = if starts.len() > NAMED { ", …" } else { "" };
    said.add(&format!("Matches begin at lines {}{more}.", shown.join(", ")));
    if starts.len() <= COMPARED {
        for &at in &starts[..2] {
            if let Some(span) = unique(&lines, &starts, at..at + old.len(), deadline) {
                let number = lines.at(at) + 1;
                said.add(&format!("\nFor the one at line {number}, old_string could be:\n{}", &text[span]));
            }
        }
    }
    said.into_hint()
}

/// The span, if its text is nowhere else, or else the fewest whole lines around it that are nowhere else.
pub(crate) fn unique_around(
    lines: &Lines<'_>,
    span: Range<usize>,
    deadline: Deadline,
) -> Option<Range<usize>> {
    let starts = matches(lines.text, &lines.text[span.clone()], deadline)?;
    match starts.len() {
        0 => None,
        1 => Some(span),
        2..=COMPARED => unique(lines, &starts, span, deadline),
        _ => None,
    }
}

/// Where the text is, overlapping places too; `None` where the time is over.
fn matches(text: &str, old: &str, deadline: Deadline) -> Option<Vec<usize>> {
    let finder = memmem::Finder::new(old);
    let (mut starts, mut from) = (Vec::new(), 0);
    while let Some(rest) = text.as_bytes().get(from..) {
        if deadline.is_over() {
            return None;
        }
        let Some(at) = finder.find(rest) else { break };
        starts.push(from + at);
        // A match begins with a whole character, but the next byte need not begin one: it cannot match then.
        from += at + 1;
        if starts.len() > COMPARED {
            break;
        }
    }
    Some(starts)
}

/// The smallest span of whole lines around `span` that only this match has around it.
fn unique(
    lines: &Lines<'_>,
    starts: &[usize],
    span: Range<usize>,
    deadline: Deadline,
) -> Option<Range<usize>> {
    let (first, last) = lines.spanned(&span);
    for added in 0..=MOST_LINES {
        // What stands before a match tells it apart more often than what stands behind it.
        for above in (0..=added.min(first)).rev() {
            let below = last + added - above;
            if below >= lines.count() {
                continue;
            }
            let mut wider = lines.range(first - above).start..lines.range(below).end;
            if lines.text[wider.clone()].ends_with('\n') && wider.end > span.end {
                wider.end -= 1;
            }
            if is_unique(lines.text, starts, &span, &wider, deadline)? {
                return Some(wider);
            }
        }
    }
    None
}

/// Does no other match have the same text around it? Every other place of `wider` would hold a match. `None` where the
/// time is over.
fn is_unique(
    text: &str,
    starts: &[usize],
    span: &Range<usize>,
    wider: &Range<usize>,
    deadline: Deadline,
) -> Option<bool> {
    let (bytes, wanted) = (text.as_bytes(), &text.as_bytes()[wider.clone()]);
    let before = span.start - wider.start;
    for some in starts.chunks(STARTS_AT_ONCE) {
        if deadline.is_over() {
            return None;
        }
        let is_elsewhere = some.iter().filter(|&&at| at != span.start).any(|&at| {
            let from = at.checked_sub(before);
            from.and_then(|from| bytes.get(from..from + wanted.len())).is_some_and(|there| there == wanted)
        });
        if is_elsewhere {
            return Some(false);
        }
    }
    Some(true)
}

#[cfg(test)]
mod tests;
