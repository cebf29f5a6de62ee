//! How user interfaces show a change: the card of the call, what is kept of it, and the card of its result.

use dsh_harness::ToolResult;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::hunks::Hunk;

/// What is kept of a change beside the text the model saw.
#[derive(Serialize, Deserialize)]
pub(crate) struct DiffMeta {
    diffs: Vec<Hunk>,
    /// Only said where it is not so: the change is in place but may not survive a power cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    durable: Option<bool>,
}

impl DiffMeta {
    pub(crate) fn new(diffs: Vec<Hunk>, durable: bool) -> Self {
        Self { diffs, durable: (!durable).then_some(false) }
    }
}

/// The card of a call.
pub(crate) fn call(verb: &str, path: &str, old_text: Option<&str>, new_text: &str) -> Json {
    json!({
        "card": "diff",
        "title": format!("{verb} {path}"),
        "diffs": [{ "path": path, "oldText": old_text, "newText": new_text }],
        "locations": [{ "path": path }],
    })
}

/// The card of a success from its kept hunks; `None` where there are none.
pub(crate) fn result(title: &str, result: &ToolResult) -> Option<Json> {
    if result.is_error() {
        return None;
    }
    let meta: DiffMeta = result.meta.as_ref()?.read().ok()?;
    (!meta.diffs.is_empty()).then(|| card(title, &json!(meta.diffs), meta.durable))
}

/// The card of a write without hunks: the whole new text.
pub(crate) fn whole_file(title: &str, path: &str, content: &str, result: &ToolResult) -> Json {
    let durable = result.meta.as_ref().and_then(|meta| meta.read::<DiffMeta>().ok()?.durable);
    card(title, &json!([{ "path": path, "oldText": null, "newText": content }]), durable)
}

fn card(title: &str, diffs: &Json, durable: Option<bool>) -> Json {
    let mut card = json!({ "card": "diff", "title": title, "diffs": diffs });
    if let Some(durable) = durable {
        card["durable"] = durable.into();
    }
    card
}
