//! `old_string` is not in the file: where it was meant to be, and what differs.

use std::ops::Range;

use memchr::memmem;

use crate::hint::ambiguous;
use crate::hint::budget::{Deadline, LONGEST_REQUEST, MOST_BYTES, Said, quoted};
use crate::hint::copied::{self, Meant};
use crate::hint::difference::Difference;
use crate::hint::fold::{Skeleton, skeleton};
use crate::hint::kind::{Kind, between, listed};
use crate::hint::lines::{Lines, named};
use crate::hint::similar;

/// What is to be said of a text that was not found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Nearest {
    /// There is no doubt which place was meant, or that the edit was made already.
    Certain(String),
    /// A place only resembles it: if the text is in another file to the letter, that comes first.
    Alike(String),
    /// Nothing comes near.
    Nothing,
}

/// A place in the file that may have been meant.
#[derive(Debug)]
struct Place {
    span: Range<usize>,
    kinds: Vec<Kind>,
}

impl Place {
    fn difference(&self, lines: &Lines<'_>, old: &str) -> Difference {
        Difference::of(lines, &self.span, old, self.kinds == [Kind::Text])
    }
}

/// The most places that are named.
const MOST_PLACES: usize = 3;
/// The most places that are looked at to name the nearest.
const LOOKED_AT: usize = 64;
/// Texts of this many visible characters are not in a file by chance.
const TELLING: usize = 16;

/// Looks for `old` in `text`, where it is not to be found exactly. All three have `\n` for `\r\n`.
pub(crate) fn nearest(text: &str, old: &str, new: &str, deadline: Deadline) -> Nearest {
    let lines = Lines::of(text);
    if old.len() > LONGEST_REQUEST
        || deadline.is_over()
        || memmem::find(text.as_bytes(), old.as_bytes()).is_some()
    {
        return Nearest::Nothing;
    }
    let copied = copied::meant(old);
    let exact = places_of_copies(&lines, &copied);
    if !exact.is_empty() {
        return Nearest::Certain(told(&lines, old, &exact, deadline));
    }
    let file = Skeleton::of(text);
    let mut places = places_of(text, &file, old, &[], deadline);
    for meant in &copied {
        if places.is_empty() && !deadline.is_over() {
            places = places_of(text, &file, &meant.text, &[meant.kind], deadline);
        }
    }
    if deadline.is_over() {
        return Nearest::Nothing;
    }
    if !places.is_empty() {
        return Nearest::Certain(
            made_already(&lines, old, new, &places).unwrap_or_else(|| told(&lines, old, &places, deadline)),
        );
    }
    let alike: Vec<Place> = similar::places(&lines, &file, old, deadline)
        .into_iter()
        .map(|rows| whole_lines(&lines, rows, old))
        .collect();
    if let Some(already) = made_already(&lines, old, new, &alike) {
        return Nearest::Certain(already);
    }
    if alike.is_empty() { Nearest::Nothing } else { Nearest::Alike(told(&lines, old, &alike, deadline)) }
}

/// Places of texts that `old` becomes without what was copied into it; a line number that was copied tells which is meant.
fn places_of_copies(lines: &Lines<'_>, copied: &[Meant]) -> Vec<Place> {
    for Meant { kind, text, line } in copied {
        let found = memmem::find_iter(lines.text.as_bytes(), text.as_bytes()).take(LOOKED_AT * LOOKED_AT);
        let mut starts: Vec<usize> = found.collect();
        if let Some(meant) = starts.iter().copied().find(|&at| Some(lines.at(at) + 1) == *line) {
            starts = vec![meant];
        }
        starts.truncate(MOST_PLACES);
        if !starts.is_empty() {
            let place = |at| Place { span: at..at + text.len(), kinds: vec![*kind] };
            return starts.into_iter().map(place).collect();
        }
    }
    Vec::new()
}

/// The places with the skeleton of `old`, those that differ least: with one kind rather than with two, by anything rather
/// than by blanks in the middle of a line; none where the time is over.
fn places_of(text: &str, file: &Skeleton<'_>, old: &str, before: &[Kind], deadline: Deadline) -> Vec<Place> {
    let found = file.find(&skeleton(old), LOOKED_AT, deadline).into_iter().map(|core| {
        if deadline.is_over() {
            return None;
        }
        let span = with_blanks_like(text, core, old);
        let kinds = [before, &between(&text[span.clone()], old)].concat();
        Some(Place { span, kinds })
    });
    let rank = |place: &Place| (place.kinds.contains(&Kind::Spacing), place.kinds.len());
    let mut places: Vec<Place> = found.collect::<Option<_>>().unwrap_or_default();
    let least = places.iter().map(rank).min();
    places.retain(|place| Some(rank(place)) == least);
    places.truncate(MOST_PLACES);
    places
}

/// The span with the blanks before and behind it that correspond to those of `old`.
fn with_blanks_like(text: &str, core: Range<usize>, old: &str) -> Range<usize> {
    let lead = &old[..old.len() - old.trim_start().len()];
    let tail = &old[old.trim_end().len()..];
    let back = text[..core.start].char_indices().rev();
    let start = taken(back, lead, lead.starts_with(is_inline)).map_or(core.start, |(at, _)| at);
    let on = text[core.end..].char_indices();
    let end = taken(on, tail, tail.ends_with(is_inline))
        .map_or(core.end, |(at, blank)| core.end + at + blank.len_utf8());
    start..end
}

