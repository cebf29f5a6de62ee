//! How a server fails to start or to go on.

use dsh_plugin::{Coded, PluginError};

/// Why a server could not be started, or stopped by itself. An end of input and a reader of the answers that has gone
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
}

impl Coded for McpError {
    fn name(&self) -> &'static str {
        "McpError"
    }

    fn code(&self) -> Option<&str> {
        Some(match self {
            Self::Service(_) => "MCP_SERVICE_MISSING",
            Self::Stopped(_) => "MCP_STOPPED",
        })
    }
}
