//! `glob`: the files whose paths match a pattern.

use std::sync::Arc;

use dsh_harness::{
    Annotations, Concurrency, Content, Execution, Meta, ObjectSchema, Schema, Tool, ToolArgsError,
    ToolDefinition, ToolError, ToolResult,
};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::config::SearchConfig;
use crate::one_glob::{climbs, is_list, is_negated, unquoted};
use crate::search::Search;
use crate::search_card;
use crate::spill::Spillable;
use crate::value::GlobValue;

/// The guidance in the system prompt.
pub(crate) fn prompt(config: &SearchConfig) -> String {
    let over_cap = if config.sample_over_cap_glob_results {
        "while a larger one is sampled across top-level entries, so it spans the tree instead of one subtree."
    } else {
        "while a larger one keeps the modification-time-ordered head."
    };
    format!(
        "Use the glob tool — not shell find — to discover files by path pattern. A pattern with no \"/\" matches \
         basenames at any depth, so \"*\" matches every file in the tree rather than its top level. Results are files \
         only, never directories, and include hidden and ignored files: a result that fits comes back in \
         modification-time order, {over_cap}"
    )
}

/// The tool.
pub(crate) struct Glob {
    pub(crate) search: Search,
    pub(crate) config: SearchConfig,
}

/// Arguments.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct GlobArgs {
    pattern: String,
    path: Option<String>,
}

impl Tool for Glob {
    type Args = GlobArgs;
    type Value = GlobValue;

    fn definition(&self) -> ToolDefinition {
        let parameters = ObjectSchema::new()
            .required(
                "pattern",
                Schema::string(
                    "Glob pattern to match file paths against (e.g. \"**/*.ts\", \"src/**/*.test.js\"). A pattern with \
                     no \"/\" matches the basename at any depth, so \"*\" and \"*.ts\" both search the whole tree; \
                     include a separator to anchor the depth.",
                ),
            )
            .optional(
                "path",
                Schema::string(
                    "Directory to search in. Defaults to the session workspace; a relative path resolves against it.",
                ),
            );
        let most = self.config.glob_max_results;
        let over_cap = if self.config.sample_over_cap_glob_results {
            format!("a larger result instead returns {most} paths sampled across top-level entries")
        } else {
            format!("a larger result returns the first {most} paths in modification-time order")
        };
        let description = format!(
            "Find files whose paths match a glob pattern. Returns matching file paths — never directories — including \
             hidden and ignored files (VCS metadata directories are excluded). Up to {most} paths come back in \
             modification-time order; {over_cap}, says so, and reports where the complete sorted list was saved. This \
             tool does not enumerate directory entries."
        );
        ToolDefinition {
            annotations: Annotations { read_only: true, idempotent: true, ..Annotations::default() },
            timeout: Some(self.config.timeout()),
            ..ToolDefinition::new("glob", description, parameters)
        }
    }

    fn concurrency(&self, _args: &GlobArgs) -> Concurrency {
        Concurrency::Parallel
    }

    async fn execute(&self, args: Arc<GlobArgs>, exec: Arc<Execution>) -> Result<GlobValue, ToolError> {
        args.check()?;
        self.search.glob(&args.pattern, args.path.as_deref(), &exec).await
    }

    fn render(&self, _args: &GlobArgs, value: &GlobValue) -> Vec<Content> {
        vec![Content::Text(value.rendered(&self.config, None))]
    }

    fn meta(&self, _args: &GlobArgs, value: &GlobValue) -> Option<Meta> {
        Some(search_card::paths_meta(value, &self.config))
    }

    fn present_call(&self, args: &GlobArgs) -> Option<Json> {
        let GlobArgs { pattern, path } = args;
        let place = path.as_ref().map(|path| format!(" in {path}")).unwrap_or_default();
        Some(search_card::call(&format!("Glob {pattern}{place}"), pattern))
    }

    fn present_result(&self, _args: &GlobArgs, result: &ToolResult) -> Option<Json> {
        search_card::paths_result(result)
    }
}

impl GlobArgs {
    fn check(&self) -> Result<(), ToolArgsError> {
        let pattern = &self.pattern;
        let refused = if pattern.trim().is_empty() {
            "pattern must be a non-empty string"
        } else if self.path.as_ref().is_some_and(|path| path.trim().is_empty()) {
            "path must be a non-empty string when given"
        } else if is_negated(pattern) {
            "pattern must be a positive glob; negated patterns (\"!…\") are not supported"
        } else if is_list(&unquoted(pattern)) {
            "pattern must be one glob, not a comma-separated list (use {a,b} alternation instead)"
        } else if climbs(pattern) {
            "pattern must not climb out of the search root with \"..\"; give the folder as path instead"
        } else {
            return Ok(());
        };
        Err(ToolArgsError::new(refused))
    }
}
