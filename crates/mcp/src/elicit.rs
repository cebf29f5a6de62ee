//! [`elicit`]: a tool puts a form to the person at the client.

use dsh_harness::ApprovalOutcome;
use rmcp::model::{ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::Value as Json;

use crate::asking::ask;
use crate::error::McpError;

/// What the person at the client said to a form.
#[derive(Debug, Clone, PartialEq)]
pub enum Elicited {
    /// The fields as they were filled in; the client has checked them, or has not. `null` for a form without fields.
    Accepted(Json),
    /// No.
    Declined,
    /// Neither yes nor no, or the call was cancelled while the question was open.
    Cancelled,
    /// Nobody was asked: the call comes from no client, or from one that has no forms, or no answer came in 5 minutes.
    Unavailable,
}

/// Puts a form to the person at the client, in the body of a tool: it is asked for the call that is being made.
///
/// `form` is a JSON Schema of the kind that the protocol has for forms: an object whose properties are texts, numbers,
/// booleans and choices, each with an optional `default`. Fails with [`McpError::Form`] where it is none. While the person
/// thinks, other calls of the client go on.
///
/// From 2026-07-28 on the client makes the call again with the answer. Until then the call is cancelled, and this gives
/// [`Elicited::Cancelled`]; so a body asks before it does anything, stops there, and asks the same when it runs again.
pub async fn elicit(message: impl Into<String>, form: Json) -> Result<Elicited, McpError> {
    let form = serde_json::from_value::<ElicitationSchema>(form)
        .map_err(|error| McpError::Form(error.to_string()))?;
    Ok(ask(message.into(), form).await)
}

impl From<ElicitResult> for Elicited {
    fn from(said: ElicitResult) -> Self {
        match said.action {
            ElicitationAction::Accept => Self::Accepted(said.content.unwrap_or_default()),
            ElicitationAction::Decline => Self::Declined,
            ElicitationAction::Cancel => Self::Cancelled,
            _ => Self::Unavailable,
        }
    }
}

impl From<Elicited> for ApprovalOutcome {
    fn from(said: Elicited) -> Self {
        match said {
            Elicited::Accepted(_) => Self::AllowedOnce,
            Elicited::Declined => Self::Rejected,
            Elicited::Cancelled => Self::Cancelled,
            Elicited::Unavailable => Self::Unavailable,
        }
    }
}
