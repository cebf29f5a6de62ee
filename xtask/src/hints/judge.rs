//! Whether a hint is right, and what it tells to do.

use crate::hints::{Desk, Trial, Way};

/// What a hint got right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The line that was meant is one of those that are named.
    pub line: bool,
    /// It is the first one.
    pub first: bool,
    /// The kind is named.
    pub kind: bool,
}

/// The hint of an error's text; empty where there is none.
pub fn hint_of(said: &str) -> &str {
    said.split_once("\n\n").map_or("", |(_, hint)| hint)
}

/// Judges a hint.
pub fn judge(trial: &Trial, hint: &str) -> Judged {
    let lines = lines_of(trial, hint);
    let line = lines.contains(&trial.line);
    Judged { line, first: lines.first() == Some(&trial.line), kind: hint.contains(words(trial.way)) }
}

fn words(way: Way) -> &'static str {
    // Several places have their kinds behind a comma.
    way.words().trim_start_matches("differs in ")
}

/// The first lines of the places that are named, in order.
fn lines_of(trial: &Trial, hint: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    for line in hint.lines() {
        if trial.way == Way::OtherFile {
            if let Some((path, _)) = &trial.other
                && let Some((_, at)) = line.split_once(&format!("{path}\", at line "))
            {
                lines.extend(at.trim_end_matches('.').parse::<usize>());
            }
            continue;
        }
        let at = line
            .strip_prefix("Nearest: ")
            .or_else(|| line.split_once("is in the file, at ").map(|(_, at)| at));
        let at = at.unwrap_or(line);
        let number = at.strip_prefix("lines ").or_else(|| at.strip_prefix("line "));
        let digits = number.map(|number| number.chars().take_while(char::is_ascii_digit).collect::<String>());
        lines.extend(digits.and_then(|digits| digits.parse::<usize>().ok()));
        if line.starts_with("Use this as old_string") {
            break;
        }
    }
    lines
}

/// The `old_string` that comes of doing what the hint says, for hints that have to be enough: one place, and indentation,
/// quotes or line numbers. `None` for others.
pub fn followed(trial: &Trial, hint: &str, desk: &mut dyn Desk) -> anyhow::Result<Option<String>> {
    let undone = matches!(trial.way, Way::Tabs | Way::Depth | Way::Quotes | Way::Gutter);
    if !undone || !hint.starts_with("Nearest: ") || !hint.contains(words(trial.way)) {
        return Ok(None);
    }
    let given = hint.split_once("\nUse this as old_string").and_then(|(_, rest)| rest.split_once(":\n"));
    if let Some((_, old)) = given {
        return Ok(Some(old.to_owned()));
    }
    if hint.ends_with("Leave out the line number, and what is behind it, on each line of old_string.") {
        let bare = |line: &str| line.split_once(": ").map_or("", |(_, text)| text).to_owned();
        let lines: Vec<String> = trial.damaged.split('\n').map(bare).collect();
        return Ok(Some(lines.join("\n")));
    }
    let number = |key: &str| {
        let (_, rest) = hint.rsplit_once(key)?;
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<usize>().ok()
    };
    let (Some(offset), Some(limit)) = (number("offset="), number("limit=")) else {
        return Ok(Some(String::new()));
    };
    let seen = desk.read(&trial.file.0, Some((offset, limit)))?;
    let body = seen.split_once("<content>\n").map_or("", |(_, body)| body);
    let lines = body.lines().take(limit).filter_map(|line| Some(line.split_once(": ")?.1));
    Ok(Some(lines.collect::<Vec<_>>().join("\n")))
}
