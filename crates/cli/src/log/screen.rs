//! Lines on a terminal, or wherever standard output goes.

use std::io;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use crate::log::card::{Line, Tone};
use crate::output::{self, Reader};

/// Bodies are set off from their heads.
const INDENT: &str = "    ";

pub(super) struct Screen {
    colours: bool,
    /// Columns, where lines are to be cut at all.
    width: Option<usize>,
    /// Most lines of a body.
    most: usize,
}

impl Screen {
    /// Standard output as it is: coloured on a terminal unless the environment (`NO_COLOR`, `CLICOLOR_FORCE`) says
    /// otherwise, cut to `COLUMNS` or the terminal's width.
    pub(super) fn new(most: usize) -> Self {
        let colours = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
        let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let found = || Some(rustix::termios::tcgetwinsize(io::stdout()).ok()?.ws_col.into());
        Self { colours, width: told.or_else(found).filter(|width| *width > 0), most }
    }

    pub(super) fn print(&self, head: &Line, body: &[Line]) -> io::Result<Reader> {
        let mut text = self.line("", head);
        for line in body.iter().take(self.most) {
            text.push_str(&self.line(INDENT, line));
        }
        if let Some(more) = body.len().checked_sub(self.most).filter(|more| *more > 0) {
            let lines = if more == 1 { "line" } else { "lines" };
            text.push_str(
                &self.line(INDENT, &Line::new(Tone::Dim, format!("… {more} more {lines} (--full)"))),
            );
        }
        output::print(text.as_bytes())
    }

    fn line(&self, indent: &str, line: &Line) -> String {
        let text = visible(&line.text);
        // An empty line is not indented.
        let text = if text.is_empty() { text } else { self.cut(format!("{indent}{text}")) };
        let style = if self.colours { style(line.tone) } else { Style::new() };
        format!("{style}{text}{style:#}\n")
    }

    /// At most as many characters as there are columns; one for what was cut off.
    fn cut(&self, text: String) -> String {
        match self.width {
            Some(width) if text.chars().count() > width => {
                text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
            }
            _ => text,
        }
    }
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Title => Style::new().bold(),
        Tone::Plain => Style::new(),
        Tone::Dim => Style::new().dimmed(),
        Tone::Added => AnsiColor::Green.on_default(),
        Tone::Removed => AnsiColor::Red.on_default(),
        Tone::Error => AnsiColor::Red.on_default().bold(),
    }
}

/// What is in a file must not steer the terminal it is shown on, nor change the order in which it is read.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\t' => shown.push_str("    "),
            char if char.is_control() || is_bidi(char) => shown.extend(char.escape_unicode()),
            char => shown.push(char),
        }
    }
    shown
}

fn is_bidi(char: char) -> bool {
    matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
}

#[cfg(test)]
mod tests;
