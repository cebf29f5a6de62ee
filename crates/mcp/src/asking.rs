//! Questions for the person at the client: the protocol's elicitation, for the tools' forms and as the answerer of
//! `approval/request`.
//!
//! Which client is asked is decided by the call that is being made, not by a name: the question is put inside the call's own
//! task, and that task knows its client. So several clients never get each other's questions.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dsh_harness::{ApprovalRequest, AskApproval, Session};
use dsh_plugin::{Context, EffectHandle, PluginError};
use rmcp::model::{
    CancelledNotificationParam, ClientResult, ElicitRequest, ElicitRequestParams, ElicitationSchema,
    ProtocolVersion, RequestId, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RoleServer};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::elicit::Elicited;
use crate::gate::Ticket;

/// How long a request of ours waits for the person.
const MOST_PATIENCE: Duration = Duration::from_secs(5 * 60);

/// Characters of the agent's own words that a person is shown.
const MOST_WORDS: usize = 1000;

tokio::task_local! {
    static CALL: Arc<Asking>;
}

/// Answers questions that arise in calls of clients, until it is undone.
pub(crate) fn answer_questions(ctx: &Context) -> Result<EffectHandle, PluginError> {
    ctx.intercept::<AskApproval, _, _>(|request, next| {
        let call = CALL.try_with(Arc::clone).ok();
        async move {
            match call {
                Some(call) if call.may_ask(&request) => {
                    Ok(call.ask(params(question(&request), no_fields())).await.into())
                }
                // Not a call of any client, or of one that cannot ask: perhaps somebody else can.
                _ => next.run(request).await,
            }
        }
    })
}

/// Asks the client of the call that is being made; without one nobody is there to ask.
pub(crate) async fn ask(message: String, fields: ElicitationSchema) -> Elicited {
    let Ok(call) = CALL.try_with(Arc::clone) else { return Elicited::Unavailable };
    tokio::select! {
        said = call.ask(params(message, fields)) => said,
        // The body has to come to its end, also where the client has to be answered first.
        () = call.cancel.cancelled() => Elicited::Cancelled,
    }
}

/// How the client of a call can be asked.
enum Way {
    Not,
    /// By a request of ours (protocols with `initialize`).
    Request(Peer<RoleServer>),
    /// By an answer that requires input, after which the client makes the call again (from 2026-07-28).
    Answer,
}

/// What one call can ask its client.
pub(crate) struct Asking {
    way: Way,
    session: Option<Arc<Session>>,
    ticket: Arc<Ticket>,
    /// The call's own: cancelled where the client has to be answered first.
    cancel: CancellationToken,
    rounds: Mutex<Rounds>,
}

/// Questions that were answered, with their answers.
pub(crate) type Answered = Vec<(ElicitRequestParams, Elicited)>;

/// Of a call that the client makes again for each answer.
#[derive(Default)]
struct Rounds {
    answered: Answered,
    /// What the client is to be asked before it makes the call again.
    open: Option<ElicitRequestParams>,
}

