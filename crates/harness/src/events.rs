//! The events of the pipeline: where policies and observers take part.

use std::sync::Arc;

use dsh_plugin::{Event, Waterfall};
use serde_json::Value as Json;

use crate::content::Content;
use crate::execution::Execution;
use crate::result::ToolResult;

/// `tools/pre-execute`: may this call run? Asked once per call, before the tool is even looked up.
///
/// The marker of the waterfall is its own argument. The innermost answer is [`Decision::Allow`]. A listener that
/// fails ends the call with its error; nothing ran.
#[derive(Debug, Clone)]
pub struct PreExecute {
    /// The call.
    pub exec: Arc<Execution>,
}

/// The answer to [`PreExecute`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Go on; guards may still refuse.
    Allow,
    /// Refuse: an error result `Error: <reason>`, name `ToolDenied`, code `DENIED`.
    Deny {
        /// The whole message.
        reason: String,
    },
    /// Ask a person through the service `approval`; where nobody can be asked, refuse. Guards may refuse before and after.
    Ask {
        /// Why, in one line for people.
        reason: Option<String>,
    },
}

/// `tools/execute`: around the body. Whoever listens may hand another cancellation token to `next` (see
/// [`Execution::with_cancel`]), change what comes back, or answer without calling `next` at all. Tool, arguments and
/// session stay those that policy and guards have judged, whatever is handed on.
///
/// The innermost answer looks the tool up, so listeners see calls of unknown tools too. A listener that fails ends
/// the call with its error, without post-execute. Where it calls `next`, it must wait for it.
#[derive(Debug)]
pub struct Execute;

/// `tools/post-execute`: what becomes of the outcome, refused calls included. The innermost answer accepts.
#[derive(Debug, Clone)]
pub struct PostExecute {
    /// The call.
    pub exec: Arc<Execution>,
    /// What it came to so far.
    pub result: Arc<ToolResult>,
}

/// The answer to [`PostExecute`].
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Keep the outcome, perhaps shown or valued differently. Replacing both is an error.
    Accept {
        /// Replaces the content blocks.
        content: Option<Vec<Content>>,
        /// Replaces the value of a success; it is checked and rendered anew by the tool.
        value: Option<Json>,
        /// Appended to the result's contexts.
        contexts: Vec<String>,
    },
    /// Make it a failure that shows the feedback.
    Block {
        /// The content of the error result.
        feedback: Vec<Content>,
        /// The contexts of the error result; those of the blocked outcome are dropped.
        contexts: Vec<String>,
    },
}

/// `tools/result`: told once for every call, when its result is final. A failing observer is logged.
#[derive(Debug, Clone)]
pub struct ResultPublished {
    /// The call.
    pub exec: Arc<Execution>,
    /// What it came to.
    pub result: Arc<ToolResult>,
}

/// `tools/change`: a tool was registered or has gone, or what a session may use of them is another.
#[derive(Debug)]
pub struct ToolsChanged;

/// `system-prompt/change`: a section was added or has gone.
#[derive(Debug)]
pub struct SystemPromptChanged;

impl Verdict {
    /// Accepts the outcome as it is.
    pub const fn accept() -> Self {
        Self::Accept { content: None, value: None, contexts: Vec::new() }
    }
}

impl Waterfall for PreExecute {
    const NAME: &'static str = "tools/pre-execute";
    type Args = Self;
    type Answer = Decision;
}

impl Waterfall for Execute {
    const NAME: &'static str = "tools/execute";
    type Args = Arc<Execution>;
    type Answer = ToolResult;
}

impl Waterfall for PostExecute {
    const NAME: &'static str = "tools/post-execute";
    type Args = Self;
    type Answer = Verdict;
}

impl Event for ResultPublished {
    const NAME: &'static str = "tools/result";
    type Args = Self;
}

impl Event for ToolsChanged {
    const NAME: &'static str = "tools/change";
    type Args = ();
}

impl Event for SystemPromptChanged {
    const NAME: &'static str = "system-prompt/change";
    type Args = ();
}
