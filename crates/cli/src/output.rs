//! What is printed, and results as JSON.

use std::io::{self, Write as _};
use std::process::ExitCode;

use dsh_harness::{ErrorInfo, Meta, ToolResult};
use serde::Serialize;
use serde_json::Value as Json;

/// The exit code of a command that could not read its input or write its output.
pub(crate) const EXIT_FAILURE: u8 = 1;

/// Whether there is still somebody to write for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    There,
    /// Standard output was closed. That is a way to say "enough", not an error.
    Gone,
}

/// Writes to standard output and flushes. Only this function does.
pub(crate) fn print(bytes: &[u8]) -> io::Result<Reader> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(Reader::There),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(error),
    }
}

/// One JSON value on one line.
pub(crate) fn print_line(value: &impl Serialize) -> io::Result<Reader> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    print(&line)
}

/// Text, with a newline at its end.
pub(crate) fn print_text(text: &str) -> io::Result<Reader> {
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    print(format!("{text}{newline}").as_bytes())
}

/// The exit code of a command that prints one thing.
pub(crate) fn printed(result: io::Result<Reader>) -> ExitCode {
    match result {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => failed(&cannot_write(error), EXIT_FAILURE),
    }
}

pub(crate) fn cannot_write(error: io::Error) -> anyhow::Error {
    anyhow::Error::new(error).context("cannot write to standard output")
}

/// Says on standard error why a command failed, in one line.
pub(crate) fn failed(error: &anyhow::Error, code: u8) -> ExitCode {
    // If nobody reads this either, the exit code has to do.
    let _ = writeln!(io::stderr(), "dsh-fs: {}", message(error));
    ExitCode::from(code)
}

/// Says something on standard error, in one line, for the person who looks after the program.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "dsh-fs: {text}");
}

/// The error and its causes, without the causes that the text before them has already told.
pub(crate) fn message(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| match told.as_str() {
        "" => cause,
        said if said.contains(&cause) => told,
        said => format!("{said}: {cause}"),
    })
}

/// A result as the JSON lines have it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    content: String,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<Meta>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Json>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contexts: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Json>,
}

impl Answer {
    /// With the canonical value of a success if `values` says so.
    pub(crate) fn of(result: ToolResult, values: bool, id: Option<Json>) -> Self {
        Self {
            content: result.text(),
            is_error: result.is_error(),
            error: result.error().map(ErrorInfo::to_json),
            value: if values { result.value() } else { None },
            meta: result.meta,
            contexts: result.contexts,
            id,
        }
    }
}
