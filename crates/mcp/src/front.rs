//! What happens to a request over HTTP: the door, who is asking, the protocol.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{SessionManager as _, StreamableHttpService};
use serde_json::{Value as Json, json};

use crate::body;
use crate::cors;
use crate::door::Door;
use crate::refusal;
use crate::refused::{Answer, Refused, json_answer, plain_answer};
use crate::seats::Seats;
use crate::server::{SHUTTING_DOWN, Server};
use crate::tokens::Rights;
use crate::who::{self, Claim, MCP_SESSION};

pub(crate) struct Front {
    pub(crate) door: Door,
    pub(crate) seats: Seats,
    pub(crate) protocol: StreamableHttpService<Server, LocalSessionManager>,
    pub(crate) clients: Arc<LocalSessionManager>,
    /// The longest body of a request, in bytes.
    pub(crate) max_body: usize,
    /// No new work is taken.
    pub(crate) closing: AtomicBool,
}

impl Front {
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Answer {
        if let Err(refused) = self.door.check(request.uri(), request.headers()) {
            return refused.into_answer();
        }
        // Of an Origin that was let in. Others get no answer that a browser would show them.
        let origin = cors::origin(request.headers());
        let mut answer = if cors::is_preflight(&request) {
            plain_answer(StatusCode::NO_CONTENT, Bytes::new())
        } else {
            self.route(request).await.unwrap_or_else(Refused::into_answer)
        };
        cors::allow(origin, &mut answer);
        answer
    }

    async fn route(&self, request: Request<Incoming>) -> Result<Answer, Refused> {
        let path = request.uri().path().to_owned();
        if path == "/health" {
            only(&request, &[Method::GET, Method::HEAD])?;
            return Ok(plain_answer(StatusCode::OK, "ok"));
        }
        let rights = self.door.rights(request.headers())?;
        self.is_open()?;
        match path.strip_prefix("/mcp") {
            Some("") => self.speak(request, None, &rights).await,
            Some(rest) if rest.starts_with('/') => self.speak(request, Some(&rest[1..]), &rights).await,
            _ if path == "/sessions" => self.mint(request, &rights).await,
            _ => Err(Refused::missing("NOT_FOUND", "there are /mcp, /mcp/<session>, /sessions and /health")),
        }
    }

    /// Whether new work is taken.
    fn is_open(&self) -> Result<(), Refused> {
        if self.closing.load(Ordering::Relaxed) {
            return Err(Refused::unavailable("SHUTTING_DOWN", SHUTTING_DOWN));
        }
        Ok(())
    }

    /// `POST /sessions`.
    async fn mint(&self, request: Request<Incoming>, rights: &Rights) -> Result<Answer, Refused> {
        only(&request, &[Method::POST])?;
        let body = body::whole(request.into_body(), self.max_body).await?;
        // A body may take its time.
        self.is_open()?;
        let Wanted { session, workspace } = Wanted::read(&body)?;
        let workspace = workspace.as_deref();
        let id = match session {
            Some(id) => who::valid(&id).map(str::to_owned)?,
            None => rights.fresh_session().ok_or_else(|| {
                Refused::forbidden(
                    "SESSION_REQUIRED",
                    "this token is for certain sessions only: name one of them",
                )
            })?,
        };
        who::may_use(rights, &id)?;
        who::may_work_in(rights, workspace)?;
        self.seats.mint(&id, workspace)?;
        let mut minted = json!({"session": id, "url": format!("/mcp/{id}")});
        if let Some(workspace) = workspace {
            minted["workspace"] = workspace.into();
        }
        Ok(json_answer(StatusCode::CREATED, minted.to_string()))
    }

