//! `write`: creates a file or replaces it whole.

use std::sync::Arc;

use dsh_fs::{FsOp, WriteOperation, WriteOutcome};
use dsh_harness::{
    Annotations, Content, Execution, Meta, ObjectSchema, Schema, Tool, ToolDefinition, ToolError, ToolResult,
};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::diff_card::{self, DiffMeta};
use crate::envelope::envelope;
use crate::hints::Refused;
use crate::hunks;
use crate::remedy::with_remedy;
use crate::stack::{Stack, committed, non_blank};

/// The guidance in the system prompt.
pub(crate) const PROMPT: &str = "Use the write tool to create files or completely replace file contents. Existing \
     files are overwritten, so read an existing file first (the default fs-policy requires it) and prefer edit for \
     targeted changes.";

/// The tool.
pub(crate) struct Write {
    pub(crate) stack: Stack,
}

/// Arguments.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct WriteArgs {
    file_path: String,
    content: String,
}

/// The canonical value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WriteValue {
    path: String,
    operation: Operation,
    before: Option<Arc<str>>,
    after: Arc<str>,
    /// For the card only.
    #[serde(skip)]
    not_durable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Operation {
    Create,
    Update,
}

impl Tool for Write {
    type Args = WriteArgs;
    type Value = WriteValue;

    fn definition(&self) -> ToolDefinition {
        let parameters = ObjectSchema::new()
            .required("file_path", Schema::string("Path to write, resolved by the filesystem backend."))
            .required("content", Schema::string("Full UTF-8 text content to write."));
        let description = "Create or fully replace a UTF-8 text file.";
        ToolDefinition {
            annotations: Annotations { destructive: true, idempotent: true, ..Annotations::default() },
            ..ToolDefinition::new("write", description, self.stack.sandbox.advertise(parameters))
        }
    }

    async fn execute(&self, args: Arc<WriteArgs>, exec: Arc<Execution>) -> Result<WriteValue, ToolError> {
        non_blank(&args.file_path)?;
        let sandbox = &self.stack.sandbox;
        let wider = sandbox.wider(&exec)?;
        let call = sandbox.call(&exec);
        let target = self.stack.resolve(&args.file_path, &exec, &call).await?;
        let guard = self.stack.write_guard(&target, &exec).await?;
        let call = sandbox.granted(wider, &target, guard.as_ref(), &exec, call).await?;
        let path = args.file_path.as_str();
        let refused =
            Refused { op: FsOp::Write, path, target: Some(&target), edit: None, call: &call, exec: &exec };
        let written = self.stack.fs.write_text(&target, &args.content, guard.as_ref(), &call).await;
        let written = written.map_err(|failure| with_remedy(sandbox.told(failure, &target, &call)));
        let written = self.stack.hinted(written, refused).await?;
        let WriteOutcome { operation, version, before, after, durable } = written;
        self.stack.wrote(&target, &after, &exec);
        self.stack.committed(&target, version, durable, &exec)?;
        let operation = match operation {
            WriteOperation::Create => Operation::Create,
            WriteOperation::Update => Operation::Update,
        };
        Ok(WriteValue {
            path: target.display_path().to_owned(),
            operation,
            before,
            after,
            not_durable: !durable,
        })
    }

    fn render(&self, _args: &WriteArgs, value: &WriteValue) -> Vec<Content> {
        let done = match value.operation {
            Operation::Create => "Created file",
            Operation::Update => "Updated file",
        };
        vec![Content::Text(envelope(&value.path, done))]
    }

    fn meta(&self, args: &WriteArgs, value: &WriteValue) -> Option<Meta> {
        let before = value.before.as_deref();
        let diffs =
            before.map_or_else(Vec::new, |before| hunks::of_rewrite(&args.file_path, before, &value.after));
        Some(Meta::of(&DiffMeta::new(diffs, !value.not_durable)))
    }

    fn committed(&self, _args: &WriteArgs, value: &WriteValue) -> Option<Meta> {
        Some(committed(&value.path, !value.not_durable))
    }

    fn present_call(&self, args: &WriteArgs) -> Option<Json> {
        Some(diff_card::call("Write", &args.file_path, None, &args.content))
    }

    fn present_result(&self, args: &WriteArgs, result: &ToolResult) -> Option<Json> {
        if result.is_error() {
            return None;
        }
        let title = format!("Write {}", args.file_path);
        Some(
            diff_card::result(&title, result)
                .unwrap_or_else(|| diff_card::whole_file(&title, &args.file_path, &args.content, result)),
        )
    }
}
