//! `edit`: replaces literal text and nothing else.

use std::sync::Arc;

use dsh_fs::literal_edit::{Change, EditedTexts, LiteralEdit};
use dsh_fs::{EditOutcome, FsOp};
use dsh_harness::{
    Annotations, Content, Execution, Meta, ObjectSchema, Schema, Tool, ToolArgsError, ToolDefinition,
    ToolError, ToolResult,
};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::diff_card::{self, DiffMeta};
use crate::hints::Refused;
use crate::hunks;
use crate::remedy::with_remedy;
use crate::stack::{Stack, committed, non_blank};

/// The guidance in the system prompt.
pub(crate) const PROMPT: &str = "Use the edit tool for targeted changes to existing UTF-8 text files. It replaces \
     literal old_string with new_string; by default old_string must appear exactly once. If old_string appears \
     multiple times, provide a more specific old_string or set replace_all to true. Read the file first (the default \
     fs-policy requires it), unless you just created or edited it in this session.";

/// The tool.
pub(crate) struct Edit {
    pub(crate) stack: Stack,
}

/// Arguments.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct EditArgs {
    file_path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

/// The canonical value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EditValue {
    path: String,
    before: String,
    after: String,
    /// For the card only: what was replaced, where it is known.
    #[serde(skip)]
    changes: Option<Vec<Change>>,
    /// For the card only.
    #[serde(skip)]
    not_durable: bool,
}

impl Tool for Edit {
    type Args = EditArgs;
    type Value = EditValue;

    fn definition(&self) -> ToolDefinition {
        let parameters = ObjectSchema::new()
            .required("file_path", Schema::string("Path to edit, resolved by the filesystem backend."))
            .required("old_string", Schema::string("Literal text to replace. Must match exactly."))
            .required(
                "new_string",
                Schema::string("Literal replacement text. Use an empty string to delete the match."),
            )
            .optional(
                "replace_all",
                Schema::boolean(
                    "Replace all matches. Defaults to false; when false, old_string must appear exactly once.",
                ),
            );
        let description = "Edit an existing UTF-8 text file by replacing literal text.";
        ToolDefinition {
            annotations: Annotations { destructive: true, ..Annotations::default() },
            ..ToolDefinition::new("edit", description, self.stack.sandbox.advertise(parameters))
        }
    }

    async fn execute(&self, args: Arc<EditArgs>, exec: Arc<Execution>) -> Result<EditValue, ToolError> {
        non_blank(&args.file_path)?;
        let edit = LiteralEdit::new(&args.old_string, &args.new_string, args.replace_all)
            .map_err(|invalid| ToolArgsError::new(invalid.to_string()))?;
        let sandbox = &self.stack.sandbox;
        let wider = sandbox.wider(&exec)?;
        let call = sandbox.call(&exec);
        let (path, pair) = (args.file_path.as_str(), (args.old_string.as_str(), args.new_string.as_str()));
        let refused =
            Refused { op: FsOp::Edit, path, target: None, edit: Some(pair), call: &call, exec: &exec };
        let target = self.stack.hinted(self.stack.resolve(path, &exec, &call).await, refused).await?;
        let refused = Refused { target: Some(&target), ..refused };
        let guard = self.stack.hinted(self.stack.edit_guard(&target, &exec).await, refused).await?;
        let call = sandbox.granted(wider, &target, None, &exec, call.clone()).await?;
        let refused = Refused { call: &call, ..refused };
        let edited = self.stack.fs.edit_text(&target, &edit, guard.as_ref(), &call).await;
        let edited = edited.map_err(|failure| with_remedy(sandbox.told(failure, &target, &call)));
        let edited = self.stack.hinted(edited, refused).await?;
        let EditOutcome { version, texts: EditedTexts { before, after, changes }, durable } = edited;
        self.stack.wrote(&target, &after, &exec);
        self.stack.committed(&target, version, durable, &exec)?;
        Ok(EditValue {
            path: target.display_path().to_owned(),
            before,
            after,
            changes: Some(changes),
            not_durable: !durable,
        })
    }

    fn render(&self, args: &EditArgs, value: &EditValue) -> Vec<Content> {
        let path = &value.path;
        vec![Content::Text(if args.replace_all {
            format!("The file {path} has been updated. All occurrences were successfully replaced.")
        } else {
            format!("The file {path} has been updated successfully.")
        })]
    }

    fn meta(&self, args: &EditArgs, value: &EditValue) -> Option<Meta> {
        let diffs = match &value.changes {
            Some(changes) => hunks::of_edit(&args.file_path, &value.before, &value.after, changes),
            // The value was replaced by a listener, and with it what was known of the change.
            None => hunks::of_rewrite(&args.file_path, &value.before, &value.after),
        };
        Some(Meta::of(&DiffMeta::new(diffs, !value.not_durable)))
    }

    fn committed(&self, _args: &EditArgs, value: &EditValue) -> Option<Meta> {
        Some(committed(&value.path, !value.not_durable))
    }

    fn present_call(&self, args: &EditArgs) -> Option<Json> {
        let old = Some(args.old_string.as_str()).filter(|old| !old.is_empty());
        Some(diff_card::call("Edit", &args.file_path, old, &args.new_string))
    }

    fn present_result(&self, args: &EditArgs, result: &ToolResult) -> Option<Json> {
        diff_card::result(&format!("Edit {}", args.file_path), result)
    }
}
