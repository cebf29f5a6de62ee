#![doc = include_str!("../README.md")]

mod approval;
mod content;
mod door;
mod error;
mod events;
mod execution;
mod file_name;
mod log_file;
mod meta;
mod pipeline;
mod plugin;
mod progress;
mod recorded;
mod registry;
mod report;
mod restriction;
mod result;
mod scheduler;
mod schema;
mod session;
mod session_log;
mod settings;
mod spill;
mod spill_local;
mod system_prompt;
mod timeout_policy;
mod tool;
mod typed_tool;

pub use approval::{
    APPROVAL, Approval, ApprovalConfig, ApprovalOutcome, ApprovalPlugin, ApprovalPolicy, ApprovalRequest,
    AskApproval,
};
pub use content::{Content, Media};
pub use door::Pause;
pub use error::{ToolArgsError, ToolDenied, ToolError};
pub use events::{
    Decision, Execute, PostExecute, PreExecute, ResultPublished, SystemPromptChanged, ToolsChanged, Verdict,
};
pub use execution::{Execution, ToolCall};
pub use log_file::{RecordedEvents, StateFolder};
pub use meta::Meta;
pub use plugin::{HarnessConfig, HarnessPlugin};
pub use recorded::{RecordedCall, RecordedEvent};
pub use registry::{TOOLS, ToolRegistry};
pub use report::{Pulse, Report, Reporter};
pub use restriction::ToolFilter;
pub use result::{CanonicalValue, ErrorInfo, Outcome, ToolResult};
pub use schema::{ObjectSchema, Schema};
pub use session::{Session, SessionHeader};
pub use session_log::{LogEvent, SessionLog};
pub use settings::positive_integer;
pub use spill::{SPILL_STORE, SpillRequest, SpillStore, Spilled};
pub use spill_local::{SpillLocalConfig, SpillLocalPlugin};
pub use system_prompt::{SYSTEM_PROMPT, SystemPrompt};
pub use timeout_policy::TimeoutPolicyPlugin;
pub use tool::{Annotations, Concurrency, Tool, ToolDefinition};
pub use typed_tool::AnyTool;
