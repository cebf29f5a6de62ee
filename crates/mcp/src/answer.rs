//! Results as the protocol carries them.

use dsh_harness::{Content, ToolResult};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, Value as Json};

/// `_meta` of an error result: `{"message", "name"?, "code"?}`.
const ERROR: &str = "dsh-fs/error";
/// `_meta`: the presenter's card of the result, for user interfaces.
const CARD: &str = "dsh-fs/card";
/// `_meta` of an error result that carries metadata, such as `{"committed": true, "path": …}`.
const META: &str = "dsh-fs/meta";

/// The text blocks are what the model sees; everything for programs is in `_meta`.
pub(crate) fn answer(result: ToolResult, card: Option<Json>) -> CallToolResult {
    let mut meta = Map::new();
    if let Some(error) = result.error() {
        meta.insert(ERROR.to_owned(), error.to_json());
    }
    if let Some(card) = card {
        meta.insert(CARD.to_owned(), card);
    }
    let is_error = result.is_error();
    if let (true, Some(said)) = (is_error, result.meta) {
        meta.insert(META.to_owned(), said);
    }
    let shown = result.content.into_iter().filter_map(|block| match block {
        Content::Text(text) => Some(text),
        other => {
            tracing::warn!(?other, "a kind of content that MCP results cannot carry yet was left out");
            None
        }
    });
    let blocks = shown.chain(result.contexts).map(ContentBlock::text).collect();
    let mut answer = if is_error { CallToolResult::error(blocks) } else { CallToolResult::success(blocks) };
    answer.meta = Some(meta).filter(|meta| !meta.is_empty()).map(MetaObject);
    answer
}