impl Asking {
    /// `earlier` is what was answered when the client made the same call before.
    pub(crate) fn new(
        context: &RequestContext<RoleServer>,
        session: Option<Arc<Session>>,
        ticket: Arc<Ticket>,
        earlier: Answered,
    ) -> Arc<Self> {
        let capability = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        // A client that names no kind of elicitation has the first there was: forms.
        let forms = capability.is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none());
        let way = match context.protocol_version() {
            _ if !forms => Way::Not,
            Some(version) if version >= ProtocolVersion::V_2026_07_28 => Way::Answer,
            _ => Way::Request(context.peer.clone()),
        };
        let rounds = Mutex::new(Rounds { answered: earlier, open: None });
        Arc::new(Self { way, session, ticket, cancel: context.ct.child_token(), rounds })
    }

    /// Cancels the call.
    pub(crate) fn cancel(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Makes the call, so that its questions come here.
    pub(crate) async fn during<F: Future>(self: &Arc<Self>, call: F) -> F::Output {
        CALL.scope(self.clone(), call).await
    }

    /// What the client has to be asked before it makes the call again, and what it has answered already.
    pub(crate) fn open_question(&self) -> Option<(ElicitRequestParams, Answered)> {
        let mut rounds = self.rounds();
        let open = rounds.open.take()?;
        Some((open, std::mem::take(&mut rounds.answered)))
    }

    fn may_ask(&self, request: &ApprovalRequest) -> bool {
        !matches!(self.way, Way::Not)
            && self.session.as_ref().is_some_and(|session| Arc::ptr_eq(session, &request.session))
    }

    async fn ask(&self, question: ElicitRequestParams) -> Elicited {
        match &self.way {
            Way::Not => Elicited::Unavailable,
            Way::Request(peer) => {
                // People are slow: other calls, reads first of all, do not wait for them.
                let aside = self.ticket.step_aside();
                let answer = timeout(MOST_PATIENCE, ask_peer(peer, question)).await;
                aside.back().await;
                answer.unwrap_or_else(|_| {
                    tracing::warn!("nobody has answered an elicitation");
                    Elicited::Unavailable
                })
            }
            Way::Answer => {
                {
                    let mut rounds = self.rounds();
                    let known = rounds.answered.iter().find(|(answered, _)| *answered == question);
                    if let Some((_, said)) = known {
                        return said.clone();
                    }
                    rounds.open = Some(question);
                }
                self.cancel.cancel();
                pending().await
            }
        }
    }

    // No foreign code runs under the lock, so a poisoned one is as good as new.
    fn rounds(&self) -> MutexGuard<'_, Rounds> {
        self.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks by a request, and withdraws it when this future is dropped.
async fn ask_peer(peer: &Peer<RoleServer>, question: ElicitRequestParams) -> Elicited {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(question));
    let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
    let answer = match sent {
        Ok(sent) => {
            let mut asked = Asked { peer: peer.clone(), id: Some(sent.id.clone()) };
            let answer = sent.await_response().await;
            asked.id = None;
            answer
        }
        Err(error) => Err(error),
    };
    match answer {
        Ok(ClientResult::ElicitResult(answer)) => answer.into(),
        Ok(_) => {
            tracing::warn!("the client's answer to an elicitation is none");
            Elicited::Unavailable
        }
        Err(error) => {
            tracing::warn!(%error, "the client could not be asked");
            Elicited::Unavailable
        }
    }
}

/// A request that waits for its answer.
struct Asked {
    peer: Peer<RoleServer>,
    id: Option<RequestId>,
}

impl Drop for Asked {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) else { return };
        let peer = self.peer.clone();
        let withdrawn =
            CancelledNotificationParam::new(Some(id), Some("the question was withdrawn".to_owned()));
        runtime.spawn(async move {
            if let Err(error) = peer.notify_cancelled(withdrawn).await {
                tracing::debug!(%error, "a question could not be withdrawn");
            }
        });
    }
}

fn params(message: String, fields: ElicitationSchema) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: fields }
}

/// A form without fields: the answer is yes or no.
fn no_fields() -> ElicitationSchema {
    ElicitationSchema::new(BTreeMap::new())
}

/// The question in words. What comes from the agent is quoted and escaped, so that it can neither add a line nor hide one.
fn question(request: &ApprovalRequest) -> String {
    let mut lines = Vec::new();
    lines.push(match request.mode {
        Some(_) => "The agent asks to do one operation outside its sandbox.".to_owned(),
        None => "The agent asks to make a call that needs your approval.".to_owned(),
    });
    lines.push(format!("Tool: {:?}", request.tool));
    if let Some(path) = &request.path {
        lines.push(format!("Path: {path:?}"));
    }
    if let Some(mode) = &request.mode {
        lines.push(format!("Sandbox mode: {mode:?}, for this operation only"));
    }
    match (&request.justification, &request.reason) {
        (Some(words), _) => lines.push(format!("Why, in the agent's words: {}", quoted(words))),
        (None, Some(reason)) => lines.push(format!("Why: {}", quoted(reason))),
        (None, None) => {}
    }
    lines.join("\n")
}

fn quoted(words: &str) -> String {
    match words.char_indices().nth(MOST_WORDS) {
        Some((end, _)) => format!("{:?} (cut)", &words[..end]),
        None => format!("{words:?}"),
    }
}
