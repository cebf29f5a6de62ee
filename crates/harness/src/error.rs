//! How a tool call fails, and the failures that the pipeline itself reports.

use std::fmt;

use dsh_plugin::{Coded, Failure};

use crate::meta::Meta;
use crate::result::{ErrorInfo, ToolResult};

/// What a tool's body fails with: any [`Coded`] failure (`?` converts it), and perhaps metadata for the
/// error result.
#[derive(Debug)]
pub struct ToolError {
    failure: Failure,
    meta: Option<Meta>,
}

/// Arguments that a tool does not take: schema violations and value errors alike.
/// Name `ToolArgsError`, code `INVALID_ARGS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolArgsError(String);

/// A call that somebody who may has refused: a policy, a guard, a person. Name `ToolDenied`, code `DENIED`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDenied(String);

impl ToolError {
    /// Attaches metadata, such as `{"committed": true}` where a change was made before the failure.
    #[must_use]
    pub fn with_meta(mut self, meta: impl Into<Meta>) -> Self {
        self.meta = Some(meta.into());
        self
    }

    /// The failure itself.
    pub fn failure(&self) -> &dyn Coded {
        &*self.failure
    }

    /// The metadata of the error result.
    pub fn meta(&self) -> Option<&Meta> {
        self.meta.as_ref()
    }

    pub(crate) fn into_result(self) -> ToolResult {
        ToolResult { meta: self.meta, ..ToolResult::failure(ErrorInfo::of(&*self.failure)) }
    }
}

impl<F: Into<Failure>> From<F> for ToolError {
    fn from(failure: F) -> Self {
        Self { failure: failure.into(), meta: None }
    }
}

impl ToolArgsError {
    /// The message is the whole text after `Error: `.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for ToolArgsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ToolArgsError {}

impl Coded for ToolArgsError {
    fn name(&self) -> &'static str {
        "ToolArgsError"
    }

    fn code(&self) -> Option<&str> {
        Some("INVALID_ARGS")
    }
}

impl ToolDenied {
    /// The message is the whole text after `Error: `.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for ToolDenied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ToolDenied {}

impl Coded for ToolDenied {
    fn name(&self) -> &'static str {
        "ToolDenied"
    }

    fn code(&self) -> Option<&str> {
        Some("DENIED")
    }
}

/// The failures that the pipeline itself reports.
pub(crate) mod failures {
    use super::{ErrorInfo, ToolDenied};

    pub(crate) fn unknown_tool(name: &str) -> ErrorInfo {
        ErrorInfo::named(format!("unknown tool \"{name}\""), "ToolNotFoundError", "UNKNOWN_TOOL")
    }

    pub(crate) fn denied(reason: String) -> ErrorInfo {
        ErrorInfo::of(&ToolDenied(reason))
    }

    /// A post-execute listener asked for what cannot be done.
    pub(crate) fn misused_verdict(message: &str) -> ErrorInfo {
        ErrorInfo::named(message, "ToolPolicyError", "INVALID_VERDICT")
    }

    /// `ran`: did the body start?
    pub(crate) fn aborted(ran: bool) -> ErrorInfo {
        if ran {
            ErrorInfo::named("tool call aborted", "AbortError", "ABORTED")
        } else {
            ErrorInfo::named("tool call aborted before dispatch", "AbortError", "ABORTED_BEFORE_DISPATCH")
        }
    }

    pub(crate) fn timed_out(millis: u128) -> ErrorInfo {
        ErrorInfo::named(format!("tool call timed out after {millis}ms"), "ToolTimeoutError", "TOOL_TIMEOUT")
    }

    pub(crate) fn invalid_output(tool: &str, violations: &str) -> ErrorInfo {
        ErrorInfo::named(
            format!("tool \"{tool}\" returned invalid output: {violations}"),
            "ToolOutputError",
            "INVALID_TOOL_OUTPUT",
        )
    }

    /// A panic in code that the pipeline calls; `what` says whose.
    pub(crate) fn panicked(what: &str, payload: &str) -> ErrorInfo {
        ErrorInfo::named(format!("{what} panicked: {payload}"), "InternalError", "INTERNAL_ERROR")
    }
}
