//! A call: as it is asked for, and as it goes through the pipeline.

use std::sync::Arc;

use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

use crate::report::Reporter;
use crate::session::Session;

/// A request to run a tool, as a model or a program makes it.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The caller's id of this call; only carried, never compared.
    pub id: String,
    /// The tool's name; an unknown one gives an error result.
    pub tool: String,
    /// Any JSON value, judged by the tool's schema.
    pub arguments: Json,
    /// The session it belongs to; `None` means no owner and the backend's own working directory.
    pub session: Option<Arc<Session>>,
    /// The caller's cancellation. A batch whose calls share one token is cancelled as a whole.
    pub cancel: CancellationToken,
}

/// One call on its way through the pipeline: what listeners, guards and the tool body get to see.
///
/// It is never changed in place. A wrapper around `tools/execute` that wants another cancellation token
/// passes `exec.with_cancel(child)` on; the caller's own token still reaches the body then.
#[derive(Debug, Clone)]
pub struct Execution {
    /// [`ToolCall::id`].
    pub call_id: String,
    /// The tool's name, known or not.
    pub tool: String,
    /// The arguments as they came, not validated yet.
    pub arguments: Arc<Json>,
    /// The session of the call.
    pub session: Option<Arc<Session>>,
    /// Cancelled when the caller or a wrapper gives up. A body stops at its next safe point; it is waited for.
    pub cancel: CancellationToken,
    /// Where a body that takes long says how far it has come.
    pub report: Reporter,
}

impl Execution {
    /// The execution of a call, with nobody to report to.
    #[must_use]
    pub fn new(call: ToolCall) -> Self {
        Self {
            call_id: call.id,
            tool: call.tool,
            arguments: Arc::new(call.arguments),
            session: call.session,
            cancel: call.cancel,
            report: Reporter::default(),
        }
    }

    /// The same call under another cancellation token.
    #[must_use]
    pub fn with_cancel(&self, cancel: CancellationToken) -> Arc<Self> {
        Arc::new(Self { cancel, ..self.clone() })
    }
}
