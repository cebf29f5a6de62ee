//! Starting a server on a pair of pipes, and ending it.

use std::sync::Arc;
use std::time::Duration;

use dsh_harness::{SYSTEM_PROMPT, Session, TOOLS};
use dsh_plugin::Context;
use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use rmcp::transport::io::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::asking::{OpenQuestions, answer_questions};
use crate::error::McpError;
use crate::gate::Gate;
use crate::server::Server;
use crate::wire::Wire;

/// How long calls that are still running at the end are waited for once they have been cancelled. They stop at their
/// next safe point; a publication under way is finished.
const LAST_CALLS: Duration = Duration::from_secs(10);

/// What a server says of itself, and its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServeOptions {
    /// `serverInfo.name`; by default `dsh-fs`.
    pub name: String,
    /// `serverInfo.version`; by default the version of this crate.
    pub version: String,
    /// The longest message that is taken, in bytes without its newline; by default 64 MiB. A longer one is skipped and
    /// answered with a JSON-RPC error.
    pub max_message_bytes: usize,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            name: "dsh-fs".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            max_message_bytes: 64 << 20,
        }
    }
}

/// Serves one client over standard input and output until the input ends, or nobody reads the output any more.
///
/// All calls are made in `session`: over stdio the process is the session. Needs a tokio runtime with IO and time;
/// either flavour will do.
pub async fn serve_stdio(
    ctx: &Context,
    session: Arc<Session>,
    options: ServeOptions,
) -> Result<(), McpError> {
    let (input, output) = stdio_pipes();
    serve(ctx, session, options, input, output).await
}

/// The same over any pair of streams.
///
/// As many parallel calls run at once as the harness allows in a batch. At the end of the input, calls under way have 5 s
/// to answer (the SDK's rule); then they are cancelled and waited for, 10 s at most.
///
/// Where a call needs approval (the service `approval`), the client's person is asked by elicitation, if the client has it.
pub async fn serve<R, W>(
    ctx: &Context,
    session: Arc<Session>,
    options: ServeOptions,
    input: R,
    output: W,
) -> Result<(), McpError>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let tools = ctx.service(TOOLS)?;
    let prompt = ctx.service(SYSTEM_PROMPT)?;
    let gate = Gate::new(tools.max_parallel_calls());
    let wire = Wire::new(input, output, options.max_message_bytes, tools.clone(), gate.clone());
    let ServeOptions { name, version, .. } = options;
    let questions = Arc::new(OpenQuestions::default());
    let server = Server { tools, prompt, session, gate: gate.clone(), questions, name, version };
    let answering = answer_questions(ctx)?;
    let calls = CancellationToken::new();
    let ended = connection(server, wire, &calls).await;
    calls.cancel();
    if tokio::time::timeout(LAST_CALLS, gate.empty()).await.is_err() {
        tracing::warn!("calls are still running after the end of the input");
    }
    answering.undo().await;
    ended
}

/// Until the connection ends. A handshake that fails does not end it: the client may try again.
async fn connection<R, W>(server: Server, wire: Wire<R, W>, calls: &CancellationToken) -> Result<(), McpError>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    use ServerInitializeError as Failed;
    loop {
        match serve_server_with_ct(server.clone(), wire.clone(), calls.child_token()).await {
            Ok(running) => {
                let quit = running.waiting().await;
                return quit.map(drop).map_err(|error| McpError::Stopped(error.to_string()));
            }
            Err(Failed::ConnectionClosed(_) | Failed::TransportError { .. } | Failed::Cancelled) => {
                return Ok(());
            }
            Err(Failed::ExpectedInitializeRequest(_)) => {
                tracing::debug!("ignoring a message before the first request");
            }
            Err(Failed::InitializeFailed(error)) => tracing::warn!(%error, "a handshake failed"),
            Err(error) => return Err(McpError::Stopped(error.to_string())),
        }
    }
}
