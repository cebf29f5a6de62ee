//! Starting a server on a pair of pipes, and ending it.

use std::sync::Arc;
use std::time::Duration;

use dsh_harness::{SYSTEM_PROMPT, Session, TOOLS};
use dsh_plugin::{Context, EffectHandle};
use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use rmcp::transport::io::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::asking::answer_questions;
use crate::calls::Calls;
use crate::changes::Changes;
use crate::error::McpError;
use crate::options::ServeOptions;
use crate::seat::Seat;
use crate::server::{Served, Server};
use crate::wire::Wire;

/// How long calls that are still running at the end are waited for once they have been cancelled. They stop at their
/// next safe point; a publication under way is finished.
pub(crate) const LAST_CALLS: Duration = Duration::from_secs(10);

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
    let max_message_bytes = options.max_message_bytes;
    let harness = Harness::of(ctx, options, usize::MAX, usize::MAX)?;
    let Harness { served, .. } = &harness;
    let seat = Seat::new(session, None, served.tools.max_parallel_calls());
    let wire = Wire::new(input, output, max_message_bytes, served.tools.clone(), seat.gate.clone());
    let server = Server::new(served.clone(), Some(seat.clone()));
    let calls = CancellationToken::new();
    let ended = tokio::select! {
        ended = connection(server, wire, &calls) => ended,
        never = served.changes.tell() => match never {},
    };
    calls.cancel();
    if tokio::time::timeout(LAST_CALLS, seat.gate.empty()).await.is_err() {
        tracing::warn!("calls are still running after the end of the input");
    }
    harness.release().await;
    ended
}

/// A harness that is being served, and what the server has registered in it.
pub(crate) struct Harness {
    pub(crate) served: Arc<Served>,
    effects: [EffectHandle; 2],
}

impl Harness {
    pub(crate) fn of(
        ctx: &Context,
        options: ServeOptions,
        max_calls: usize,
        max_session_calls: usize,
    ) -> Result<Self, McpError> {
        let (tools, prompt) = (ctx.service(TOOLS)?, ctx.service(SYSTEM_PROMPT)?);
        let (changes, listening) = Changes::of(ctx)?;
        let answering = answer_questions(ctx)?;
        let calls = Calls::new(max_calls);
        let served = Arc::new(Served { tools, prompt, options, calls, max_session_calls, changes });
        Ok(Self { served, effects: [listening, answering] })
    }

    /// Takes back what was registered.
    pub(crate) async fn release(self) {
        for effect in self.effects {
            effect.undo().await;
        }
    }
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
