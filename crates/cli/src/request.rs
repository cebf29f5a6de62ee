//! One line of `dsh-fs run`, read strictly: pure, no IO.

use std::time::Duration;

use serde_json::{Map, Value as Json};

/// The session of calls that name none.
const DEFAULT_SESSION: &str = "s1";

/// What a line asks for.
#[derive(Debug, PartialEq)]
pub(crate) enum Request {
    Call(Call),
    /// The calls of one assistant message.
    Batch {
        calls: Vec<Call>,
        id: Option<Json>,
    },
}

#[derive(Debug, PartialEq)]
pub(crate) struct Call {
    /// `None`: a call outside any session.
    pub(crate) session: Option<String>,
    pub(crate) tool: String,
    pub(crate) args: Json,
    /// Comes back in the result.
    pub(crate) id: Option<Json>,
    pub(crate) abort: Option<Abort>,
}

/// When a call is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Abort {
    BeforeStart,
    After(Duration),
}

/// A line that is no request.
#[derive(Debug, PartialEq)]
pub(crate) struct Invalid {
    pub(crate) message: String,
    /// The line's id, if it had one that could be read.
    pub(crate) id: Option<Json>,
}

/// Reads a line, with or without its newline.
pub(crate) fn parse(line: &[u8]) -> Result<Request, Invalid> {
    let refuse = |message| Invalid { message, id: None };
    // Some shells put a byte order mark in front of what they pipe.
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii_end();
    let text = std::str::from_utf8(line).map_err(|error| {
        refuse(format!("a request must be UTF-8: byte {} is not", error.valid_up_to() + 1))
    })?;
    let value: Json = serde_json::from_str(text)
        .map_err(|error| refuse(format!("a request must be one JSON object: {error}")))?;
    let Json::Object(mut object) = value else {
        return Err(refuse(format!("a request must be a JSON object, got {}", kind(&value))));
    };
    let id = object.remove("id");
    request(object, id.clone()).map_err(|message| Invalid { message, id })
}

fn request(mut object: Map<String, Json>, id: Option<Json>) -> Result<Request, String> {
    let session = session(&mut object, "")?.unwrap_or_else(|| Some(DEFAULT_SESSION.to_owned()));
    let Some(calls) = object.remove("calls") else {
        return call(object, "", session, id).map(Request::Call);
    };
    for key in ["tool", "args", "abort"] {
        if object.contains_key(key) {
            return Err(format!("\"{key}\" belongs to a call, not beside \"calls\""));
        }
    }
    let Json::Array(calls) = calls else {
        return Err(format!("\"calls\" must be an array, got {}", kind(&calls)));
    };
    let calls = calls.into_iter().enumerate().map(|(index, value)| {
        let Json::Object(mut object) = value else {
            return Err(format!("\"calls[{index}]\" must be an object, got {}", kind(&value)));
        };
        let at = format!("calls[{index}].");
        let session = self::session(&mut object, &at)?.unwrap_or_else(|| session.clone());
        let id = object.remove("id");
        call(object, &at, session, id)
    });
    Ok(Request::Batch { calls: calls.collect::<Result<_, _>>()?, id })
}

/// `at` is where the object stands in the line, for messages.
fn call(
    mut object: Map<String, Json>,
    at: &str,
    session: Option<String>,
    id: Option<Json>,
) -> Result<Call, String> {
    let tool = match object.remove("tool") {
        Some(Json::String(tool)) => tool,
        Some(other) => return Err(format!("\"{at}tool\" must be a string, got {}", kind(&other))),
        None if at.is_empty() => {
            return Err("a request needs \"tool\" (a string) or \"calls\" (an array)".to_owned());
        }
        None => return Err(format!("\"{at}tool\" is missing: it must be a string")),
    };
    let abort = object.remove("abort").map(|value| abort(&value, at)).transpose()?;
    let args = object.remove("args").unwrap_or_else(|| Json::Object(Map::new()));
    Ok(Call { session, tool, args, id, abort })
}

/// Outer `None`: not said. Inner `None`: said to be none.
#[expect(clippy::option_option, reason = "absent and null mean two things here")]
fn session(object: &mut Map<String, Json>, at: &str) -> Result<Option<Option<String>>, String> {
    match object.remove("session") {
        None => Ok(None),
        Some(Json::Null) => Ok(Some(None)),
        Some(Json::String(id)) => Ok(Some(Some(id))),
        Some(other) => Err(format!("\"{at}session\" must be a string or null, got {}", kind(&other))),
    }
}

fn abort(value: &Json, at: &str) -> Result<Abort, String> {
    let wrong =
        |got: &str| format!("\"{at}abort\" must be \"pre\" or a number of milliseconds from 0 on, got {got}");
    match value {
        Json::String(word) if word == "pre" => Ok(Abort::BeforeStart),
        Json::String(word) => Err(wrong(&Json::from(word.as_str()).to_string())),
        Json::Number(number) => number
            .as_f64()
            .and_then(|milliseconds| Duration::try_from_secs_f64(milliseconds / 1000.0).ok())
            .map(Abort::After)
            .ok_or_else(|| wrong(&number.to_string())),
        other => Err(wrong(kind(other))),
    }
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]
mod tests;
