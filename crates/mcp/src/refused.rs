//! Requests over HTTP that are refused before the protocol sees them.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use serde_json::json;

/// An answer over HTTP.
pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// JSON-RPC's first code for errors of a server's own.
const SERVER_ERROR: i32 = -32000;

/// A request that is refused: a status, a code for programs and a sentence for people.
///
/// Its body is `{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message", "data": {"code"}}}`, which clients of the
/// protocol can read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Refused {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    /// 400: the request is not one.
    pub fn malformed(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// 401: nobody knows who is asking.
    pub(crate) fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", message)
    }

    /// 403: who is asking may not.
    pub fn forbidden(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, message)
    }

    /// 404: it is not there.
    pub fn missing(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    /// 405: not by this method.
    pub(crate) fn method(allowed: &str) -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "METHOD_NOT_ALLOWED",
            format!("only {allowed} is answered here"),
        )
    }

    /// 408: the request did not come to its end in time.
    pub(crate) fn slow(message: impl Into<String>) -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "TOO_SLOW", message)
    }

    /// 409: it is there already.
    pub(crate) fn taken(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    /// 413: it is too long.
    pub(crate) fn too_long(limit: usize) -> Self {
        let message = format!("message too long: the limit is {limit} bytes; nothing was done");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "TOO_LONG", message)
    }

    /// 503: not now. Clients are told to come again in a second.
    pub fn unavailable(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message)
    }

    /// The code for programs, such as `NO_SUCH_SESSION`.
    pub fn code(&self) -> &'static str {
        self.code
    }

    pub(crate) fn into_answer(self) -> Answer {
        tracing::debug!(status = self.status.as_u16(), code = self.code, message = ?self.message, "refused a request");
        let error = json!({"code": SERVER_ERROR, "message": self.message, "data": {"code": self.code}});
        let body = json!({"jsonrpc": "2.0", "id": null, "error": error});
        let mut answer = json_answer(self.status, body.to_string());
        let more = match self.status {
            StatusCode::UNAUTHORIZED => Some((WWW_AUTHENTICATE, "Bearer")),
            StatusCode::SERVICE_UNAVAILABLE => Some((RETRY_AFTER, "1")),
            _ => None,
        };
        if let Some((name, value)) = more {
            answer.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        answer
    }
}

/// A whole answer of JSON.
pub(crate) fn json_answer(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut answer = plain_answer(status, body);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// A whole answer.
pub(crate) fn plain_answer(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()).boxed());
    *answer.status_mut() = status;
    answer
}
