//! `grep`: the lines that match a regular expression.

use std::sync::Arc;

use dsh_harness::{
    Annotations, Concurrency, Content, Execution, Meta, ObjectSchema, Schema, Tool, ToolArgsError,
    ToolDefinition, ToolError, ToolResult,
};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::config::SearchConfig;
use crate::one_glob::{is_list, is_negated};
use crate::search::Search;
use crate::search_card;
use crate::spill::Spillable;
use crate::value::GrepValue;

/// The guidance in the system prompt.
pub(crate) const PROMPT: &str = "Use the grep tool — not shell grep or rg — to search file contents. Use read on a \
     matched file when you need surrounding context.";

/// The tool.
pub(crate) struct Grep {
    pub(crate) search: Search,
    pub(crate) config: SearchConfig,
}

/// Arguments.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct GrepArgs {
    pattern: String,
    path: Option<String>,
    include: Option<String>,
}

impl Tool for Grep {
    type Args = GrepArgs;
    type Value = GrepValue;

    fn definition(&self) -> ToolDefinition {
        let parameters = ObjectSchema::new()
            .required("pattern", Schema::string("Regular expression to search for (ripgrep syntax)."))
            .optional(
                "path",
                Schema::string(
                    "File or directory to search. Defaults to the session workspace; a relative path resolves against \
                     it.",
                ),
            )
            .optional(
                "include",
                Schema::string(
                    "One glob filter for which files to search (e.g. \"*.ts\", \"*.{js,jsx}\"). Not a list; negation \
                     is not supported.",
                ),
            );
        let most = self.config.grep_max_matches;
        let description = format!(
            "Search file contents with a ripgrep regular expression. Returns matching lines with line numbers, grouped \
             by file. Returns the first {most} matches inline; a capped result reports where the complete match list \
             was saved. Use read on a matched file for surrounding context."
        );
        ToolDefinition {
            annotations: Annotations { read_only: true, idempotent: true, ..Annotations::default() },
            timeout: Some(self.config.timeout()),
            ..ToolDefinition::new("grep", description, parameters)
        }
    }

    fn concurrency(&self, _args: &GrepArgs) -> Concurrency {
        Concurrency::Parallel
    }

    async fn execute(&self, args: Arc<GrepArgs>, exec: Arc<Execution>) -> Result<GrepValue, ToolError> {
        args.check()?;
        self.search.grep(&args.pattern, args.path.as_deref(), args.include.as_deref(), &exec).await
    }

    fn render(&self, _args: &GrepArgs, value: &GrepValue) -> Vec<Content> {
        vec![Content::Text(value.rendered(&self.config, None))]
    }

    fn meta(&self, _args: &GrepArgs, value: &GrepValue) -> Option<Meta> {
        Some(search_card::matches_meta(value, &self.config))
    }

    fn present_call(&self, args: &GrepArgs) -> Option<Json> {
        let GrepArgs { pattern, path, include } = args;
        let place = path.as_ref().map(|path| format!(" in {path}")).unwrap_or_default();
        let filter = include.as_ref().map(|include| format!(" ({include})")).unwrap_or_default();
        Some(search_card::call(&format!("Grep {pattern}{place}{filter}"), pattern))
    }

    fn present_result(&self, _args: &GrepArgs, result: &ToolResult) -> Option<Json> {
        search_card::matches_result(result)
    }
}

impl GrepArgs {
    fn check(&self) -> Result<(), ToolArgsError> {
        let include = self.include.as_deref();
        let refused = if self.pattern.is_empty() {
            "pattern must be a non-empty string"
        } else if self.path.as_ref().is_some_and(|path| path.trim().is_empty()) {
            "path must be a non-empty string when given"
        } else if include.is_some_and(|include| include.trim().is_empty()) {
            "include must be a non-empty glob when given"
        } else if include.is_some_and(is_negated) {
            "include must be a positive glob filter; negated patterns (\"!…\") are not supported"
        } else if include.is_some_and(is_list) {
            "include must be one glob, not a comma-separated list (use {a,b} alternation instead)"
        } else {
            return Ok(());
        };
        Err(ToolArgsError::new(refused))
    }
}
