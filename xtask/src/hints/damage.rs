//! The ways in which models get `old_string` wrong.

use crate::dice::Dice;
use crate::hints::Sources;

/// How a valid edit is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Spaces for tabs, or tabs for spaces.
    Tabs,
    /// Indented more, or less.
    Depth,
    /// Blanks at the end of a line.
    TrailingBlanks,
    /// Curly quotes for straight ones, or the other way round.
    Quotes,
    /// A long dash for a hyphen.
    Dashes,
    /// A word in other letters.
    Case,
    /// Letters and accents apart.
    NormalForm,
    /// `\n` written out.
    EscapedLineBreaks,
    /// `\t` written out.
    EscapedTabs,
    /// `\"` written out.
    EscapedQuotes,
    /// With the line numbers of a read.
    Gutter,
    /// With the mark of a line that was cut, or the footer of a read.
    Marker,
    /// `\n` in a file of lone carriage returns.
    LoneCr,
    /// With a line break that the end of the file does not have.
    FinalNewline,
    /// The edit was made before.
    Replaced,
    /// It belongs to another file of that name.
    OtherFile,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Tabs,
        Self::Depth,
        Self::TrailingBlanks,
        Self::Quotes,
        Self::Dashes,
        Self::Case,
        Self::NormalForm,
        Self::EscapedLineBreaks,
        Self::EscapedTabs,
        Self::EscapedQuotes,
        Self::Gutter,
        Self::Marker,
        Self::LoneCr,
        Self::FinalNewline,
        Self::Replaced,
        Self::OtherFile,
    ];

    /// What a hint says of it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Tabs | Self::Depth => "differs in indentation",
            Self::TrailingBlanks => "blanks at the end of a line",
            Self::Quotes | Self::Dashes => "look alike",
            Self::Case => "letter case",
            Self::NormalForm => "Unicode normal form",
            Self::EscapedLineBreaks | Self::EscapedTabs | Self::EscapedQuotes => "escapes written out",
            Self::Gutter => "line numbers copied",
            Self::Marker => "a truncation mark or footer",
            Self::LoneCr => "a lone carriage return",
            Self::FinalNewline => "a missing final newline",
            Self::Replaced => "made already",
            Self::OtherFile => "in another file",
        }
    }
}

/// An edit that is going to be refused.
#[derive(Clone, Debug)]
pub struct Trial {
    /// How it was damaged.
    pub way: Way,
    /// Path and text of the file.
    pub file: (String, String),
    /// Path and text of the file that was meant instead.
    pub other: Option<(String, String)>,
    /// `old_string` as it should have been.
    pub old: String,
    /// `old_string` as it is.
    pub damaged: String,
    /// `new_string`.
    pub new: String,
    /// The first line that was meant, from 1.
    pub line: usize,
}

/// The fewest visible characters of a text that somebody replaces.
const LEAST_VISIBLE: usize = 12;

impl Trial {
    /// Makes a valid edit somewhere and damages it; `None` where that way is not to be had there.
    pub(crate) fn new(way: Way, sources: &Sources, dice: &mut Dice, number: usize) -> Option<Self> {
        let (name, text) = &sources.files[dice.below(sources.files.len())];
        let text = prepared(way, &text.replace('\r', ""));
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let count = 1 + dice.below(6);
        let start = match way {
            Way::FinalNewline => lines.len().checked_sub(count)?,
            _ => dice.below(lines.len().checked_sub(count)? + 1),
        };
        let mut old = lines[start..start + count].concat();
        // Models leave the last line break away more often than not, and sometimes the first indentation.
        if dice.below(4) > 0 {
            old.truncate(old.trim_end_matches('\n').len());
        }
        if dice.one_in(4) && way != Way::Gutter && way != Way::Replaced {
            old.drain(..old.len() - old.trim_start().len());
        }
        let visible = old.chars().filter(|character| !character.is_whitespace()).count();
        let begins_here = old.starts_with(lines[start].trim());
        if visible < LEAST_VISIBLE
            || text.matches(&*old).count() != 1
            || lines[start].trim().is_empty() && !begins_here
        {
            return None;
        }
        let extension = name.rsplit('.').next().unwrap_or("txt");
        let new = changed(&old, number);
        let mut trial = Self {
            way,
            file: (format!("a{number}/file.{extension}"), text.clone()),
            other: None,
            line: text[..text.find(&*old)?].matches('\n').count() + 1,
            damaged: old.clone(),
            old,
            new,
        };
        trial.damage(dice, start, sources)?;
        let is_valid = trial.damaged != trial.new && !trial.file.1.contains(&*trial.damaged);
        is_valid.then_some(trial)
    }

