//! [`JsonLines`]: the lines of `dsh-fs run`, answered one by one, without input and output.

use std::path::PathBuf;
use std::sync::Arc;

use dsh_fs_local::on_the_spot;
use dsh_harness::{ErrorInfo, StateFolder, ToolCall, ToolRegistry, ToolResult};
use serde::Serialize;
use serde_json::Value as Json;
use serde_json::value::{RawValue, to_raw_value};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::output::Answer;
use crate::request::{self, Abort, Call, Invalid, Request};
use crate::sessions::Sessions;

/// Answers lines as `dsh-fs run` does, with any mounted tools: for a program that brings its own composition, or has
/// another way in and out than standard input and output.
///
/// Lines and answers are those of the [crate documentation](crate#json-lines).
#[derive(Debug)]
pub struct JsonLines {
    tools: Arc<ToolRegistry>,
    sessions: Sessions,
    values: bool,
    own_thread: bool,
}

impl JsonLines {
    /// No line answered and no session begun yet. `cwd` is the workspace of all sessions, an absolute path; `values` adds
    /// the canonical value to each success, as `--values` does.
    pub fn new(tools: Arc<ToolRegistry>, cwd: PathBuf, values: bool) -> Self {
        Self { tools, sessions: Sessions::new(cwd, None), values, own_thread: false }
    }

    /// Has the logs of all sessions kept in a folder, as `--state` does. To be said before the first line.
    #[must_use]
    pub fn recorded_in(mut self, state: StateFolder) -> Self {
        self.sessions.record_in(state);
        self
    }

    /// Says that nothing but the answers waits for the thread that makes them. A call that is alone on its line then reads
    /// and writes the disk on that thread, which spares the way to another one and back.
    #[must_use]
    pub fn on_own_thread(mut self) -> Self {
        self.own_thread = true;
        self
    }

    /// Makes the calls of one line, which is given with or without its newline, and gives back the JSON object that
    /// answers it, without one. A line that is no request has an answer too.
    ///
    /// Needs a tokio runtime with time.
    pub async fn answer(&mut self, line: &[u8]) -> Box<RawValue> {
        let answered = match request::parse(line) {
            Ok(Request::Call(call)) => Answered::Call(self.execute(vec![call]).await.pop()),
            Ok(Request::Batch { calls, id }) => Answered::Batch { results: self.execute(calls).await, id },
            Err(invalid) => return refused(invalid),
        };
        written(&answered)
    }

    async fn execute(&mut self, calls: Vec<Call>) -> Vec<Answer> {
        let (mut batch, mut ids) = (Vec::new(), Vec::new());
        // Dropped, and so ended, with the batch.
        let mut timers = JoinSet::new();
        for (number, call) in calls.into_iter().enumerate() {
            let cancel = CancellationToken::new();
            match call.abort {
                Some(Abort::BeforeStart) => cancel.cancel(),
                Some(Abort::After(time)) => {
                    let cancel = cancel.clone();
                    timers.spawn(async move {
                        tokio::time::sleep(time).await;
                        cancel.cancel();
                    });
                }
                None => {}
            }
            batch.push(ToolCall {
                id: (number + 1).to_string(),
                tool: call.tool,
                arguments: call.args,
                session: call.session.map(|id| self.sessions.get(&id)),
                cancel,
            });
            ids.push(call.id);
        }
        let alone = batch.len() == 1 && timers.is_empty();
        let calls = self.tools.execute_batch(batch);
        let results = if self.own_thread && alone { on_the_spot(calls).await } else { calls.await };
        results.into_iter().zip(ids).map(|(result, id)| Answer::of(result, self.values, id)).collect()
    }
}

/// What answers a request.
#[derive(Serialize)]
#[serde(untagged)]
enum Answered {
    Call(Option<Answer>),
    Batch {
        results: Vec<Answer>,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<Json>,
    },
}

/// The answer to a line that is no request.
pub(crate) fn refused(invalid: Invalid) -> Box<RawValue> {
    let refused = ErrorInfo::named(invalid.message, "RequestError", "INVALID_REQUEST");
    written(&Answer::of(ToolResult::failure(refused), false, invalid.id))
}

fn written(answer: &impl Serialize) -> Box<RawValue> {
    // Text, numbers and lists are always JSON.
    to_raw_value(answer).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
