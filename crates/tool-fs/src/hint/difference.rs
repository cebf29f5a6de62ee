//! Where a place in the file and `old_string` part, told so that characters which cannot be seen can be told apart.

use std::ops::Range;

use crate::hint::fold::skeleton;
use crate::hint::lines::Lines;

/// Where file and request part, and what each has there.
#[derive(Debug)]
pub(crate) struct Difference {
    /// From 0.
    pub(crate) line: usize,
    /// In characters, from 1.
    pub(crate) column: usize,
    file: String,
    asked: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { line, column, file, asked } = self;
        write!(f, "line {}, column {column}: the file has {file}, old_string has {asked}", line + 1)
    }
}

impl Difference {
    /// Between the text of a span and the request; `is_other_text` where they have more than blanks and the like between them.
    pub(crate) fn of(lines: &Lines<'_>, span: &Range<usize>, old: &str, is_other_text: bool) -> Self {
        let there = &lines.text[span.clone()];
        let (mut at, mut asked) =
            if is_other_text { parting_of_lines(there, old) } else { parting(there, old) };
        // Blanks are told as a whole: 4 of them rather than the last 2.
        let blanks = |text: &str| text.len() - text.trim_end_matches(is_inline).len();
        let (behind, before) = (&there[at..], &there[..at]);
        if behind.starts_with(is_inline) || old[asked..].starts_with(is_inline) {
            let back = blanks(before).min(blanks(&old[..asked]));
            at -= back;
            asked -= back;
        }
        let offset = span.start + at;
        // The end of the last line belongs to it.
        let line = lines.at(offset.min(lines.text.len().saturating_sub(1)));
        let start = lines.range(line).start;
        let column = lines.text[start..offset.max(start)].chars().count() + 1;
        // Behind the place the line may go on.
        Self { line, column, file: piece(&lines.text[offset..]), asked: piece(&old[asked..]) }
    }
}

/// Up to where two texts are equal.
fn parting(a: &str, b: &str) -> (usize, usize) {
    let equal = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    (equal, equal)
}

/// The same for texts that differ in more than their blanks: indentation, and where in a line it begins, do not count.
fn parting_of_lines(there: &str, old: &str) -> (usize, usize) {
    let (mut at, mut asked) = (0, 0);
    for (a, b) in there.split_inclusive('\n').zip(old.split_inclusive('\n')) {
        let (a_text, b_text) = (a.trim(), b.trim());
        if skeleton(a_text) != skeleton(b_text)
            && !(asked == 0 && !b_text.is_empty() && a_text.ends_with(b_text))
        {
            let indent = |line: &str, text: &str| line.find(text).unwrap_or_default();
            let (mut from, b_from) = (indent(a, a_text), indent(b, b_text));
            let head: String = b_text.chars().take(6).collect();
            if asked == 0 && !a_text.starts_with(&head) {
                from = a.find(&head).unwrap_or(from);
            }
            let (equal, _) = parting(&a[from..], &b[b_from..]);
            return (at + from + equal, asked + b_from + equal);
        }
        at += a.len();
        asked += b.len();
    }
    if at == there.len() || asked == old.len() {
        (at.min(there.len()), asked.min(old.len()))
    } else {
        parting(there, old)
    }
}

/// What a text begins with, in words where it cannot be seen.
fn piece(text: &str) -> String {
    let Some(first) = text.chars().next() else { return "nothing more".to_owned() };
    let run = |of: char| text.chars().take_while(|next| *next == of).count();
    let counted =
        |one: &str, count: usize| if count == 1 { format!("a {one}") } else { format!("{count} {one}s") };
    match first {
        ' ' => counted("space", run(' ')),
        '\t' => counted("tab", run('\t')),
        '\n' => counted("line break", run('\n')),
        '\r' => "a carriage return".to_owned(),
        first if !first.is_ascii() || first.is_ascii_control() => {
            let shown = if first.is_alphanumeric() { format!("`{first}` ") } else { String::new() };
            format!("{shown}U+{:04X}", u32::from(first))
        }
        first => {
            // A letter whose accent is a character of its own.
            let accent = text.chars().nth(1).filter(|next| ('\u{300}'..'\u{370}').contains(next));
            if let Some(accent) = accent {
                return format!("`{first}` and U+{:04X}", u32::from(accent));
            }
            let seen = |c: &char| !c.is_whitespace() && !c.is_control();
            format!("`{}`", text.chars().take_while(seen).take(12).collect::<String>())
        }
    }
}

fn is_inline(blank: char) -> bool {
    blank.is_whitespace() && !matches!(blank, '\n' | '\r')
}
