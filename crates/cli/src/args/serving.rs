//! The command line of `dsh-fs mcp`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use dsh_mcp::{HttpOptions, ServeOptions, Tokens};

use super::Confinement;

#[derive(Debug, clap::Args)]
pub(crate) struct Mcp {
    /// Serve many clients over streamable HTTP at this address (127.0.0.1:8100; port 0: any that is free) instead.
    ///
    /// When the server is ready it says `listening on http://ADDR/mcp` on standard error. SIGTERM or SIGINT ends it: calls
    /// under way are finished first.
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<SocketAddr>,

    /// Follow the composition file: changed rows are mounted anew while the server runs.
    ///
    /// Sessions stay, and calls under way are finished first. An edit that cannot be mounted is said on standard error, and
    /// what was running goes on. Wants --compose. Not with --confine, whose bounds cannot follow.
    #[arg(long, conflicts_with = "confine")]
    pub(crate) watch: bool,

    /// Add `structuredContent` to results and an output schema to tools. Many clients show both to the model.
    #[arg(long)]
    structured: bool,

    /// The longest message that is taken. Default: 16 MiB over HTTP, 64 MiB otherwise.
    #[arg(long, value_name = "BYTES", value_parser = positive)]
    max_request_bytes: Option<usize>,

    /// The longest result of a call.
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20, value_parser = positive)]
    max_result_bytes: usize,

    #[command(flatten)]
    pub(crate) door: Door,

    #[command(flatten)]
    pub(crate) confinement: Confinement,
}

/// What only a server over HTTP has.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Over HTTP")]
pub(crate) struct Door {
    /// The folder whose folders are the workspaces of sessions.
    ///
    /// A session gets one when it is minted: POST /sessions {"workspace": "NAME"}. With this, a session has to be minted before
    /// its name is used. Sessions that name no workspace have --cwd.
    #[arg(long, value_name = "DIR", requires = "http")]
    pub(crate) workspaces: Option<PathBuf>,

    /// The tokens that open the door; needed for every address that is not of the loopback.
    ///
    /// A line each: the token (16 characters or more), then what it may be used for: `session=NAME`, `workspace=NAME`, as
    /// often as you like; NAME* stands for all that begin so. Nothing after the token: everything.
    #[arg(long, value_name = "FILE", requires = "http")]
    tokens: Option<PathBuf>,

    /// A name that clients may know the server by (`files.example` or `files.example:8100`), beside those of the loopback.
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,

    /// A web page that may use the server (`https://app.example`), beside those of the server's own address.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,

    /// How many sessions there may be at once.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = positive, requires = "http")]
    max_sessions: usize,

    /// After how many minutes without a call a session is dropped, with what it has read.
    #[arg(long, value_name = "MINUTES", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=525_600), requires = "http")]
    idle_minutes: u64,

    /// How many calls may be under way at once. More are refused.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = positive, requires = "http")]
    max_calls: usize,

    /// How many of them in one session.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = positive, requires = "http")]
    max_session_calls: usize,

    /// How many connections are held at once. More wait.
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = positive, requires = "http")]
    max_connections: usize,

    /// How many seconds calls under way may go on when the server is told to end, before they are cancelled.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, requires = "http")]
    grace_seconds: u64,
}

impl Mcp {
    pub(crate) fn serve_options(&self) -> ServeOptions {
        let mut options = ServeOptions {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            max_result_bytes: self.max_result_bytes,
            structured: self.structured,
            ..if self.http.is_some() { HttpOptions::default().serve } else { ServeOptions::default() }
        };
        if let Some(bytes) = self.max_request_bytes {
            options.max_message_bytes = bytes;
        }
        options
    }

    /// Reads the tokens too.
    pub(crate) fn http_options(&self) -> anyhow::Result<HttpOptions> {
        let door = &self.door;
        Ok(HttpOptions {
            serve: self.serve_options(),
            tokens: door.tokens()?,
            hosts: door.allow_host.clone(),
            origins: door.allow_origin.clone(),
            minted_only: door.workspaces.is_some(),
            max_sessions: door.max_sessions,
            idle: Duration::from_secs(door.idle_minutes.saturating_mul(60)),
            max_calls: door.max_calls,
            max_session_calls: door.max_session_calls,
            max_connections: door.max_connections,
            grace: Duration::from_secs(door.grace_seconds),
        })
    }
}

impl Door {
    fn tokens(&self) -> anyhow::Result<Option<Tokens>> {
        use std::os::unix::fs::MetadataExt as _;
        let Some(file) = &self.tokens else { return Ok(None) };
        let at = || format!("--tokens {}", file.display());
        let text = std::fs::read_to_string(file).with_context(at)?;
        if std::fs::metadata(file).is_ok_and(|found| found.mode() & 0o077 != 0) {
            tracing::warn!(file = %file.display(), "others than its owner can read the tokens");
        }
        Tokens::parse(&text).map(Some).with_context(at)
    }
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a whole number from 1 on".to_owned()),
        Ok(number) => Ok(number),
    }
}
