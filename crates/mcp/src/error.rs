//! How a server fails to start or to go on, and a question to be put.

use std::net::SocketAddr;

use dsh_plugin::{Coded, PluginError};

/// Why a server could not be started or stopped by itself, or a question not be put. An end of input and a reader of the answers that has gone
/// away are no errors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The context tree lacks a service that the server is built on (`tools`, `systemPrompt`).
    #[error("the MCP server cannot start: {0}")]
    Service(#[from] PluginError),
    /// The protocol's own machinery failed; the text is its message.
    #[error("the MCP server stopped: {0}")]
    Stopped(String),
    /// Everybody on the network could use the server: its address is not of the loopback, and there are no tokens.
    #[error(
        "{0} can be reached from other machines: without tokens only an address of the loopback is served"
    )]
    Unguarded(SocketAddr),
    /// The address cannot be listened at; the text is the system's.
    #[error("cannot listen: {0}")]
    Listen(String),
    /// A tool asked with something that is no form ([`elicit`](crate::elicit)); the text says what does not fit.
    #[error("the form cannot be shown: {0}")]
    Form(String),
}

impl Coded for McpError {
    fn name(&self) -> &'static str {
        "McpError"
    }

    fn code(&self) -> Option<&str> {
        Some(match self {
            Self::Service(_) => "MCP_SERVICE_MISSING",
            Self::Stopped(_) => "MCP_STOPPED",
            Self::Unguarded(_) => "MCP_UNGUARDED",
            Self::Listen(_) => "MCP_LISTEN",
            Self::Form(_) => "MCP_FORM",
        })
    }
}
