//! What browsers want to be told before a web page of another Origin may use the server. Which Origins may is the door's to
//! say; here are only the words.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, HeaderValue, ORIGIN, VARY,
};
use http::{HeaderMap, Method, Request};

use crate::refused::Answer;

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
const HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, accept, dsh-session, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, \
     last-event-id",
);
const SHOWN: HeaderValue = HeaderValue::from_static("mcp-session-id");

pub(crate) fn origin(headers: &HeaderMap) -> Option<HeaderValue> {
    headers.get(ORIGIN).cloned()
}

/// A browser asks whether it may make a request. It carries no token yet.
pub(crate) fn is_preflight<B>(request: &Request<B>) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Tells the browser that this Origin may see the answer.
pub(crate) fn allow(origin: Option<HeaderValue>, answer: &mut Answer) {
    let Some(origin) = origin else { return };
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, SHOWN);
    headers.append(VARY, HeaderValue::from_static("origin"));
}
