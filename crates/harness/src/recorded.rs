//! What the lines of a session's log file hold, and a result as it comes back from there.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::content::{Content, Media};
use crate::execution::Execution;
use crate::meta::Meta;
use crate::result::{ErrorInfo, Outcome, ToolResult};

/// The first event of each run in a file, with the number 0: `{id, cwd}`.
pub(crate) const START: &str = "session/start";
pub(crate) const CALL: &str = "tool/call";
pub(crate) const RESULT: &str = "tool/result";

/// One line of a log file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedEvent {
    /// Which session object it comes from, in hex: one that begins anew under the same id is another.
    pub run: String,
    /// Its number in that run, from 1; 0 for the `session/start` that each begins with.
    pub seq: u64,
    /// When, in milliseconds since 1970 (UTC).
    pub time: u64,
    /// What kind of event it is, such as `tool/call`.
    pub kind: String,
    /// What is to be known of it.
    pub data: Json,
}

/// [`RecordedEvent`] on its way to the file.
#[derive(Serialize)]
pub(crate) struct Line<'e, D> {
    run: &'e str,
    seq: u64,
    time: u64,
    kind: &'e str,
    data: &'e D,
}

impl<'e, D: Serialize> Line<'e, D> {
    /// An event that happens now.
    pub(crate) fn now(run: &'e str, seq: u64, kind: &'e str, data: &'e D) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Self { run, seq, time, kind, data }
    }
}

/// A call as it was recorded.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedCall {
    /// [`ToolCall::id`](crate::ToolCall::id).
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as they came.
    pub arguments: Json,
}

impl RecordedEvent {
    /// The call, if this is the start of one.
    pub fn call(&self) -> Option<RecordedCall> {
        (self.kind == CALL).then(|| RecordedCall::deserialize(&self.data).ok())?
    }

    /// The result, if this is the end of a call, and the number of the event that was its start. The value of a success is
    /// not kept: it comes back as `null`, and cards do not need it.
    pub fn result(&self) -> Option<(u64, ToolResult)> {
        if self.kind != RESULT {
            return None;
        }
        let kept = Kept::deserialize(&self.data).ok()?;
        let content = kept.content.into_iter().map(Block::into_content).collect();
        let outcome = match kept.error {
            Some(KeptError { message, name, code }) => Outcome::Failure(ErrorInfo { message, name, code }),
            None => ToolResult::success(Vec::new(), Json::Null).outcome,
        };
        Some((kept.call, ToolResult { content, outcome, meta: kept.meta, contexts: kept.contexts }))
    }
}

/// The data of the start of a call.
pub(crate) fn call(exec: &Execution) -> Json {
    json!({ "callId": exec.call_id, "name": exec.tool, "arguments": *exec.arguments })
}

/// The data of the end of the call that began with event `start`.
pub(crate) fn result<'r>(
    start: u64,
    exec: &'r Execution,
    result: &'r ToolResult,
) -> impl Serialize + use<'r> {
    Keeping {
        call: start,
        call_id: &exec.call_id,
        content: result.content.iter().cloned().map(Block::of).collect(),
        error: result.error().map(ErrorInfo::to_json),
        meta: result.meta.as_ref(),
        contexts: &result.contexts,
    }
}

/// [`Kept`] on its way to the file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Keeping<'r> {
    call: u64,
    call_id: &'r str,
    content: Vec<Block>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<&'r Meta>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    contexts: &'r [String],
}

#[derive(Deserialize)]
struct Kept {
    call: u64,
    content: Vec<Block>,
    error: Option<KeptError>,
    meta: Option<Meta>,
    #[serde(default)]
    contexts: Vec<String>,
}

#[derive(Deserialize)]
struct KeptError {
    message: String,
    name: Option<String>,
    code: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
enum Block {
    Text { text: String },
    Image { data: String, mime_type: String },
    Audio { data: String, mime_type: String },
}

impl Block {
    fn of(content: Content) -> Self {
        match content {
            Content::Text(text) => Self::Text { text },
            Content::Image(Media { data, mime_type }) => Self::Image { data, mime_type },
            Content::Audio(Media { data, mime_type }) => Self::Audio { data, mime_type },
        }
    }

    fn into_content(self) -> Content {
        match self {
            Self::Text { text } => Content::Text(text),
            Self::Image { data, mime_type } => Content::Image(Media { data, mime_type }),
            Self::Audio { data, mime_type } => Content::Audio(Media { data, mime_type }),
        }
    }
}
