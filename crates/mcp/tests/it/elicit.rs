//! Forms that a tool puts to the person at the client, in both eras of the protocol.

use std::sync::Arc;

use dsh_harness::{Content, Execution, ObjectSchema, TOOLS, Tool, ToolCall, ToolDefinition, ToolError};
use dsh_mcp::{ServeOptions, elicit};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::asking::forms;
use crate::client::Client;

/// Puts the form that it is given, and says what came of it.
struct Form;

impl Tool for Form {
    type Args = Json;
    type Value = String;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new("form", "Puts a form.", ObjectSchema::new())
    }

    async fn execute(&self, args: Arc<Json>, _: Arc<Execution>) -> Result<String, ToolError> {
        let said = elicit("Who are you?", args["form"].clone()).await?;
        Ok(format!("{said:?}"))
    }

    fn render(&self, _: &Json, value: &String) -> Vec<Content> {
        vec![Content::text(value.as_str())]
    }
}

fn form() -> Json {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
        },
        "required": ["name"],
    })
}

fn call() -> Json {
    json!({"name": "form", "arguments": {"form": form()}})
}

async fn client() -> Client {
    let client = Client::start(ServeOptions::default()).await;
    client.ctx.service(TOOLS).unwrap().register(&client.ctx, Form).unwrap();
    client
}

const ANSWERS: [(&str, &str); 4] = [
    ("accept", r#"Accepted(Object {"name": String("Jane")})"#),
    ("decline", "Declined"),
    ("cancel", "Cancelled"),
    ("perhaps", "Unavailable"),
];

fn answer(action: &str) -> Json {
    if action == "accept" {
        json!({"action": action, "content": {"name": "Jane"}})
    } else {
        json!({"action": action})
    }
}

#[tokio::test]
async fn an_older_client_gets_the_form_as_a_request() {
    let mut client = client().await;
    client.initialize(forms()).await;
    for (id, (action, told)) in (1..).zip(ANSWERS) {
        client.request(id, "tools/call", call()).await;
        let asked = client.hear().await;
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert_eq!(asked["params"]["message"], "Who are you?");
        assert_eq!(asked["params"]["requestedSchema"], form());
        client.answer(&asked["id"], answer(action)).await;
        assert_eq!(client.told(id).await, told);
    }
    client.end().await.unwrap();
}

#[tokio::test]
async fn a_newer_client_gets_the_form_as_an_answer() {
    let mut client = client().await;
    for (id, (action, told)) in (1..).step_by(2).zip(ANSWERS) {
        let mut params = call();
        let required = client.newer(id, params.clone(), forms()).await;
        assert_eq!(required["resultType"], "input_required", "{required}");
        assert_eq!(required["inputRequests"]["approval"]["params"]["requestedSchema"], form());
        params["requestState"] = required["requestState"].clone();
        params["inputResponses"] = json!({"approval": answer(action)});
        assert_eq!(client.newer(id + 1, params, forms()).await["content"][0]["text"], told);
    }
    client.end().await.unwrap();
}

#[tokio::test]
async fn a_client_without_forms_is_not_asked() {
    let mut client = client().await;
    assert_eq!(client.newer(1, call(), json!({})).await["content"][0]["text"], "Unavailable");
    client.end().await.unwrap();
}

#[tokio::test]
async fn a_call_of_no_client_asks_nobody() {
    let client = client().await;
    let arguments = json!({"form": form()});
    let (id, tool, cancel) = ("1".to_owned(), "form".to_owned(), CancellationToken::new());
    let call = ToolCall { id, tool, arguments, session: None, cancel };
    let result = client.ctx.service(TOOLS).unwrap().execute(call).await;
    assert_eq!(result.text(), "Unavailable");
    client.end().await.unwrap();
}

#[tokio::test]
async fn what_is_no_form_is_an_error_of_the_tool() {
    let mut client = client().await;
    let params = json!({"name": "form", "arguments": {"form": {"type": "string"}}});
    let result = client.newer(1, params, forms()).await;
    assert_eq!(result["_meta"]["dsh-fs/error"]["name"], "McpError");
    assert_eq!(result["_meta"]["dsh-fs/error"]["code"], "MCP_FORM");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Error: the form cannot be shown: "), "{text}");
    client.end().await.unwrap();
}