    fn damage(&mut self, dice: &mut Dice, start: usize, sources: &Sources) -> Option<()> {
        let old = self.old.clone();
        let differs = |damaged: String| (damaged != old).then_some(damaged);
        self.damaged = match self.way {
            Way::Tabs => {
                differs(if old.contains('\t') { old.replace('\t', "    ") } else { with_tabs(&old) })?
            }
            Way::Depth => differs(indented(&old, dice))?,
            Way::TrailingBlanks => {
                let at = dice.below(old.matches('\n').count() + 1);
                let blanks = " ".repeat(1 + dice.below(3));
                let mut lines: Vec<String> = old.split('\n').map(str::to_owned).collect();
                if lines[at].trim().is_empty() {
                    return None;
                }
                lines[at].push_str(&blanks);
                lines.join("\n")
            }
            Way::Quotes => differs(
                old.replace('"', if dice.one_in(2) { "\u{201C}" } else { "\u{201D}" })
                    .replace('\'', "\u{2019}"),
            )?,
            Way::Dashes => differs(old.replace('-', if dice.one_in(2) { "\u{2013}" } else { "\u{2014}" }))?,
            Way::Case => differs(other_case(&old, dice))?,
            Way::NormalForm => {
                let composed = |text: &str| text.replacen('e', "\u{e9}", 2).replacen('u', "\u{fc}", 1);
                let meant = composed(&old);
                self.file.1 = self.file.1.replacen(&old, &meant, 1);
                self.new = changed(&meant, start);
                let apart = meant.replace('\u{e9}', "e\u{301}").replace('\u{fc}', "u\u{308}");
                self.old.clone_from(&meant);
                (apart != meant).then_some(apart)?
            }
            Way::EscapedLineBreaks => differs(old.replace('\n', "\\n"))?,
            Way::EscapedTabs => differs(old.replace('\t', "\\t"))?,
            Way::EscapedQuotes => differs(old.replace('"', "\\\""))?,
            Way::Gutter => {
                let ends = old.ends_with('\n');
                let lines = old.trim_end_matches('\n').split('\n').enumerate();
                let numbered: Vec<String> =
                    lines.map(|(index, line)| format!("{}: {line}", self.line + index)).collect();
                numbered.join("\n") + if ends { "\n" } else { "" }
            }
            Way::Marker => self.marked(dice)?,
            Way::LoneCr => {
                let inner = old.trim_matches('\n');
                self.file.1 = self.file.1.replace('\n', "\r");
                self.line = 1;
                (inner.contains('\n')).then(|| inner.to_owned())?
            }
            Way::FinalNewline => {
                let old = old.trim_end_matches('\n');
                self.file.1.truncate(self.file.1.trim_end_matches('\n').len());
                (self.file.1.ends_with(old) && self.file.1.matches(old).count() == 1)
                    .then(|| format!("{old}\n"))?
            }
            Way::Replaced => {
                self.file.1 = self.file.1.replacen(&old, &self.new, 1);
                old
            }
            Way::OtherFile => {
                let (_, text) = &sources.files[dice.below(sources.files.len())];
                let name = self.file.0.rsplit('/').next().unwrap_or_default();
                let meant = (format!("b{start}/{name}"), std::mem::take(&mut self.file.1));
                self.file.1 = text.replace('\r', "");
                self.other = Some(meant);
                old
            }
        };
        Some(())
    }

    fn marked(&self, dice: &mut Dice) -> Option<String> {
        let lines = self.file.1.matches('\n').count();
        if dice.one_in(2) {
            let last = self.line + self.old.trim_end_matches('\n').matches('\n').count();
            let footer = match dice.below(3) {
                0 => format!("(End of file - total {lines} lines)"),
                1 => format!("(Showing lines 1-{last} of {lines}. Use offset={} to continue.)", last + 1),
                _ => format!("(Output capped. Showing lines 1-{last}. Use offset={} to continue.)", last + 1),
            };
            return Some(format!("{}\n\n{footer}", self.old.trim_end_matches('\n')));
        }
        let last = self.old.trim_end_matches('\n').rsplit('\n').next()?;
        let kept: String = last.chars().take(LEAST_VISIBLE + dice.below(20)).collect();
        let before = &self.old.trim_end_matches('\n')[..self.old.trim_end_matches('\n').len() - last.len()];
        let units = kept.encode_utf16().count();
        (kept.len() < last.len() && kept.trim().len() > LEAST_VISIBLE / 2)
            .then(|| format!("{before}{kept}... (line truncated to {units} chars)"))
    }
}

/// The file with what the damage needs.
fn prepared(way: Way, text: &str) -> String {
    match way {
        Way::EscapedTabs => with_tabs(text),
        _ => text.to_owned(),
    }
}

/// Four spaces of indentation as one tab.
fn with_tabs(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let tabs = indent / 4;
        format!("{}{}", "\t".repeat(tabs), &line[tabs * 4..])
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Every line that is not blank deeper, or less deep, by the same.
fn indented(text: &str, dice: &mut Dice) -> String {
    let step = [2, 4][dice.below(2)];
    let deeper = dice.one_in(2);
    let lines = text.split('\n').map(|line| match line {
        blank if blank.trim().is_empty() => blank.to_owned(),
        line if deeper => format!("{}{line}", " ".repeat(step)),
        line => line.strip_prefix(&" ".repeat(step)).unwrap_or(line).to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// One word in capitals, or small, or with another first letter.
fn other_case(text: &str, dice: &mut Dice) -> String {
    let words: Vec<&str> = text
        .split(|character: char| !character.is_ascii_alphabetic())
        .filter(|word| word.len() > 2)
        .collect();
    if words.is_empty() {
        return text.to_owned();
    }
    let word = words[dice.below(words.len())];
    let other = match dice.below(3) {
        0 => word.to_ascii_uppercase(),
        1 => word.to_ascii_lowercase(),
        _ => {
            let (first, rest) = word.split_at(1);
            let swapped = if first == first.to_ascii_uppercase() {
                first.to_ascii_lowercase()
            } else {
                first.to_ascii_uppercase()
            };
            swapped + rest
        }
    };
    text.replacen(word, &other, 1)
}

/// What the edit makes of the text: a word of it is another one.
fn changed(old: &str, number: usize) -> String {
    let word = old.split(|character: char| !character.is_ascii_alphanumeric()).find(|word| word.len() > 2);
    match word {
        Some(word) => old.replacen(word, &format!("renamed{number}"), 1),
        None => format!("{old} renamed{number}"),
    }
}
