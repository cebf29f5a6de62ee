//! The text a model gets back: numbered lines and a footer, or a short acknowledgement, in one envelope.

use crate::window::Line;

/// The envelope of `read` and `write` results. Nothing in it is escaped.
pub fn envelope(path: &str, body: &str) -> String {
    format!("<path>{path}</path>\n<type>file</type>\n<content>\n{body}\n</content>")
}

/// The body inside an [`envelope`]; `None` where `text` is something else.
pub fn body_of(text: &str) -> Option<&str> {
    let (head, rest) = text.split_once("</path>\n<type>file</type>\n<content>\n")?;
    head.strip_prefix("<path>")?;
    rest.strip_suffix("\n</content>")
}

/// Numbered lines, an empty line and the footer; only the footer where there are no lines.
///
/// `limit` is the number of lines that were asked for.
pub fn numbered(lines: &[Line], offset: u64, limit: u64, total_lines: u64) -> String {
    let mut body = String::with_capacity(lines.iter().map(|line| line.text.len() + 8).sum::<usize>() + 80);
    for line in lines {
        body.push_str(&line.number.to_string());
        body.push_str(": ");
        body.push_str(&line.text);
        body.push('\n');
    }
    if !lines.is_empty() {
        body.push('\n');
    }
    body.push_str(&footer(lines, offset, limit, total_lines));
    body
}

fn footer(lines: &[Line], offset: u64, limit: u64, total: u64) -> String {
    let end = lines.last().map_or(offset.saturating_sub(1), |line| line.number);
    let next = end + 1;
    let capped = (lines.len() as u64) < limit && end < total;
    if capped {
        format!("(Output capped. Showing lines {offset}-{end}. Use offset={next} to continue.)")
    } else if end < total {
        format!("(Showing lines {offset}-{end} of {total}. Use offset={next} to continue.)")
    } else {
        format!("(End of file - total {total} lines)")
    }
}
