//! Cards as lines of text. What a card is is the tools' business; here only its shape is known.

use dsh_harness::ToolResult;
use serde_json::Value as Json;

/// A line and how it is to be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) tone: Tone,
    pub(super) text: String,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Title,
    Plain,
    Dim,
    Added,
    Removed,
    Error,
}

impl Line {
    pub(super) fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { tone, text: text.into() }
    }
}

/// The body of a result: its card, or where it has none what the model saw.
pub(super) fn lines(card: Option<&Json>, result: &ToolResult) -> Vec<Line> {
    if result.is_error() {
        return text(Tone::Error, &result.text());
    }
    let drawn = card.and_then(|card| match card["card"].as_str()? {
        "read" => read(card),
        "diff" => diffs(card),
        "search" => search(card),
        _ => None,
    });
    drawn.unwrap_or_else(|| text(Tone::Plain, &result.text()))
}

/// Each line of a text.
pub(super) fn text(tone: Tone, text: &str) -> Vec<Line> {
    text.lines().map(|line| Line::new(tone, line)).collect()
}

/// The lines that were shown, with their numbers, and how many the file has.
fn read(card: &Json) -> Option<Vec<Line>> {
    let shown = card["lines"].as_array()?;
    let mut lines = numbered(shown, "number", "text")?;
    let total = card["totalLines"].as_u64()?;
    if shown.len() as u64 != total {
        lines.push(Line::new(Tone::Dim, format!("{} of {total} lines", shown.len())));
    }
    Some(lines)
}

fn diffs(card: &Json) -> Option<Vec<Line>> {
    let mut lines = Vec::new();
    for (index, diff) in card["diffs"].as_array()?.iter().enumerate() {
        if index > 0 {
            lines.push(Line::new(Tone::Dim, "⋯"));
        }
        lines.extend(hunk(diff["oldText"].as_str().unwrap_or_default(), diff["newText"].as_str()?));
    }
    if card["durable"] == Json::Bool(false) {
        lines.push(Line::new(Tone::Error, "in place, but it may not survive a power cut"));
    }
    Some(lines)
}

/// What went and what came, between the lines that both sides begin and end with.
fn hunk(old: &str, new: &str) -> Vec<Line> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let part = |tone, sign, lines: &[&str]| -> Vec<Line> {
        lines.iter().map(|line| Line::new(tone, format!("{sign} {line}"))).collect()
    };
    [
        part(Tone::Plain, " ", &old[..before]),
        part(Tone::Removed, "-", &old[before..old.len() - after]),
        part(Tone::Added, "+", &new[before..new.len() - after]),
        part(Tone::Plain, " ", &new[new.len() - after..]),
    ]
    .concat()
}

fn search(card: &Json) -> Option<Vec<Line>> {
    let mut lines = Vec::new();
    for path in card["paths"].as_array().into_iter().flatten() {
        lines.push(Line::new(Tone::Plain, path.as_str()?));
    }
    for file in card["files"].as_array().into_iter().flatten() {
        lines.push(Line::new(Tone::Title, file["path"].as_str()?));
        lines.extend(numbered(file["matches"].as_array()?, "lineNumber", "line")?);
    }
    let total = card["total"].as_u64()?;
    if total == 0 || card["truncated"] == Json::Bool(true) {
        lines.push(Line::new(Tone::Dim, format!("found in all: {total}")));
    }
    Some(lines)
}

fn numbered(lines: &[Json], number: &str, text: &str) -> Option<Vec<Line>> {
    let line = |line: &Json| {
        Some(Line::new(Tone::Plain, format!("{:>6}  {}", line[number].as_u64()?, line[text].as_str()?)))
    };
    lines.iter().map(line).collect()
}

#[cfg(test)]
mod tests;
