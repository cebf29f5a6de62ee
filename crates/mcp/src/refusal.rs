//! Messages that are answered before the protocol machinery sees them.

use rmcp::model::{ClientJsonRpcMessage, ErrorCode, RequestId};
use serde_json::{Value as Json, json};

use crate::id_scan::IdScan;

/// A JSON-RPC error for a message that could not be taken.
#[derive(Debug, PartialEq)]
pub(crate) struct Refusal {
    code: ErrorCode,
    message: String,
    id: Option<RequestId>,
}

impl Refusal {
    /// A message over the limit. It was skipped, so the id is what could be seen while it went past.
    pub(crate) fn too_long(limit: usize, id: Option<RequestId>) -> Self {
        let message = format!("message too long: the limit is {limit} bytes; nothing was done");
        Self { code: ErrorCode::INVALID_REQUEST, message, id }
    }

    /// One line. An absent id is `null`, as JSON-RPC wants it where no id could be read.
    pub(crate) fn to_line(&self) -> Vec<u8> {
        let id = self.id.clone().map_or(Json::Null, RequestId::into_json_value);
        let error = json!({"code": self.code.0, "message": self.message});
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "error": error})).into_bytes()
    }
}

/// Reads one message. `Ok(None)`: nothing that anybody expects an answer to.
pub(crate) fn parse(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    // Some shells put a byte order mark in front of what they pipe.
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return Ok(Some(message));
    }
    match serde_json::from_slice(line) {
        Ok(Json::Object(object)) => refuse_object(&object),
        Ok(Json::Array(_)) => {
            Err(invalid("batches are not supported: send one JSON object on each line", None))
        }
        Ok(_) => Err(invalid("a message must be a JSON object", None)),
        Err(error) => Err(Refusal {
            code: ErrorCode::PARSE_ERROR,
            message: format!("the message is not valid JSON: {error}"),
            id: IdScan::of(line),
        }),
    }
}

fn refuse_object(object: &serde_json::Map<String, Json>) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    let answers = object.contains_key("result") || object.contains_key("error");
    if answers && !object.contains_key("method") {
        // Answering an answer could go on for ever.
        tracing::debug!("ignoring a malformed answer of the client");
        return Ok(None);
    }
    let id: Option<RequestId> = object.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    Err(match (object.get("jsonrpc"), object.get("method"), object.get("id")) {
        (Some(Json::String(version)), Some(Json::String(method)), None) if version == "2.0" => {
            tracing::debug!(?method, "ignoring a malformed notification");
            return Ok(None);
        }
        (Some(Json::String(version)), _, _) if version != "2.0" => invalid("\"jsonrpc\" must be \"2.0\"", id),
        (Some(Json::String(_)), Some(Json::String(_)), Some(_)) if id.is_none() => {
            invalid("\"id\" must be a string or an integer", None)
        }
        (Some(Json::String(_)), Some(Json::String(_)), _)
            if object.get("params").is_some_and(|it| !it.is_object()) =>
        {
            let message = "\"params\" must be an object".to_owned();
            Refusal { code: ErrorCode::INVALID_PARAMS, message, id }
        }
        (Some(Json::String(_)), Some(Json::String(_)), _) => invalid("the message is no valid request", id),
        (Some(Json::String(_)), _, _) => invalid("\"method\" must be a string", id),
        _ => invalid("\"jsonrpc\" must be \"2.0\"", id),
    })
}

fn invalid(message: &str, id: Option<RequestId>) -> Refusal {
    Refusal { code: ErrorCode::INVALID_REQUEST, message: message.to_owned(), id }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that panics has failed")]
mod tests {
    use super::*;

    fn refusal(line: &str) -> String {
        let refusal = parse(line.as_bytes()).expect_err("this line is refused");
        String::from_utf8(refusal.to_line()).unwrap().trim_end().to_owned()
    }

    #[test]
    fn what_is_not_json_is_a_parse_error_with_the_id_if_it_can_be_seen() {
        assert_eq!(
            refusal("nonsense"),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is not valid JSON: expected ident at line 1 column 2"}}"#
        );
        assert!(
            refusal(r#"{"jsonrpc":"2.0","method":"x","params":{"a":"\ud800"},"id":3}"#)
                .contains(r#""id":3,"#)
        );
    }

    #[test]
    fn what_is_no_message_is_an_invalid_request_that_says_why() {
        for (line, why) in [
            ("[]", "batches are not supported: send one JSON object on each line"),
            ("7", "a message must be a JSON object"),
            ("{}", "\"jsonrpc\" must be \"2.0\""),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "\"jsonrpc\" must be \"2.0\""),
            (r#"{"jsonrpc":"2.0","id":1}"#, "\"method\" must be a string"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "\"id\" must be a string or an integer"),
        ] {
            let refused = parse(line.as_bytes()).expect_err(line);
            assert_eq!((refused.code, refused.message.as_str()), (ErrorCode::INVALID_REQUEST, why), "{line}");
        }
    }

    #[test]
    fn answers_and_blank_lines_are_never_answered() {
        for line in ["", " \r", r#"{"jsonrpc":"2.0","id":null,"error":{"code":"x"}}"#, r#"{"result":1}"#] {
            assert!(matches!(parse(line.as_bytes()), Ok(None)), "{line}");
        }
    }
}
