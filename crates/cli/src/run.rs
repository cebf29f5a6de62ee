//! `dsh-fs run`.

use std::io::{self, BufRead, Read as _};
use std::process::ExitCode;

use anyhow::Context as _;
use dsh_harness::{ErrorInfo, ToolCall, ToolResult};
use serde_json::{Map, Value as Json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::args::{self, Setup};
use crate::compose::Running;
use crate::output::{self, EXIT_FAILURE, Reader};
use crate::request::{self, Abort, Call, Invalid, Request};
use crate::sessions::Sessions;

/// A longer line is refused and passed over: one without an end must not take all memory.
const LONGEST_LINE: u64 = 256 << 20;

/// The memory of a line longer than this is given back after it.
const KEPT_LINE: usize = 1 << 20;

pub(crate) fn main(setup: &Setup, command: &args::Run) -> anyhow::Result<ExitCode> {
    let running = Running::start(setup)?;
    let mut lines =
        Lines { running: &running, sessions: Sessions::new(setup.cwd.clone()), values: command.values };
    let ended = lines.answer_all();
    running.stop();
    Ok(match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::failed(&error, EXIT_FAILURE),
    })
}

struct Lines<'a> {
    running: &'a Running,
    sessions: Sessions,
    values: bool,
}

impl Lines<'_> {
    /// Until the input ends or nobody reads the answers.
    fn answer_all(&mut self) -> anyhow::Result<()> {
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            line.shrink_to(KEPT_LINE);
            let answer = match next_line(&mut input, &mut line).context("cannot read standard input")? {
                Next::End => return Ok(()),
                Next::Line => self.answer(&line),
                Next::TooLong => {
                    invalid(format!("a request must not be longer than {LONGEST_LINE} bytes"), None)
                }
            };
            if output::print_line(&answer).map_err(output::cannot_write)? == Reader::Gone {
                return Ok(());
            }
        }
    }

    fn answer(&mut self, line: &[u8]) -> Json {
        match request::parse(line) {
            Ok(Request::Call(call)) => {
                let mut results = self.execute(vec![call]);
                results.pop().unwrap_or(Json::Null)
            }
            Ok(Request::Batch { calls, id }) => {
                let results = self.execute(calls);
                let mut object = Map::new();
                object.insert("results".to_owned(), results.into());
                with_id(object, id)
            }
            Err(Invalid { message, id }) => invalid(message, id),
        }
    }

    fn execute(&mut self, calls: Vec<Call>) -> Vec<Json> {
        let (mut batch, mut ids, mut timers) = (Vec::new(), Vec::new(), Vec::new());
        for (number, call) in calls.into_iter().enumerate() {
            let cancel = CancellationToken::new();
            match call.abort {
                Some(Abort::BeforeStart) => cancel.cancel(),
                Some(Abort::After(time)) => timers.push((time, cancel.clone())),
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
        let results = self.running.block_on(async {
            // Dropped, and so ended, with the batch.
            let mut waiting = JoinSet::new();
            for (time, cancel) in timers {
                waiting.spawn(async move {
                    tokio::time::sleep(time).await;
                    cancel.cancel();
                });
            }
            self.running.tools.execute_batch(batch).await
        });
        results
            .iter()
            .zip(ids)
            .map(|(result, id)| with_id(output::result_json(result, self.values), id))
            .collect()
    }
}

enum Next {
    Line,
    TooLong,
    End,
}

/// Reads a line, its newline included, into `line`.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Next> {
    let read = input.by_ref().take(LONGEST_LINE).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(Next::End);
    }
    if line.ends_with(b"\n") || (read as u64) < LONGEST_LINE {
        return Ok(Next::Line);
    }
    input.skip_until(b'\n')?;
    Ok(Next::TooLong)
}

fn invalid(message: String, id: Option<Json>) -> Json {
    let refused = ToolResult::failure(ErrorInfo::named(message, "RequestError", "INVALID_REQUEST"));
    with_id(output::result_json(&refused, false), id)
}

fn with_id(mut object: Map<String, Json>, id: Option<Json>) -> Json {
    if let Some(id) = id {
        object.insert("id".to_owned(), id);
    }
    Json::Object(object)
}
