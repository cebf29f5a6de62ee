//! Results as the protocol carries them.

use std::io;

use dsh_harness::{Content, ErrorInfo, ToolResult};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, Value as Json, json};

use crate::options::ServeOptions;

/// `_meta` of an error result: `{"message", "name"?, "code"?}`.
const ERROR: &str = "dsh-fs/error";
/// `_meta`: the presenter's card of the result, for user interfaces.
const CARD: &str = "dsh-fs/card";
/// `_meta` of an error result that carries metadata, such as `{"committed": true, "path": …}`.
const META: &str = "dsh-fs/meta";

/// What is said in a refusal of a change that belongs to no session.
const HOW_TO_NAME_A_SESSION: &str = "This call belongs to no session, so nothing that was read before it is remembered: \
     files can be read and created, not changed. A session is named in the URL (/mcp/<session>) or in the header \
     Dsh-Session.";

/// How a result is told.
pub(crate) struct Answering<'a> {
    pub(crate) options: &'a ServeOptions,
    pub(crate) card: Option<Json>,
    /// The call would have changed something, and belongs to no session.
    pub(crate) nobodys_change: bool,
}

impl Answering<'_> {
    /// The content is what the model sees; everything for programs is in `_meta`.
    pub(crate) fn answer(self, result: ToolResult) -> CallToolResult {
        let structured = if self.options.structured { result.value() } else { None };
        let is_error = result.is_error();
        let mut meta = Map::new();
        if let Some(error) = result.error() {
            meta.insert(ERROR.to_owned(), error.to_json());
        }
        if let Some(card) = self.card {
            meta.insert(CARD.to_owned(), card);
        }
        if is_error && let Some(said) = result.meta() {
            meta.insert(META.to_owned(), said);
        }
        let shown = result.content.into_iter().filter_map(block);
        let mut blocks: Vec<_> = shown.chain(result.contexts.into_iter().map(ContentBlock::text)).collect();
        if is_error && self.nobodys_change {
            blocks.push(ContentBlock::text(HOW_TO_NAME_A_SESSION));
        }
        let mut answer =
            if is_error { CallToolResult::error(blocks) } else { CallToolResult::success(blocks) };
        answer.structured_content = structured.map(object);
        answer.meta = Some(meta).filter(|meta| !meta.is_empty()).map(MetaObject);
        bounded(answer, self.options.max_result_bytes)
    }
}

fn block(content: Content) -> Option<ContentBlock> {
    match content {
        Content::Text(text) => Some(ContentBlock::text(text)),
        Content::Image(media) => Some(ContentBlock::image(media.data, media.mime_type)),
        Content::Audio(media) => Some(ContentBlock::audio(media.data, media.mime_type)),
        other => {
            tracing::warn!(?other, "a kind of content that MCP results cannot carry yet was left out");
            None
        }
    }
}

/// The protocol wants an object.
fn object(value: Json) -> Json {
    if value.is_object() { value } else { json!({"value": value}) }
}

/// The answer, if it is short enough; else without its card; else without its content. What was done stays done, so a
/// success stays one where the card alone was too long.
fn bounded(mut answer: CallToolResult, limit: usize) -> CallToolResult {
    let length = length(&answer);
    if length <= limit {
        return answer;
    }
    if let Some(MetaObject(meta)) = &mut answer.meta
        && meta.shift_remove(CARD).is_some()
    {
        answer.meta = answer.meta.filter(|meta| !meta.0.is_empty());
        return bounded(answer, limit);
    }
    let message = format!(
        "result too long: it has {length} bytes, the limit is {limit}; the call was made all the same"
    );
    let error = ErrorInfo::named(&message, "ResultError", "RESULT_TOO_LONG");
    let mut refused = CallToolResult::error(vec![ContentBlock::text(format!("Error: {message}"))]);
    let mut meta = Map::from_iter([(ERROR.to_owned(), error.to_json())]);
    // What a failure has changed for good is short.
    if let Some(MetaObject(said)) = &mut answer.meta {
        meta.extend(said.shift_remove_entry(META));
    }
    refused.meta = Some(MetaObject(meta));
    refused
}

/// Bytes as JSON.
fn length(answer: &CallToolResult) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, answer) {
        Ok(()) => count.0,
        // It could not be sent either.
        Err(_) => usize::MAX,
    }
}
