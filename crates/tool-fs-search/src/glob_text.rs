//! What a model sees of a `glob`.

use std::fmt::Write as _;

use dsh_harness::Spilled;

use crate::config::{SearchConfig, size};
use crate::notices;
use crate::sample::{Sample, sample};
use crate::spill::Spillable;
use crate::value::GlobValue;

/// The paths that are shown, and how they were chosen.
pub(crate) struct GlobPage<'a> {
    /// At most as many as the settings allow.
    pub(crate) paths: Vec<&'a str>,
    /// What stands behind the number of paths.
    basis: String,
}

/// Chooses the paths to show: all, or as many as fit.
pub(crate) fn page<'a>(value: &'a GlobValue, config: &SearchConfig) -> GlobPage<'a> {
    let cap = size(config.glob_max_results);
    let all = value.paths.len();
    if all <= cap || !config.sample_over_cap_glob_results {
        let paths = value.paths.iter().take(cap).map(String::as_str).collect();
        return GlobPage { paths, basis: ".".to_owned() };
    }
    let Sample { paths, shown, entries } = sample(&value.root, &value.paths, cap);
    let basis = if entries == all {
        ".".to_owned()
    } else {
        let narrow = if shown < entries { " Narrow path to inspect a specific subtree." } else { "" };
        format!(
            ", sampled across {shown} of the {entries} top-level entries this pattern matched instead of taken in \
             modification-time order.{narrow}"
        )
    };
    GlobPage { paths, basis }
}

impl Spillable for GlobValue {
    const TOOL: &'static str = "glob";
    const FILE_NAME: &'static str = "glob-results.txt";

    fn rendered(&self, config: &SearchConfig, saved: Option<&Spilled>) -> String {
        let all = self.paths.len();
        let GlobPage { paths, basis } = page(self, config);
        let mut text = if all == 0 { "No files found".to_owned() } else { paths.join("\n") };
        if paths.len() < all {
            let recovery = match saved {
                Some(Spilled { locator, retrieval_hint, .. }) => {
                    format!("Full sorted result stored at: {locator}. {retrieval_hint}")
                }
                None => {
                    "The complete result could not be saved; narrow pattern or path to see more.".to_owned()
                }
            };
            let shown = paths.len();
            // Writing to a string does not fail.
            let _ = write!(text, "\n\n(Showing {shown} of {all} paths{basis} {recovery})");
        }
        notices::append(&mut text, &self.notices, all > 0);
        text
    }

    fn complete_text(&self, config: &SearchConfig) -> Option<String> {
        let over_cap = self.paths.len() > size(config.glob_max_results);
        (over_cap && !self.incomplete).then(|| self.paths.join("\n"))
    }
}
