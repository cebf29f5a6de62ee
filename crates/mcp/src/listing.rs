//! Tools as the protocol lists them.

use std::sync::Arc;

use dsh_harness::{Annotations, ToolDefinition};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::Value as Json;

/// The schema keeps its key order: it is what the model reads.
pub(crate) fn tool(definition: ToolDefinition) -> Tool {
    let schema = match definition.parameters.to_json() {
        Json::Object(schema) => schema,
        _ => serde_json::Map::new(),
    };
    Tool::new(definition.name, definition.description, Arc::new(schema))
        .with_annotations(hints(definition.annotations))
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
