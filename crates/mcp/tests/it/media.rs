//! Content that is not text.

use std::sync::Arc;

use dsh_harness::{Content, Execution, Media, ObjectSchema, TOOLS, Tool, ToolDefinition, ToolError};
use dsh_mcp::ServeOptions;
use serde_json::{Value as Json, json};

use crate::client::Client;

/// A picture, a text and a recording.
struct Show;

impl Tool for Show {
    type Args = Json;
    type Value = Json;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new("show", "Shows it.", ObjectSchema::new())
    }

    async fn execute(&self, _: Arc<Json>, _: Arc<Execution>) -> Result<Json, ToolError> {
        Ok(Json::Null)
    }

    fn render(&self, _: &Json, _: &Json) -> Vec<Content> {
        let media = |mime_type: &str| Media { data: "AAAA".to_owned(), mime_type: mime_type.to_owned() };
        vec![Content::Image(media("image/png")), Content::text("between"), Content::Audio(media("audio/wav"))]
    }
}

#[tokio::test]
async fn pictures_and_recordings_keep_their_place_between_texts() {
    let mut client = Client::start(ServeOptions::default()).await;
    client.ctx.service(TOOLS).unwrap().register(&client.ctx, Show).unwrap();
    let result = client.newer(1, json!({"name": "show", "arguments": {}}), json!({})).await;
    assert_eq!(
        result["content"],
        json!([
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "text", "text": "between"},
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        ])
    );
    client.end().await.unwrap();
}
