//! Lists in pages, and results in the form that was chosen.

use dsh_harness::{Execution, ObjectSchema, TOOLS, Tool, ToolDefinition, ToolError};
use dsh_mcp::{HttpOptions, ServeOptions};
use serde_json::{Value as Json, json};

use crate::http_client::{Served, newer};

/// One of many.
struct Numbered(u32);

impl Tool for Numbered {
    type Args = Json;
    type Value = Json;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(format!("t{}", self.0), "One of many.", ObjectSchema::new())
    }

    async fn execute(
        &self,
        _: std::sync::Arc<Json>,
        _: std::sync::Arc<Execution>,
    ) -> Result<Json, ToolError> {
        Ok(Json::Null)
    }

    fn render(&self, _: &Json, _: &Json) -> Vec<dsh_harness::Content> {
        Vec::new()
    }
}

async fn list(served: &Served, params: Json) -> Json {
    let (headers, body) = newer("tools/list", &[], params);
    served.ask("POST /mcp", &headers, &body).await.answer()
}

fn names(listed: &Json) -> Vec<&str> {
    let tools = listed["result"]["tools"].as_array().into_iter().flatten();
    tools.filter_map(|tool| tool["name"].as_str()).collect()
}

fn served_with(serve: ServeOptions) -> HttpOptions {
    HttpOptions { serve, ..HttpOptions::default() }
}

#[tokio::test]
async fn a_long_list_comes_in_pages() {
    let served =
        Served::start(served_with(ServeOptions { tools_per_page: 2, ..ServeOptions::default() })).await;
    let tools = served.ctx.service(TOOLS).unwrap();
    for number in [1, 2, 3] {
        tools.register(&served.ctx, Numbered(number)).unwrap();
    }
    let first = list(&served, json!({})).await;
    assert_eq!((names(&first), &first["result"]["nextCursor"]), (vec!["t1", "t2"], &json!("after:t2")));
    let last = list(&served, json!({"cursor": "after:t2"})).await;
    assert_eq!((names(&last), &last["result"]["nextCursor"]), (vec!["t3", "toy"], &Json::Null));
    let wrong = list(&served, json!({"cursor": "x"})).await;
    let message = "the cursor \"x\" is not one of this server's";
    assert_eq!(wrong["error"], json!({"code": -32602, "message": message}));
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn structured_content_comes_only_where_it_is_wanted() {
    let served =
        Served::start(served_with(ServeOptions { structured: true, ..ServeOptions::default() })).await;
    let listed = list(&served, json!({})).await;
    assert_eq!(listed["result"]["tools"][0]["outputSchema"], json!({"type": "object"}));
    let called = served.call("/mcp", &[], "who").await.answer();
    assert_eq!(called["result"]["structuredContent"], json!({"said": "nobody"}));
    assert_eq!(called["result"]["content"], json!([{"type": "text", "text": "nobody"}]));
    served.stop().await.unwrap().unwrap();

    let served = Served::start(HttpOptions::default()).await;
    assert_eq!(list(&served, json!({})).await["result"]["tools"][0].get("outputSchema"), None);
    assert_eq!(served.call("/mcp", &[], "who").await.answer()["result"].get("structuredContent"), None);
    served.stop().await.unwrap().unwrap();
}

#[tokio::test]
async fn a_result_over_the_limit_is_an_error_that_says_so() {
    let served =
        Served::start(served_with(ServeOptions { max_result_bytes: 1000, ..ServeOptions::default() })).await;
    let called = served.call("/mcp", &[], "long").await.answer();
    let text = called["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("Error: result too long: it has 50")
            && text.ends_with("; the call was made all the same"),
        "{text}"
    );
    assert_eq!(called["result"]["_meta"]["dsh-fs/error"]["code"], "RESULT_TOO_LONG");
    assert_eq!(served.says("/mcp", &[], "who").await, "nobody");
    served.stop().await.unwrap().unwrap();
}