/// The last of the blanks that `like` has a counterpart for: as many line endings, and what is between them; `beyond` the
/// last line ending only if `like` goes on there too.
fn taken(characters: impl Iterator<Item = (usize, char)>, like: &str, beyond: bool) -> Option<(usize, char)> {
    let mut endings = like.chars().filter(|blank| !is_inline(*blank)).count();
    let mut last = None;
    for (at, character) in characters.take_while(|(_, character)| character.is_whitespace()) {
        if is_inline(character) {
            if endings == 0 && !beyond {
                break;
            }
        } else if endings == 0 {
            break;
        } else {
            endings -= 1;
        }
        last = Some((at, character));
    }
    last
}

fn is_inline(blank: char) -> bool {
    blank.is_whitespace() && !matches!(blank, '\n' | '\r')
}

fn whole_lines(lines: &Lines<'_>, rows: Range<usize>, old: &str) -> Place {
    let mut span = lines.range(rows.start).start..lines.range(rows.end.saturating_sub(1)).end;
    if !old.ends_with('\n') && lines.text[span.clone()].ends_with('\n') {
        span.end -= 1;
    }
    Place { span, kinds: vec![Kind::Text] }
}

/// What is said if `new` stands where `old` was meant, or is too telling to be there by chance.
fn made_already(lines: &Lines<'_>, old: &str, new: &str, places: &[Place]) -> Option<String> {
    let visible = skeleton(new);
    let starts: Vec<usize> =
        memmem::find_iter(lines.text.as_bytes(), new.as_bytes()).take(MOST_PLACES + 1).collect();
    if visible.len() < 2 || new.trim().is_empty() || starts.is_empty() || starts.len() > MOST_PLACES {
        return None;
    }
    let of_text = places.iter().all(|place| place.kinds == [Kind::Text]);
    let overlaps =
        |at: usize| places.iter().any(|place| at < place.span.end && place.span.start < at + new.len());
    let at = starts.iter().copied().find(|&at| overlaps(at));
    let at = if of_text {
        at.or_else(|| (visible.len() >= TELLING).then_some(starts[0]))?
    } else {
        // All of `old` but its blanks is there, so only a change of those can have been made.
        at.filter(|_| visible == skeleton(old))?
    };
    let (first, last) = lines.spanned(&(at..at + new.len()));
    Some(format!(
        "The edit seems to be made already: new_string is in the file, at {}, and old_string is not. Read from there \
         (offset={}) before you change anything.",
        named(first, last),
        first + 1
    ))
}

fn told(lines: &Lines<'_>, old: &str, places: &[Place], deadline: Deadline) -> String {
    let mut said = Said::default();
    match places {
        [place] => one(lines, old, place, deadline, &mut said),
        several => {
            said.add("Nearest places:");
            for place in several {
                said.add(&in_a_line(lines, old, place));
            }
            said.add("\nMake old_string the text of the one that you mean, exactly.");
        }
    }
    said.into_hint().unwrap_or_default()
}

fn one(lines: &Lines<'_>, old: &str, place: &Place, deadline: Deadline, said: &mut Said) {
    let (first, last) = lines.spanned(&place.span);
    let difference = place.difference(lines, old);
    let kinds = listed(&place.kinds);
    said.add(&format!("Nearest: {}; differs in {kinds}.", named(first, last)));
    said.add(&format!(" First difference: {difference}.\n"));
    if !place.kinds.contains(&Kind::LineEndings)
        && let Some(unique) = ambiguous::unique_around(lines, place.span.clone(), deadline)
    {
        let text = &lines.text[unique.clone()];
        let wider = if unique == place.span { "" } else { " (the text alone is there more than once)" };
        if said.add(&format!("Use this as old_string{wider}:\n{text}")) {
            return;
        }
    }
    said.add(&format!("In the file:\n{}\n", quoted(lines.line(difference.line), 120)));
    let advice = match place.kinds[..] {
        [Kind::Gutter] => {
            "Leave out the line number, and what is behind it, on each line of old_string.".to_owned()
        }
        [Kind::FinalNewline] => "Leave out the line break at the end of old_string.".to_owned(),
        [Kind::EscapesWrittenOut] => "Write the characters themselves in old_string.".to_owned(),
        [Kind::EscapesMissing] => "Write the escapes in old_string as the file has them.".to_owned(),
        _ if place.kinds.contains(&Kind::LineEndings) => {
            "Write \\r, not \\n, where the file has a carriage return.".to_owned()
        }
        _ => format!(
            "Read offset={}, limit={} and copy old_string from there, without the line numbers.",
            first + 1,
            last + 1 - first
        ),
    };
    said.add(&advice);
}

fn in_a_line(lines: &Lines<'_>, old: &str, place: &Place) -> String {
    let (first, last) = lines.spanned(&place.span);
    let difference = place.difference(lines, old);
    let most = MOST_BYTES / (MOST_PLACES + 2);
    let line = quoted(lines.line(difference.line), most.saturating_sub(50));
    let (kinds, column) = (listed(&place.kinds), difference.column);
    let at = named(first, last);
    if first == last {
        return format!("\n{at}, {kinds}, from column {column}: {line}");
    }
    format!("\n{at}, {kinds}, from line {} column {column}: {line}", difference.line + 1)
}

#[cfg(test)]
#[allow(clippy::panic, reason = "a test that cannot go on has failed")]
mod tests;
