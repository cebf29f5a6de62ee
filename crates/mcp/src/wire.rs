//! Lines in, lines out: the transport, in place of the SDK's own.
//!
//! What differs: a line over the limit is answered with an error instead of silence, so is one that is not JSON; the
//! last line may lack its newline; calls take their place in the [`Gate`] in the order in which they are read; and a
//! reader of our answers that has gone away ends the input too.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use dsh_harness::ToolRegistry;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetExtensions as _, JsonRpcMessage, RequestId};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use serde_json::Value as Json;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::gate::{Gate, Ticket};
use crate::id_scan::IdScan;
use crate::refusal::{self, Refusal};

/// A connection. Clones share it, so that it outlives a handshake that failed.
pub(crate) struct Wire<R, W> {
    input: Arc<Mutex<Lines<R>>>,
    output: Arc<Mutex<W>>,
    /// Cancelled when an answer could not be written.
    gone: CancellationToken,
    /// An answer of our own that is being written. It is kept here because `receive` may be dropped at any await.
    reply: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
    tools: Arc<ToolRegistry>,
    gate: Arc<Gate>,
}

impl<R: AsyncRead + Unpin, W> Wire<R, W> {
    pub(crate) fn new(input: R, output: W, limit: usize, tools: Arc<ToolRegistry>, gate: Arc<Gate>) -> Self {
        Self {
            input: Arc::new(Mutex::new(Lines::new(input, limit))),
            output: Arc::new(Mutex::new(output)),
            gone: CancellationToken::new(),
            reply: None,
            tools,
            gate,
        }
    }

    /// Gives a tool call its place in the queue. The place travels with the message.
    fn queue(&self, message: &mut ClientJsonRpcMessage) {
        let JsonRpcMessage::Request(request) = message else { return };
        let ClientRequest::CallToolRequest(call) = &mut request.request else { return };
        let arguments = Json::Object(call.params.arguments.take().unwrap_or_default());
        let class = self.tools.concurrency(&call.params.name, &arguments);
        if let Json::Object(arguments) = arguments {
            call.params.arguments = Some(arguments);
        }
        let ticket: Arc<Ticket> = Arc::new(self.gate.enter(class));
        request.request.extensions_mut().insert(ticket);
    }
}

impl<R, W: AsyncWrite + Unpin + Send + 'static> Wire<R, W> {
    /// Writes one whole line. A reader that has gone away is not an error: it ends the input.
    fn write(&self, line: Vec<u8>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (output, gone) = (self.output.clone(), self.gone.clone());
        async move {
            let mut output = output.lock().await;
            let written = match output.write_all(&line).await {
                Ok(()) => output.flush().await,
                failed => failed,
            };
            written.or_else(|error| {
                gone.cancel();
                if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
            })
        }
    }
}

impl<R, W> Transport<RoleServer> for Wire<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let line = serde_json::to_vec(&message).map(|mut line| {
            line.push(b'\n');
            self.write(line)
        });
        async move { line?.await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(reply) = &mut self.reply {
                let written = reply.await;
                self.reply = None;
                written.inspect_err(|error| tracing::warn!(%error, "cannot write an answer")).ok()?;
            }
            let next = async { self.input.lock().await.next().await };
            let line = tokio::select! {
                biased;
                () = self.gone.cancelled() => None,
                line = next => line,
            }?;
            let refused = match line {
                Line::Whole(line) => match refusal::parse(&line) {
                    Ok(None) => continue,
                    Ok(Some(mut message)) => {
                        self.queue(&mut message);
                        return Some(message);
                    }
                    Err(refused) => refused,
                },
                Line::TooLong { limit, id } => Refusal::too_long(limit, id),
            };
            tracing::debug!(?refused, "refused a message");
            self.reply = Some(Box::pin(self.write(refused.to_line())));
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.flush().await
    }
}

impl<R, W> Clone for Wire<R, W> {
    fn clone(&self) -> Self {
        Self {
            input: self.input.clone(),
            output: self.output.clone(),
            gone: self.gone.clone(),
            reply: None,
            tools: self.tools.clone(),
            gate: self.gate.clone(),
        }
    }
}

/// Bounded lines of a stream. Dropping [`next`](Self::next) loses nothing.
struct Lines<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// Looks for the id in a line that is too long, until its end.
    skipping: Option<IdScan>,
    limit: usize,
}

enum Line {
    Whole(Vec<u8>),
    TooLong { limit: usize, id: Option<RequestId> },
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(input: R, limit: usize) -> Self {
        Self { read: BufReader::with_capacity(64 << 10, input), line: Vec::new(), skipping: None, limit }
    }

    /// The next line without its newline; `None` at the end, or when reading fails.
    async fn next(&mut self) -> Option<Line> {
        loop {
            let ready = match self.read.fill_buf().await {
                Ok(ready) => ready,
                Err(error) => {
                    tracing::warn!(%error, "cannot read the next message");
                    return None;
                }
            };
            let end = ready.is_empty();
            let newline = ready.iter().position(|byte| *byte == b'\n');
            let piece = &ready[..newline.unwrap_or(ready.len())];
            if let Some(scan) = &mut self.skipping {
                scan.feed(piece);
            } else if self.line.len() + piece.len() > self.limit {
                let mut scan = IdScan::default();
                scan.feed(&std::mem::take(&mut self.line));
                scan.feed(piece);
                self.skipping = Some(scan);
            } else {
                self.line.extend_from_slice(piece);
            }
            let taken = piece.len() + usize::from(newline.is_some());
            self.read.consume(taken);
            if newline.is_none() && !end {
                continue;
            }
            if let Some(scan) = self.skipping.take() {
                return Some(Line::TooLong { limit: self.limit, id: scan.found() });
            }
            let line = std::mem::take(&mut self.line);
            return if end && line.is_empty() { None } else { Some(Line::Whole(line)) };
        }
    }
}
