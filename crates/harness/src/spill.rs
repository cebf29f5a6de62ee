//! The service that keeps texts which are too long to be shown.

use std::sync::Arc;

use dsh_plugin::{Failure, ServiceKey};
use futures_util::future::BoxFuture;

use crate::session::Session;

/// The service `spillStore`. Optional: ask with [`try_service`](dsh_plugin::Context::try_service) at each call.
pub const SPILL_STORE: ServiceKey<dyn SpillStore> = ServiceKey::new("spillStore");

/// Keeps whole what a result shows a part of, where the model can get at it with the tools it has.
///
/// * **Whole or nothing**: after a success the locator leads to exactly the content; a failed save leaves nothing behind.
/// * **Private**: what is saved is readable by the owner of the process alone.
/// * **For a while**: a store is bounded and may drop its oldest texts for new ones; nothing outlives it.
/// * **Dropping the future** gives up the answer; the text may be kept all the same.
///
/// A save that fails must not fail the call whose result it was for: say that the rest could not be saved.
pub trait SpillStore: Send + Sync + 'static {
    /// Saves a text, however often the same one comes, under a locator of its own.
    fn save_text(&self, request: SpillRequest) -> BoxFuture<'_, Result<Spilled, Failure>>;
}

/// A text to keep, and where it comes from.
#[derive(Debug, Clone)]
pub struct SpillRequest {
    /// Whose it is; sessions with one id share a folder.
    pub owner: Arc<Session>,
    /// The tool whose result it is.
    pub tool: String,
    /// [`ToolCall::id`](crate::ToolCall::id) of the call.
    pub call_id: String,
    /// What the text is to the call, such as `result`.
    pub label: String,
    /// What the file would be called if there were no other, such as `grep-results.txt`; any text is right.
    pub suggested_name: String,
    /// The text.
    pub content: String,
}

/// A text that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spilled {
    /// How the model names it, such as an absolute path.
    pub locator: String,
    /// Its length in UTF-8.
    pub bytes: u64,
    /// A sentence for the model: how to read what the locator names.
    pub retrieval_hint: String,
}
