//! Questions for the person at the client: the protocol's elicitation, as the answerer of `approval/request`.
//!
//! Which client is asked is decided by the call that is being made, not by a name: the question is put inside the call's own
//! task, and that task knows its client. So several clients never get each other's questions.

use std::collections::{BTreeMap, VecDeque};
use std::future::pending;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dsh_harness::{ApprovalOutcome, ApprovalRequest, AskApproval, Session};
use dsh_plugin::{Context, EffectHandle, PluginError};
use rmcp::model::{
    CancelledNotificationParam, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult, InputResponses, ProtocolVersion,
    RequestId, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RoleServer};
use serde_json::Value as Json;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::gate::Ticket;

/// The key of the one question in an answer that requires input.
const KEY: &str = "approval";

/// How long a request of ours waits for the person.
const MOST_PATIENCE: Duration = Duration::from_secs(5 * 60);

/// How many calls may wait for their client to come back with an answer. Of more the oldest is asked anew.
const MOST_OPEN: usize = 32;

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
                Some(call) if call.may_ask(&request) => Ok(call.ask(&request).await),
                // Not a call of any client, or of one that cannot ask: perhaps somebody else can.
                _ => next.run(request).await,
            }
        }
    })
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
    session: Arc<Session>,
    ticket: Arc<Ticket>,
    /// The call's own: cancelled where the client has to be answered first.
    cancel: CancellationToken,
    rounds: Mutex<Rounds>,
}

/// Of a call that the client makes again for each answer.
#[derive(Default)]
struct Rounds {
    answered: Vec<(String, ApprovalOutcome)>,
    /// What the client is to be asked before it makes the call again.
    open: Option<String>,
}

impl Asking {
    /// `earlier` is what was answered when the client made the same call before.
    pub(crate) fn new(
        context: &RequestContext<RoleServer>,
        session: Arc<Session>,
        ticket: Arc<Ticket>,
        earlier: Vec<(String, ApprovalOutcome)>,
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
    pub(crate) fn open_question(&self) -> Option<(String, Vec<(String, ApprovalOutcome)>)> {
        let mut rounds = self.rounds();
        let open = rounds.open.take()?;
        Some((open, std::mem::take(&mut rounds.answered)))
    }

    fn may_ask(&self, request: &ApprovalRequest) -> bool {
        !matches!(self.way, Way::Not) && Arc::ptr_eq(&self.session, &request.session)
    }

    async fn ask(&self, request: &ApprovalRequest) -> ApprovalOutcome {
        let question = question(request);
        match &self.way {
            Way::Not => ApprovalOutcome::Unavailable,
            Way::Request(peer) => {
                // People are slow: other calls, reads first of all, do not wait for them.
                let aside = self.ticket.step_aside();
                let answer = timeout(MOST_PATIENCE, ask_peer(peer, question)).await;
                aside.back().await;
                answer.unwrap_or_else(|_| {
                    tracing::warn!("nobody has answered an elicitation");
                    ApprovalOutcome::Unavailable
                })
            }
            Way::Answer => {
                {
                    let mut rounds = self.rounds();
                    let known = rounds.answered.iter().find(|(answered, _)| *answered == question);
                    if let Some((_, outcome)) = known {
                        return *outcome;
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
async fn ask_peer(peer: &Peer<RoleServer>, question: String) -> ApprovalOutcome {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(params(question)));
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
        Ok(ClientResult::ElicitResult(answer)) => outcome(&answer),
        Ok(_) => {
            tracing::warn!("the client's answer to an elicitation is none");
            ApprovalOutcome::Unavailable
        }
        Err(error) => {
            tracing::warn!(%error, "the client could not be asked");
            ApprovalOutcome::Unavailable
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

fn outcome(answer: &ElicitResult) -> ApprovalOutcome {
    match answer.action {
        ElicitationAction::Accept => ApprovalOutcome::AllowedOnce,
        ElicitationAction::Decline => ApprovalOutcome::Rejected,
        ElicitationAction::Cancel => ApprovalOutcome::Cancelled,
        _ => ApprovalOutcome::Unavailable,
    }
}

/// A form without fields: the answer is yes or no.
fn params(question: String) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question,
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    }
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

/// Questions whose answers come with the same call, made again. What a client sends with it is believed only as far as it
/// names a question that was asked for exactly this call.
#[derive(Default)]
pub(crate) struct OpenQuestions {
    open: Mutex<VecDeque<Open>>,
    hasher: RandomState,
}

struct Open {
    state: String,
    call: u64,
    question: String,
    answered: Vec<(String, ApprovalOutcome)>,
}

impl OpenQuestions {
    /// The answer that asks.
    pub(crate) fn ask(
        &self,
        tool: &str,
        arguments: &Json,
        question: String,
        answered: Vec<(String, ApprovalOutcome)>,
    ) -> InputRequiredResult {
        let request = InputRequest::Elicitation(ElicitRequest::new(params(question.clone())));
        // The hasher's keys are random, so nobody can foresee it.
        let state = format!("{:016x}", RandomState::new().hash_one(&question));
        let call = self.fingerprint(tool, arguments);
        let mut open = self.lock();
        if open.len() == MOST_OPEN {
            open.pop_front();
        }
        open.push_back(Open { state: state.clone(), call, question, answered });
        InputRequiredResult::new(Some(BTreeMap::from([(KEY.to_owned(), request)])), Some(state))
    }

    /// What the person has said to the questions of this call so far. Each question is answered once.
    pub(crate) fn answers(
        &self,
        tool: &str,
        arguments: &Json,
        state: Option<&str>,
        responses: Option<InputResponses>,
    ) -> Vec<(String, ApprovalOutcome)> {
        let (Some(state), Some(mut responses)) = (state, responses) else { return Vec::new() };
        let call = self.fingerprint(tool, arguments);
        let found = {
            let mut open = self.lock();
            let place = open.iter().position(|open| open.state == state && open.call == call);
            place.and_then(|place| open.remove(place))
        };
        let (Some(Open { question, mut answered, .. }), Some(response)) = (found, responses.remove(KEY))
        else {
            return Vec::new();
        };
        let said = serde_json::from_value::<ElicitResult>(response);
        let said = said.as_ref().map_or(ApprovalOutcome::Unavailable, outcome);
        answered.push((question, said));
        answered
    }

    fn fingerprint(&self, tool: &str, arguments: &Json) -> u64 {
        self.hasher.hash_one((tool, arguments.to_string()))
    }

    // No foreign code runs under the lock, so a poisoned one is as good as new.
    fn lock(&self) -> MutexGuard<'_, VecDeque<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
