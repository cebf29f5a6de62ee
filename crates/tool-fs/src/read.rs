//! `read`: line-numbered text, one window at a time.

use std::num::NonZeroU64;
use std::sync::Arc;

use dsh_fs::{FsCall, FsError, FsErrorCode, FsKind, FsObservation, FsOp, FsTarget};
use dsh_harness::{
    Annotations, Concurrency, Content, Execution, Meta, ObjectSchema, Schema, Tool, ToolArgsError,
    ToolDefinition, ToolError, ToolResult, positive_integer,
};
use dsh_plugin::Failure;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::config::ToolFsConfig;
use crate::envelope::{envelope, numbered};
use crate::hints::Refused;
use crate::number::as_javascript;
use crate::page::{Page, Pages};
use crate::read_card;
use crate::stack::{Stack, non_blank};
use crate::window::{Line, Window, WindowLimits};

/// The guidance in the system prompt.
pub(crate) const PROMPT: &str = "Use the read tool — not shell commands like cat — to inspect text files. Results \
     include line numbers. Use offset and limit to continue reading large files.";

/// The tool.
pub(crate) struct Read {
    stack: Stack,
    pages: Pages,
    config: ToolFsConfig,
}

impl Read {
    pub(crate) fn new(stack: Stack, config: ToolFsConfig) -> Self {
        Self { pages: Pages::new(stack.fs.clone()), stack, config }
    }
}

/// Arguments; numbers may be written as `2` or `2.0`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ReadArgs {
    pub(crate) file_path: String,
    pub(crate) offset: Option<f64>,
    pub(crate) limit: Option<f64>,
}

/// The canonical value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReadValue {
    pub(crate) path: String,
    pub(crate) offset: u64,
    pub(crate) lines: Vec<Line>,
    pub(crate) total_lines: u64,
}

impl Tool for Read {
    type Args = ReadArgs;
    type Value = ReadValue;

    fn definition(&self) -> ToolDefinition {
        let limit = self.config.read_limit;
        let parameters = ObjectSchema::new()
            .required("file_path", Schema::string("Path to read, resolved by the filesystem backend."))
            .optional("offset", Schema::number("1-based first line to return. Defaults to 1."))
            .optional(
                "limit",
                Schema::number(format!("Maximum number of lines to return. Defaults to {limit}.")),
            );
        let description = "Read a UTF-8 text file and return line-numbered content.";
        ToolDefinition {
            annotations: Annotations { read_only: true, idempotent: true, ..Annotations::default() },
            ..ToolDefinition::new("read", description, parameters)
        }
    }

    fn concurrency(&self, _args: &ReadArgs) -> Concurrency {
        Concurrency::Parallel
    }

    async fn execute(&self, args: Arc<ReadArgs>, exec: Arc<Execution>) -> Result<ReadValue, ToolError> {
        let limits = self.limits(&args)?;
        let call = self.stack.sandbox.call(&exec);
        let path = args.file_path.as_str();
        let refused = Refused { op: FsOp::Read, path, target: None, edit: None, call: &call, exec: &exec };
        let target = self.stack.hinted(self.stack.resolve(path, &exec, &call).await, refused).await?;
        let refused = Refused { target: Some(&target), ..refused };
        let streamed = self.stack.hinted(self.look(&target, &exec, &call).await, refused).await?;

        let blocks = self.stack.block_scan();
        let page = if streamed {
            self.pages.of_large(&target, limits, blocks, &exec.report, &call).await
        } else {
            self.pages.of_small(&target, limits, blocks, &call).await
        };
        // Not text, but there: whoever was told so may replace the file, and only these bytes of it.
        if let Err(failure) = &page
            && let (FsErrorCode::NotText, Some(met)) = (failure.code(), failure.met())
        {
            self.stack.observed(&target, FsObservation::Present(met.clone()), &exec)?;
        }
        let Page { window, version, blocks } = self.stack.hinted(page, refused).await?;
        let Window { lines, total_lines } =
            window.finish(target.display_path(), &as_javascript(args.offset.unwrap_or(1.0)))?;
        self.stack.observed(&target, FsObservation::Present(version), &exec)?;
        self.stack.shown(&target, blocks, &exec);
        Ok(ReadValue { path: target.display_path().to_owned(), offset: limits.offset, lines, total_lines })
    }

    fn render(&self, args: &ReadArgs, value: &ReadValue) -> Vec<Content> {
        let limit = self.limits(args).map_or(self.config.read_limit.get(), |limits| limits.limit);
        let body = numbered(&value.lines, value.offset, limit, value.total_lines);
        vec![Content::Text(envelope(&value.path, &body))]
    }

    fn meta(&self, _args: &ReadArgs, value: &ReadValue) -> Option<Meta> {
        Some(read_card::meta(value))
    }

    fn present_call(&self, args: &ReadArgs) -> Option<Json> {
        Some(read_card::call(args))
    }

    fn present_result(&self, _args: &ReadArgs, result: &ToolResult) -> Option<Json> {
        read_card::result(result)
    }
}

impl Read {
    fn limits(&self, args: &ReadArgs) -> Result<WindowLimits, ToolArgsError> {
        non_blank(&args.file_path)?;
        let offset = positive("offset", args.offset)?.map_or(1, NonZeroU64::get);
        let most = self.config.read_limit;
        let limit = positive("limit", args.limit)?.unwrap_or(most);
        if limit > most {
            return Err(ToolArgsError::new(format!("limit must be less than or equal to {most}")));
        }
        let size = |setting: NonZeroU64| usize::try_from(setting.get()).unwrap_or(usize::MAX);
        Ok(WindowLimits {
            offset,
            limit: limit.get(),
            max_line_length: size(self.config.read_max_line_length),
            max_bytes: size(self.config.read_max_bytes),
        })
    }

    /// The one `stat` of a read: is there a file, and is it to be streamed?
    async fn look(&self, target: &FsTarget, exec: &Arc<Execution>, call: &FsCall) -> Result<bool, Failure> {
        let path = target.display_path();
        let Some(info) = self.stack.fs.stat(target, call).await? else {
            self.stack.observed(target, FsObservation::Absent, exec)?;
            return Err(FsError::not_found(FsOp::Read, path).into());
        };
        if info.kind != FsKind::File {
            return Err(FsError::not_regular_file(FsOp::Read, path).into());
        }
        Ok(info.size.is_none_or(|size| size >= self.config.read_stream_min_size.get()))
    }
}

fn positive(key: &str, value: Option<f64>) -> Result<Option<NonZeroU64>, ToolArgsError> {
    value
        .map(|value| {
            positive_integer(&value.into())
                .ok_or_else(|| ToolArgsError::new(format!("{key} must be a positive integer")))
        })
        .transpose()
}
