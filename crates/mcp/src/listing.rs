//! Tools as the protocol lists them.

use std::sync::Arc;

use dsh_harness::{Annotations, ToolDefinition};
use rmcp::model::{ErrorData, ListToolsResult, Tool, ToolAnnotations};
use serde_json::{Map, Value as Json, json};

use crate::options::ServeOptions;

/// A cursor says after which tool the next page begins, so that it holds when tools come and go meanwhile.
const CURSOR: &str = "after:";

/// One page of the tools, which are sorted by name.
pub(crate) fn page(
    tools: Vec<ToolDefinition>,
    cursor: Option<&str>,
    options: &ServeOptions,
) -> Result<ListToolsResult, ErrorData> {
    let after = match cursor {
        None => None,
        Some(cursor) => Some(cursor.strip_prefix(CURSOR).ok_or_else(|| {
            ErrorData::invalid_params(format!("the cursor \"{cursor}\" is not one of this server's"), None)
        })?),
    };
    let is_new =
        |tool: &ToolDefinition| after.is_none_or(|after| tool.name.encode_utf16().gt(after.encode_utf16()));
    let mut rest = tools.into_iter().filter(is_new);
    let shown: Vec<_> = rest.by_ref().take(options.tools_per_page.max(1)).collect();
    let last = shown.last().map(|tool| format!("{CURSOR}{}", tool.name));
    let shown = shown.into_iter().map(|definition| tool(definition, options)).collect();
    let mut page = ListToolsResult::with_all_items(shown);
    page.next_cursor = last.filter(|_| rest.next().is_some());
    Ok(page)
}

/// The schema keeps its key order: it is what the model reads.
pub(crate) fn tool(definition: ToolDefinition, options: &ServeOptions) -> Tool {
    let mut tool =
        Tool::new(definition.name, definition.description, object(definition.parameters.to_json()))
            .with_annotations(hints(definition.annotations));
    if options.structured {
        // Values are the tools' own; that they are objects is what all have in common.
        tool.output_schema = Some(object(json!({"type": "object"})));
    }
    tool
}

fn object(schema: Json) -> Arc<Map<String, Json>> {
    Arc::new(match schema {
        Json::Object(schema) => schema,
        _ => Map::new(),
    })
}

/// All hints are said: where a client finds none it assumes the worst (destructive, open world).
fn hints(annotations: Annotations) -> ToolAnnotations {
    ToolAnnotations::from_raw(
        annotations.title,
        Some(annotations.read_only),
        Some(annotations.destructive),
        Some(annotations.idempotent),
        Some(annotations.open_world),
    )
}