    /// A request of the protocol.
    async fn speak(
        &self,
        request: Request<Incoming>,
        name: Option<&str>,
        rights: &Rights,
    ) -> Result<Answer, Refused> {
        let (mut parts, body) = request.into_parts();
        let mut hello = false;
        let body = if parts.method == Method::POST {
            let body = body::whole(body, self.max_body).await?;
            self.is_open()?;
            match refusal::parse(&body) {
                Ok(Some(message)) => hello = is_hello(&message),
                Ok(None) if body.trim_ascii().is_empty() => {
                    return Err(Refused::malformed("EMPTY", "the request has no body"));
                }
                Ok(None) => return Ok(plain_answer(StatusCode::ACCEPTED, Bytes::new())),
                Err(refused) => return Ok(json_answer(StatusCode::BAD_REQUEST, refused.to_line())),
            }
            body
        } else {
            Bytes::new()
        };
        let begins = parts.method == Method::POST;
        let claim = Claim { url: name, headers: &parts.headers, hello, begins };
        let asker = who::who(&claim, rights, &self.seats)?;
        if asker.client.is_none() {
            // The SDK has its own opinion on when to believe it.
            parts.headers.remove(MCP_SESSION);
        }
        parts.extensions.insert(asker.seat.clone());
        let ends = parts.method == Method::DELETE;
        let answer = self.protocol.handle(Request::from_parts(parts, Full::new(body))).await;
        let begun = answer.headers().get(MCP_SESSION).and_then(|id| id.to_str().ok());
        match (begun, asker.client) {
            (Some(begun), _) if hello => self.seats.link(begun, asker.seat, asker.fresh),
            _ if asker.fresh => self.seats.forget(&asker.seat),
            (_, Some(client)) if ends || answer.status() == StatusCode::NOT_FOUND => {
                self.unlink_ended(client).await;
            }
            _ => {}
        }
        // The SDK says 202 to the end of a session too, which some clients take for a failure.
        Ok(if ends && answer.status() == StatusCode::ACCEPTED {
            plain_answer(StatusCode::NO_CONTENT, Bytes::new())
        } else {
            answer
        })
    }

    /// Drops what nobody uses any more, now and then.
    pub(crate) async fn expire(&self, idle: Duration) -> Infallible {
        let often = (idle / 4).clamp(Duration::from_millis(10), Duration::from_secs(60));
        let mut ticks = tokio::time::interval(often);
        loop {
            ticks.tick().await;
            for client in self.seats.expire() {
                if let Err(error) = self.clients.close_session(&client.into()).await {
                    tracing::debug!(%error, "an expired client could not be closed");
                }
            }
        }
    }

    /// Forgets an `Mcp-Session-Id` that the SDK does not keep any more.
    async fn unlink_ended(&self, client: String) {
        let client = client.into();
        if !self.clients.has_session(&client).await.unwrap_or(true) {
            self.seats.unlink(&client);
        }
    }
}

/// What a session is to be, as `POST /sessions` says it. No body: nothing in particular.
#[derive(Default)]
struct Wanted {
    session: Option<String>,
    workspace: Option<String>,
}

impl Wanted {
    fn read(body: &[u8]) -> Result<Self, Refused> {
        let wrong = || {
            Refused::malformed(
                "BAD_REQUEST",
                "the body must be a JSON object with \"workspace\" and \"session\", both optional, both text",
            )
        };
        if body.trim_ascii().is_empty() {
            return Ok(Self::default());
        }
        let Ok(Json::Object(said)) = serde_json::from_slice(body) else { return Err(wrong()) };
        let mut wanted = Self::default();
        for (key, value) in said {
            let place = match key.as_str() {
                "session" => &mut wanted.session,
                "workspace" => &mut wanted.workspace,
                _ => return Err(wrong()),
            };
            *place = match value {
                Json::String(text) => Some(text),
                Json::Null => None,
                _ => return Err(wrong()),
            };
        }
        Ok(wanted)
    }
}

fn is_hello(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::InitializeRequest(_)))
}

fn only(request: &Request<Incoming>, methods: &[Method]) -> Result<(), Refused> {
    if methods.contains(request.method()) {
        return Ok(());
    }
    let methods: Vec<_> = methods.iter().map(Method::as_str).collect();
    Err(Refused::method(&methods.join(", ")))
}
