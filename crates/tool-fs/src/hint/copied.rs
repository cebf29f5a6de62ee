//! What slips into `old_string` when it is copied from a result or through a quoted string, and the text without it.

use crate::hint::kind::Kind;

/// What `old_string` may have been meant to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Meant {
    /// What had come into it.
    pub(crate) kind: Kind,
    pub(crate) text: String,
    /// The number of the first line, where a line number had.
    pub(crate) line: Option<usize>,
}

/// All that it may have been meant to be; the likelier first.
pub(crate) fn meant(old: &str) -> Vec<Meant> {
    let plain = |kind| move |text| Meant { kind, text, line: None };
    let mut meant = Vec::new();
    let bare = without_frame(old);
    let body = bare.as_deref().unwrap_or(old);
    if let Some((line, text)) = without_gutter(body) {
        meant.push(Meant { kind: Kind::Gutter, text, line: Some(line) });
    }
    meant.extend(bare.clone().map(plain(Kind::Marker)));
    meant.extend(unescaped(old).into_iter().map(plain(Kind::EscapesWrittenOut)));
    meant.extend(escaped(old).into_iter().map(plain(Kind::EscapesMissing)));
    meant.retain(|meant| !meant.text.trim().is_empty());
    meant
}

/// Without the line numbers, if every line that is not blank has one and they count up.
///
/// `read` writes `12: text`; other tools write a tab, an arrow or a bar behind the number.
fn without_gutter(old: &str) -> Option<(usize, String)> {
    let (mut bare, mut first, mut before) = (Vec::new(), None, None);
    for line in old.split('\n') {
        if line.trim().is_empty() {
            bare.push(line);
            continue;
        }
        let (number, text) = numbered(line)?;
        if before.is_some_and(|before: usize| number <= before) {
            return None;
        }
        // A blank line at the start has its number too, but cut off.
        first = first.or_else(|| number.checked_sub(bare.len()));
        before = Some(number);
        bare.push(text);
    }
    Some((first?, bare.join("\n")))
}

fn numbered(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches(' ');
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = rest.split_at(digits);
    let text = [": ", ":", "\t", "→", "| ", "|"].into_iter().find_map(|sign| rest.strip_prefix(sign))?;
    Some((number.parse().ok()?, text))
}

/// How a read says that a line goes on.
const CUT: &str = "... (line truncated to ";
/// How `grep` does.
const CUT_MATCH: &str = " (line truncated)";

/// Without envelope, footer and what follows a cut; `None` where there is none of them.
///
/// Of several lines only those before a cut remain: the rest of that line is not known.
fn without_frame(old: &str) -> Option<String> {
    let mut lines: Vec<&str> = old.split('\n').collect();
    let before = lines.len();
    let mut changed = false;
    while lines.last().is_some_and(|line| is_frame(line)) || (changed && lines.last() == Some(&"")) {
        lines.pop();
        changed = true;
    }
    let head = lines.iter().take_while(|line| is_frame(line)).count();
    lines.drain(..head);
    let cut = lines.iter().enumerate().find_map(|(index, line)| Some((index, cut(line)?)));
    if let Some((index, kept)) = cut {
        lines.truncate(index);
        lines.push(kept);
    }
    (cut.is_some() || head > 0 || (changed && lines.len() < before)).then(|| lines.join("\n"))
}

fn is_frame(line: &str) -> bool {
    let is_footer = line.starts_with('(')
        && ["(End of file - total ", "(Showing lines ", "(Output capped. "]
            .iter()
            .any(|start| line.starts_with(start));
    is_footer
        || matches!(line, "<content>" | "</content>" | "<type>file</type>")
        || (line.starts_with("<path>") && line.ends_with("</path>"))
}

fn cut(line: &str) -> Option<&str> {
    if let Some(kept) = line.strip_suffix(CUT_MATCH) {
        return Some(kept);
    }
    let at = line.rfind(CUT)?;
    let units = line[at + CUT.len()..].strip_suffix(" chars)")?;
    units.bytes().all(|byte| byte.is_ascii_digit()).then(|| &line[..at])
}

/// With escapes taken for what they stand for: each sort of them alone, then all, since a program text has some of its own.
fn unescaped(old: &str) -> Vec<String> {
    if !old.contains('\\') {
        return Vec::new();
    }
    variants(old, [("\\n", "\n"), ("\\t", "\t"), ("\\\"", "\""), ("\\'", "'"), ("\\\\", "\\")])
}

/// The other way round: where the file has them written out.
fn escaped(old: &str) -> Vec<String> {
    variants(old, [("\n", "\\n"), ("\t", "\\t"), ("\"", "\\\""), ("'", "\\'"), ("\\", "\\\\")])
}

fn variants(old: &str, pairs: [(&str, &str); 5]) -> Vec<String> {
    let present: Vec<(&str, &str)> = pairs.into_iter().filter(|(from, _)| old.contains(from)).collect();
    let replaced = |pairs: &[(&str, &str)]| {
        let (mut text, mut rest) = (String::with_capacity(old.len()), old);
        while let Some(next) = rest.chars().next() {
            if let Some((from, to)) = pairs.iter().find(|(from, _)| rest.starts_with(from)) {
                text.push_str(to);
                rest = &rest[from.len()..];
            } else {
                text.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
        text
    };
    let mut variants: Vec<String> = present.iter().map(|pair| replaced(&[*pair])).collect();
    if present.len() > 1 {
        variants.push(replaced(&present));
    }
    if present.len() > 2 {
        variants.push(replaced(&present[..2]));
    }
    variants
}
