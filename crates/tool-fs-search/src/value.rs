//! What the tools answer to programs: the canonical values.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The value of `glob`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GlobValue {
    /// The folder or file that was searched, as the model may name it; `.` for the workspace.
    pub root: String,
    /// All paths, oldest modification first, ties in path order.
    pub paths: Vec<String>,
    /// The search ended before it was done: there may be more.
    #[serde(default, skip_serializing_if = "is_false")]
    pub incomplete: bool,
    /// What did not go as asked, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// The value of `grep`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrepValue {
    /// The matching lines in path order, as many as are kept (see [`total`](Self::total)).
    pub matches: Vec<GrepMatch>,
    /// How many lines match, where that is more than are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The search ended before it was done: there may be more.
    #[serde(default, skip_serializing_if = "is_false")]
    pub incomplete: bool,
    /// What did not go as asked, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// One matching line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GrepMatch {
    /// Its file, as the model may name it.
    pub path: Arc<str>,
    /// From 1.
    pub line_number: u64,
    /// The whole line without its ending; `(line is not valid UTF-8)` where it is not.
    pub line: Box<str>,
}

impl GrepValue {
    /// How many lines match, kept or not.
    pub fn total(&self) -> u64 {
        self.total.unwrap_or(self.matches.len() as u64)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(flag: &bool) -> bool {
    !flag
}
