//! Asking a person: may this one operation be done?
//!
//! The service routes the question to whoever can reach the person, writes question and answer into the session's log, and
//! fails closed: anything that is not a clear yes is none.

use std::fmt;
use std::pin::pin;
use std::str::FromStr;
use std::sync::Arc;

use dsh_plugin::{Context, Failure, PlainError, Plugin, ServiceKey, Waterfall};
use futures_util::future::{Either, select};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::session::Session;
use crate::session_log::short;
use crate::spill_local::random_hex;
use crate::system_prompt::SYSTEM_PROMPT;

/// The service `approval`.
pub const APPROVAL: ServiceKey<Approval> = ServiceKey::new("approval");

/// The kind of the event by which a session has a policy of its own: `{policy}`.
const POLICY_EVENT: &str = "approval/policy";

/// What a person is asked to allow: one operation, this once.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// The session whose agent asks.
    pub session: Arc<Session>,
    /// The tool that would do it.
    pub tool: String,
    /// The call that would do it.
    pub call_id: Option<String>,
    /// Why it needs approval, in one line for people.
    pub reason: Option<String>,
    /// What it would be done to: the resolved path, if it is a file.
    pub path: Option<String>,
    /// The sandbox mode that it would run in, if that is what is asked for.
    pub mode: Option<String>,
    /// The agent's own words for why. They may say anything.
    pub justification: Option<String>,
    /// Withdraws the question.
    pub cancel: CancellationToken,
}

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalOutcome {
    /// Yes, for this one operation.
    AllowedOnce,
    /// No.
    Rejected,
    /// Neither: the question was put aside or withdrawn.
    Cancelled,
    /// Nobody could be asked.
    Unavailable,
}

/// `approval/request`: put to whoever can reach the person. Who cannot passes it on; the innermost answer is
/// [`Unavailable`](ApprovalOutcome::Unavailable), and so is a failure. The future is dropped when the question is withdrawn.
#[derive(Debug)]
pub struct AskApproval;

impl Waterfall for AskApproval {
    const NAME: &'static str = "approval/request";
    type Args = Arc<ApprovalRequest>;
    type Answer = ApprovalOutcome;
}

/// Whether people are asked at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalPolicy {
    /// They are.
    #[default]
    Ask,
    /// They are not, and whatever needs approval is rejected.
    Never,
}

/// Asks for approval, one question for one operation. A cheap handle.
#[derive(Debug, Clone)]
pub struct Approval {
    context: Context,
    policy: ApprovalPolicy,
}

/// Provides the service `approval` and says in the runtime context what to expect of it.
/// [`HarnessPlugin`](crate::HarnessPlugin) mounts it.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApprovalPlugin;

/// The settings of [`ApprovalPlugin`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ApprovalConfig {
    /// Whether people are asked: `ask` or `never`.
    pub policy: ApprovalPolicy,
}

impl Plugin for ApprovalPlugin {
    type Config = ApprovalConfig;

    fn name(&self) -> &'static str {
        "approval"
    }

    fn inject(&self) -> &'static [&'static str] {
        const { &[SYSTEM_PROMPT.name()] }
    }

    async fn apply(&self, ctx: Context, config: ApprovalConfig) -> Result<(), Failure> {
        let approval = Arc::new(Approval::new(&ctx, config.policy));
        let told = approval.clone();
        ctx.service(SYSTEM_PROMPT)?.context(&ctx, "approval:policy", 115, move |session| {
            session.map_or_else(String::new, |session| told.policy(session).context().to_owned())
        })?;
        ctx.provide(APPROVAL, approval)?;
        Ok(())
    }
}

impl Approval {
    /// A service that asks in `context`.
    pub fn new(context: &Context, policy: ApprovalPolicy) -> Self {
        Self { context: context.clone(), policy }
    }

    /// The policy of a session: the one it was given, else the standing one.
    pub fn policy(&self, session: &Session) -> ApprovalPolicy {
        let own = session.log().last(POLICY_EVENT);
        own.and_then(|data| data["policy"].as_str()?.parse().ok()).unwrap_or(self.policy)
    }

    /// Gives a session a policy of its own, from the next question on.
    pub fn set_policy(&self, session: &Session, policy: ApprovalPolicy) {
        if self.policy(session) != policy {
            session.log().append(POLICY_EVENT, json!({ "policy": policy.as_str() }));
        }
    }

    /// Asks, and waits for the answer; the log has both, `approval/asked` and `approval/decided`.
    ///
    /// Withdrawn as soon as the request's token is cancelled: then the outcome is
    /// [`Cancelled`](ApprovalOutcome::Cancelled), and a later answer counts for nothing.
    pub async fn request(&self, request: ApprovalRequest) -> ApprovalOutcome {
        let id = random_hex();
        let session = request.session.clone();
        session.log().append("approval/asked", asked(&id, &request));
        let outcome = self.decide(request).await;
        session.log().append("approval/decided", json!({ "id": id, "outcome": outcome }));
        outcome
    }

    async fn decide(&self, request: ApprovalRequest) -> ApprovalOutcome {
        if request.cancel.is_cancelled() {
            return ApprovalOutcome::Cancelled;
        }
        if self.policy(&request.session) == ApprovalPolicy::Never {
            return ApprovalOutcome::Rejected;
        }
        let cancel = request.cancel.clone();
        let nobody = |_| async { Ok(ApprovalOutcome::Unavailable) };
        let answer = self.context.waterfall::<AskApproval, _, _>(Arc::new(request), nobody);
        match select(pin!(cancel.cancelled()), pin!(answer)).await {
            Either::Left(_) => ApprovalOutcome::Cancelled,
            // An answer that arrives at the same moment is late.
            Either::Right(_) if cancel.is_cancelled() => ApprovalOutcome::Cancelled,
            Either::Right((Ok(outcome), _)) => outcome,
            Either::Right((Err(failure), _)) => {
                tracing::warn!("a listener of approval/request failed: {failure}");
                ApprovalOutcome::Unavailable
            }
        }
    }
}

fn asked(id: &str, request: &ApprovalRequest) -> Json {
    let mut data = json!({ "id": id, "toolName": short(&request.tool) });
    for (key, value) in [("callId", &request.call_id), ("reason", &request.reason), ("path", &request.path)] {
        if let Some(value) = value {
            data[key] = short(value).into();
        }
    }
    data
}

impl ApprovalPolicy {
    /// The policy as settings write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Never => "never",
        }
    }

    const fn context(self) -> &'static str {
        match self {
            Self::Ask => {
                "Approval policy: ask. Operations that require approval may ask through the configured answerers; \
                 without an available answerer, the request fails closed."
            }
            Self::Never => {
                "Approval prompts are disabled in this session: actions that require approval are rejected \
                 automatically — do not request sandbox escalation (do not set `sandbox_permissions`)."
            }
        }
    }
}

impl fmt::Display for ApprovalPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ApprovalPolicy {
    type Err = PlainError;

    fn from_str(text: &str) -> Result<Self, PlainError> {
        match text {
            "ask" => Ok(Self::Ask),
            "never" => Ok(Self::Never),
            _ => Err(PlainError::new("approval policy must be one of \"ask\" or \"never\"")),
        }
    }
}

impl<'de> Deserialize<'de> for ApprovalPolicy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Json::deserialize(deserializer)?;
        given.as_str().unwrap_or_default().parse().map_err(D::Error::custom)
    }
}
