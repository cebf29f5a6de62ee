//! What a model sees of a `grep`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

use dsh_harness::Spilled;
use serde::{Deserialize, Serialize};

use crate::config::{SearchConfig, size};
use crate::notices;
use crate::preview::preview;
use crate::spill::Spillable;
use crate::value::{GrepMatch, GrepValue};

/// The matching lines of one file, as they are shown.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FileMatches<'a> {
    path: Cow<'a, str>,
    matches: Vec<LineMatch<'a>>,
}

/// One of them.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LineMatch<'a> {
    line_number: u64,
    line: Cow<'a, str>,
}

/// The matches that are shown, by file.
pub(crate) fn page<'a>(value: &'a GrepValue, config: &SearchConfig) -> Vec<FileMatches<'a>> {
    by_file(&value.matches[..shown(value, config)], config)
}

/// Whether there are more matches than are shown.
pub(crate) fn is_over_cap(value: &GrepValue, config: &SearchConfig) -> bool {
    value.total() > shown(value, config) as u64
}

fn shown(value: &GrepValue, config: &SearchConfig) -> usize {
    value.matches.len().min(size(config.grep_max_matches))
}

impl Spillable for GrepValue {
    const TOOL: &'static str = "grep";
    const FILE_NAME: &'static str = "grep-results.txt";

    fn rendered(&self, config: &SearchConfig, saved: Option<&Spilled>) -> String {
        let total = self.total();
        let shown = shown(self, config);
        let over_cap = is_over_cap(self, config);
        let mut text = match total {
            0 => "No matches found".to_owned(),
            _ if over_cap => format!("Found {shown} of {total} matches"),
            _ => found(total),
        };
        list(&mut text, &page(self, config));
        if over_cap {
            let recovery = match saved {
                Some(Spilled { locator, retrieval_hint, .. }) => {
                    format!("Full grep result stored at: {locator}. {retrieval_hint}")
                }
                None => {
                    "The complete result could not be saved; narrow pattern, path, or include to see more."
                        .to_owned()
                }
            };
            // Writing to a string does not fail.
            let _ = write!(text, "\n\n({recovery})");
        }
        notices::append(&mut text, &self.notices, total > 0);
        text
    }

    fn complete_text(&self, config: &SearchConfig) -> Option<String> {
        // Of more matches than are kept no list is complete.
        if self.total.is_some() || self.incomplete || !is_over_cap(self, config) {
            return None;
        }
        let mut text = found(self.total());
        list(&mut text, &by_file(&self.matches, config));
        Some(text)
    }
}

fn found(total: u64) -> String {
    format!("Found {total} {}", if total == 1 { "match" } else { "matches" })
}

/// Files in the order in which they are first named.
fn by_file<'a>(matches: &'a [GrepMatch], config: &SearchConfig) -> Vec<FileMatches<'a>> {
    let max_bytes = size(config.grep_max_line_bytes);
    let mut files: Vec<FileMatches<'_>> = Vec::new();
    let mut places = HashMap::new();
    for GrepMatch { path, line_number, line } in matches {
        let place = *places.entry(&**path).or_insert(files.len());
        if place == files.len() {
            files.push(FileMatches { path: Cow::Borrowed(path), matches: Vec::new() });
        }
        let line = preview(line, max_bytes);
        files[place].matches.push(LineMatch { line_number: *line_number, line });
    }
    files
}

fn list(text: &mut String, files: &[FileMatches<'_>]) {
    for FileMatches { path, matches } in files {
        text.push_str("\n\n");
        text.push_str(path);
        for LineMatch { line_number, line } in matches {
            let _ = write!(text, "\nLine {line_number}: {line}");
        }
    }
}
