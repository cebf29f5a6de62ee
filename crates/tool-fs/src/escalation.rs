//! Requests for a wider sandbox, refused: nothing here confines the tools, so there is nothing to widen.
//!
//! The fields are not in the schemas, but the schemas are open and a model may send them all the same.

use dsh_harness::ToolArgsError;
use serde_json::Value as Json;

/// Refuses a call that asks for a wider sandbox, or asks in an incomplete way.
pub(crate) fn refuse(arguments: &Json) -> Result<(), ToolArgsError> {
    let (wider, why) = (arguments.get("sandbox_permissions"), arguments.get("justification"));
    Err(ToolArgsError::new(match (wider, why) {
        (None, None) => return Ok(()),
        (Some(_), None) => "invalid escalation: sandbox_permissions requires a justification",
        (None, Some(_)) => {
            "invalid escalation: justification is only valid together with sandbox_permissions"
        }
        (Some(_), Some(why)) if why.as_str().is_none_or(|why| why.trim().is_empty()) => {
            "invalid justification: expected a non-empty sentence"
        }
        (Some(_), Some(_)) => {
            "sandbox_permissions is not available in this composition (no sandboxing filesystem to escalate)"
        }
    }))
}
