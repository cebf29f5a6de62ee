//! What a server says of itself, and its limits.

use std::time::Duration;

use crate::tokens::Tokens;

/// What a server says of itself, and the limits of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServeOptions {
    /// `serverInfo.name`; by default `dsh-fs`.
    pub name: String,
    /// `serverInfo.version`; by default the version of this crate.
    pub version: String,
    /// The longest message that is taken, in bytes without its newline; by default 64 MiB over pipes. A longer one is
    /// skipped and answered with a JSON-RPC error. Over HTTP it is the longest body of a request; the default of
    /// [`HttpOptions`] is 16 MiB.
    pub max_message_bytes: usize,
    /// The longest result of a call, in bytes as JSON; by default 16 MiB. Of a longer one first the card is left out, and
    /// then the content, with an error in its place.
    pub max_result_bytes: usize,
    /// How many tools one answer to `tools/list` lists, at least 1; by default 100. The rest follows by `nextCursor`.
    pub tools_per_page: usize,
    /// Whether results carry `structuredContent` beside the text, and tools an output schema. Off by default: many
    /// clients hand both to the model, which then pays for them twice.
    pub structured: bool,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            name: "dsh-fs".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            max_message_bytes: 64 << 20,
            max_result_bytes: 16 << 20,
            tools_per_page: 100,
            structured: false,
        }
    }
}

/// What a server over HTTP lets in, and how much of it. The default is right for an address of the loopback.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// What it says of itself; `max_message_bytes` is 16 MiB by default.
    pub serve: ServeOptions,
    /// Who may come in. `None`, the default: everybody who can reach the address, which has to be one of the loopback.
    pub tokens: Option<Tokens>,
    /// Names that `Host` may have, beside those of the loopback and the address itself: `name` (any port) or `name:port`.
    /// At an address that is not of the loopback, none given means any: there the token guards.
    pub hosts: Vec<String>,
    /// Values that `Origin` may have (`https://app.example`), beside the loopback's at the server's own port. A request
    /// without `Origin` is let in unless its `Sec-Fetch-Site` says that a web page of somebody else has made it.
    pub origins: Vec<String>,
    /// Whether a named session has to be minted (`POST /sessions`) before it is used; by default a name begins at its
    /// first use. Where sessions have workspaces of their own it has to be so: a session that has expired, or that the
    /// server has forgotten in a restart, must not go on in another folder.
    pub minted_only: bool,
    /// How many sessions there may be at once, and how many connections of older clients to them; by default 1000.
    pub max_sessions: usize,
    /// After how long without a call a session is dropped; by default 30 minutes.
    pub idle: Duration,
    /// How many calls may be under way at once, at least 1; by default 256. More are refused.
    pub max_calls: usize,
    /// How many of them in one session, at least 1; by default 64.
    pub max_session_calls: usize,
    /// How many connections are held at once, at least 1; by default 2048. More wait to be accepted.
    pub max_connections: usize,
    /// How long calls under way may go on at the end before they are cancelled; by default 10 s. They are waited for
    /// afterwards too.
    pub grace: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            serve: ServeOptions { max_message_bytes: 16 << 20, ..ServeOptions::default() },
            tokens: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            minted_only: false,
            max_sessions: 1000,
            idle: Duration::from_secs(30 * 60),
            max_calls: 256,
            max_session_calls: 64,
            max_connections: 2048,
            grace: Duration::from_secs(10),
        }
    }
}
