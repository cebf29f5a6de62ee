//! A server over HTTP, from its first connection to its last answer.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dsh_plugin::Context;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::door::Door;
use crate::error::McpError;
use crate::front::Front;
use crate::options::HttpOptions;
use crate::seats::{Seats, SessionProvider};
use crate::serve::{Harness, LAST_CALLS};
use crate::server::Server;

/// How long a client may take for the head of a request, and how long it may stay without one.
const HEAD_PATIENCE: Duration = Duration::from_secs(75);

/// How long answers may take to be sent when everything else has come to its end.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// How long nothing is accepted after the system would not (too many open files).
const NO_ACCEPT: Duration = Duration::from_millis(100);

/// Serves many clients over streamable HTTP at `listener` until `stop` resolves.
///
/// `sessions` begins the sessions; who is asking is decided for each request: the session in the URL (`/mcp/<session>`) or in
/// the header `Dsh-Session`; the one of an older client's `Mcp-Session-Id`; none. `POST /sessions` mints sessions, and
/// `GET /health` is answered `ok`.
///
/// After `stop` nothing new is accepted. Calls under way have [`grace`](HttpOptions::grace) to end, then they are cancelled
/// and waited for, 10 s at most: a publication under way is finished.
///
/// Fails with [`McpError::Unguarded`] where the address is not of the loopback and there are no tokens. Needs a tokio
/// runtime with IO and time.
pub async fn serve_http(
    ctx: &Context,
    sessions: impl SessionProvider,
    options: HttpOptions,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), McpError> {
    let at = listener.local_addr().map_err(|error| McpError::Listen(error.to_string()))?;
    if options.tokens.is_none() && !at.ip().is_loopback() {
        return Err(McpError::Unguarded(at));
    }
    let harness = Harness::of(ctx, options.serve.clone(), options.max_calls, options.max_session_calls)?;
    let served = harness.served.clone();
    let streams = CancellationToken::new();
    let clients = Arc::new(clients());
    let serving = served.clone();
    let front = Arc::new(Front {
        door: Door::new(at, &options),
        seats: Seats::new(Box::new(sessions), served.tools.max_parallel_calls(), &options),
        protocol: StreamableHttpService::new(
            move || Ok(Server::new(serving.clone(), None)),
            clients.clone(),
            protocol(options.serve.max_message_bytes, streams.clone()),
        ),
        clients,
        max_body: options.serve.max_message_bytes,
        closing: AtomicBool::new(false),
    });
    let connections = GracefulShutdown::new();
    tokio::select! {
        () = stop => {}
        never = accept(listener, &front, options.max_connections, &connections) => match never {},
        never = front.expire(options.idle) => match never {},
        never = served.changes.tell() => match never {},
    }
    front.closing.store(true, Ordering::Relaxed);
    // From now on a connection ends with its answer.
    let mut closed = pin!(tokio::spawn(connections.shutdown()));
    if timeout(options.grace, served.calls.empty()).await.is_err() {
        served.calls.cancel();
        if timeout(LAST_CALLS, served.calls.empty()).await.is_err() {
            tracing::warn!("calls are still running after the end of the server");
            served.calls.close();
        }
    }
    // Streams without a call would go on for ever.
    if timeout(LAST_ANSWERS, &mut closed).await.is_err() {
        streams.cancel();
        if timeout(LAST_ANSWERS, &mut closed).await.is_err() {
            tracing::debug!("some clients did not take their last answers");
        }
    }
    streams.cancel();
    harness.release().await;
    Ok(())
}

/// The SDK's part. Host, Origin and the rest were checked at the door.
fn protocol(max_body: usize, streams: CancellationToken) -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(max_body)
        // One answer to one request needs no stream.
        .with_json_response(true)
        .with_sse_retry(None)
        .with_cancellation_token(streams)
}

/// Older clients, by their `Mcp-Session-Id`.
fn clients() -> LocalSessionManager {
    let mut clients = LocalSessionManager::default();
    // When they have been idle for too long is decided with their sessions; here a long call would look idle.
    clients.session_config.keep_alive = None;
    // An event without data, before every answer, for clients that come back for lost ones: some cannot read it.
    clients.session_config.sse_retry = None;
    clients
}

/// Accepts connections for ever, as many at once as there may be.
async fn accept(
    listener: TcpListener,
    front: &Arc<Front>,
    max_connections: usize,
    connections: &GracefulShutdown,
) -> Infallible {
    let room = Arc::new(Semaphore::new(max_connections.clamp(1, Semaphore::MAX_PERMITS)));
    loop {
        let place = room.clone().acquire_owned().await;
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                pause_after(&error).await;
                continue;
            }
        };
        // Answers are short, and somebody waits for them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection is slower than it need be");
        }
        let front = front.clone();
        let service = service_fn(move |request| {
            let front = front.clone();
            async move { Ok::<_, Infallible>(front.answer(request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_PATIENCE)
            .serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke off");
            }
            drop(place);
        });
    }
}

/// One that has gone before it was accepted is no reason to wait.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::warn!(%error, "cannot accept a connection");
        tokio::time::sleep(NO_ACCEPT).await;
    }
}
