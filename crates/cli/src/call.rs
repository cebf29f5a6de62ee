//! `dsh-fs call`.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use dsh_harness::{ToolCall, ToolResult};
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

use crate::args::{Call, Setup};
use crate::compose::Running;
use crate::output::{self, Answer, EXIT_FAILURE, Reader};
use crate::sessions::Sessions;

pub(crate) fn main(setup: &Setup, command: Call) -> anyhow::Result<ExitCode> {
    // All arguments are looked at before anything is done.
    let calls = pairs(command.calls)?;
    let running = Running::start(setup, command.confinement)?;
    let session = Sessions::new(running.cwd.clone(), setup.state.clone()).get("s1");
    let mut code = ExitCode::SUCCESS;
    let mut reader = Reader::There;
    for (number, (tool, arguments)) in calls.into_iter().enumerate() {
        let call = ToolCall {
            id: (number + 1).to_string(),
            tool,
            arguments,
            session: Some(session.clone()),
            cancel: CancellationToken::new(),
        };
        let result = running.block_on(running.tools.execute(call));
        if result.is_error() {
            code = ExitCode::FAILURE;
        }
        // Nobody reads any more, but all the calls were asked for.
        if reader == Reader::There {
            reader = print(result, command.json).unwrap_or_else(|error| {
                code = output::failed(&output::cannot_write(error), EXIT_FAILURE);
                Reader::Gone
            });
        }
    }
    running.stop();
    Ok(code)
}

fn print(result: ToolResult, json: bool) -> std::io::Result<Reader> {
    if json {
        return output::print_line(&Answer::of(result, true, None));
    }
    let shown: Vec<String> = std::iter::once(result.text()).chain(result.contexts).collect();
    output::print_text(&shown.join("\n"))
}

fn pairs(words: Vec<String>) -> anyhow::Result<Vec<(String, Json)>> {
    let mut words = words.into_iter();
    let mut calls = Vec::new();
    while let Some(tool) = words.next() {
        let Some(text) = words.next() else {
            bail!("call: there are no arguments after \"{tool}\"; give a tool and its JSON, in pairs");
        };
        let arguments = serde_json::from_str(&text)
            .with_context(|| format!("call: the arguments of \"{tool}\" are not JSON"))?;
        calls.push((tool, arguments));
    }
    Ok(calls)
}
