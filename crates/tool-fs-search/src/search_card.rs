//! How user interfaces show a search: the card of the call, and the card of its result.

use std::borrow::Cow;

use dsh_harness::{Meta, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::config::{SearchConfig, size};
use crate::glob_text;
use crate::grep_text::{self, FileMatches};
use crate::value::{GlobValue, GrepValue};

/// What is kept of a search beside the text the model saw.
#[derive(Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "lowercase")]
enum SearchMeta<'a> {
    /// Of `glob`.
    Paths { paths: Vec<Cow<'a, str>>, truncated: bool, total: u64 },
    /// Of `grep`.
    Matches { files: Vec<FileMatches<'a>>, truncated: bool, total: u64 },
}

/// The metadata of a result of `glob`: the paths that are shown, as many as fit.
pub(crate) fn paths_meta(value: &GlobValue, config: &SearchConfig) -> Meta {
    let total = value.paths.len() as u64;
    let mut paths: Vec<_> = glob_text::page(value, config).paths.into_iter().map(Cow::Borrowed).collect();
    let over_cap = paths.len() < value.paths.len();
    let truncated = fit(&mut paths, over_cap, size(config.search_meta_max_bytes), |truncated| {
        SearchMeta::Paths { paths: Vec::new(), truncated, total }
    });
    Meta::of(&SearchMeta::Paths { paths, truncated, total })
}

/// The metadata of a result of `grep`: the matches that are shown, as many files as fit.
pub(crate) fn matches_meta(value: &GrepValue, config: &SearchConfig) -> Meta {
    let total = value.total();
    let mut files = grep_text::page(value, config);
    let over_cap = grep_text::is_over_cap(value, config);
    let truncated = fit(&mut files, over_cap, size(config.search_meta_max_bytes), |truncated| {
        SearchMeta::Matches { files: Vec::new(), truncated, total }
    });
    Meta::of(&SearchMeta::Matches { files, truncated, total })
}

/// The card of a call.
pub(crate) fn call(title: &str, pattern: &str) -> Json {
    json!({ "card": "generic", "title": title, "kind": "search", "rawInput": pattern })
}

/// The card of a result of `glob`, rebuilt from what was kept; `None` for anything that is not its success.
pub(crate) fn paths_result(result: &ToolResult) -> Option<Json> {
    card(result, |meta| matches!(meta, SearchMeta::Paths { .. }))
}

/// The same for `grep`.
pub(crate) fn matches_result(result: &ToolResult) -> Option<Json> {
    card(result, |meta| matches!(meta, SearchMeta::Matches { .. }))
}

fn card(result: &ToolResult, is_ours: impl Fn(&SearchMeta<'_>) -> bool) -> Option<Json> {
    if result.is_error() {
        return None;
    }
    let meta = result.meta.as_ref()?.read().ok().filter(is_ours)?;
    let mut card = Map::new();
    card.insert("card".to_owned(), json!("search"));
    card.append(serde_json::to_value(meta).ok()?.as_object_mut()?);
    Some(Json::Object(card))
}

/// Drops items from the end, but never the first, until all of it as JSON has at most `max_bytes` bytes. Gives what is to
/// be said of it: `truncated` as it was where all fits, else true.
fn fit<'a, T: Serialize>(
    items: &mut Vec<T>,
    truncated: bool,
    max_bytes: usize,
    without_items: impl Fn(bool) -> SearchMeta<'a>,
) -> bool {
    let sizes: Vec<usize> = items.iter().map(json_bytes).collect();
    let mut bytes = sizes.iter().sum::<usize>() + sizes.len().saturating_sub(1);
    if json_bytes(&without_items(truncated)) + bytes <= max_bytes {
        return truncated;
    }
    let frame = json_bytes(&without_items(true));
    for last in sizes.iter().skip(1).rev() {
        items.pop();
        // The item and the comma before it.
        bytes -= last + 1;
        if frame + bytes <= max_bytes {
            break;
        }
    }
    true
}

fn json_bytes<T: Serialize>(value: &T) -> usize {
    serde_json::to_vec(value).map_or(0, |json| json.len())
}
