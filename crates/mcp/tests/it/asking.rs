//! Questions for the person at the client, in both eras of the protocol.

use std::sync::Arc;

use dsh_harness::{
    APPROVAL, ApprovalOutcome, ApprovalRequest, Content, Decision, Execution, ObjectSchema, PreExecute,
    Schema, TOOLS, Tool, ToolDefinition, ToolDenied, ToolError,
};
use dsh_mcp::ServeOptions;
use dsh_plugin::{Context, Next};
use serde_json::{Value as Json, json};

use crate::client::Client;

/// Asks for approval, and says yes if it was given.
struct Asker(Context);

impl Tool for Asker {
    type Args = Json;
    type Value = String;

    fn definition(&self) -> ToolDefinition {
        let parameters = ObjectSchema::new().required("why", Schema::string("Why."));
        ToolDefinition::new("asker", "Asks.", parameters)
    }

    async fn execute(&self, args: Arc<Json>, exec: Arc<Execution>) -> Result<String, ToolError> {
        let approval = self.0.service(APPROVAL)?;
        let justification = args["why"].as_str().unwrap().to_owned();
        let request = ApprovalRequest {
            session: exec.session.clone().unwrap(),
            tool: exec.tool.clone(),
            call_id: Some(exec.call_id.clone()),
            reason: Some(format!("escalate: {justification}")),
            path: Some("/etc/hosts".to_owned()),
            mode: Some("danger-full-access".to_owned()),
            justification: Some(justification),
            cancel: exec.cancel.clone(),
        };
        match approval.request(request).await {
            ApprovalOutcome::AllowedOnce => Ok("done".to_owned()),
            other => Err(ToolDenied::new(format!("{other:?}")).into()),
        }
    }

    fn render(&self, _: &Json, value: &String) -> Vec<Content> {
        vec![Content::text(value.as_str())]
    }
}

fn question(why: &str) -> String {
    format!(
        "The agent asks to do one operation outside its sandbox.\nTool: \"asker\"\nPath: \"/etc/hosts\"\n\
         Sandbox mode: \"danger-full-access\", for this operation only\nWhy, in the agent's words: {why}"
    )
}

async fn client() -> Client {
    let client = Client::start(ServeOptions::default()).await;
    client.ctx.service(TOOLS).unwrap().register(&client.ctx, Asker(client.ctx.clone())).unwrap();
    client
}

impl Client {
    pub(crate) async fn initialize(&mut self, capabilities: Json) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"}});
        self.request(0, "initialize", params).await;
        assert_eq!(self.hear().await["result"]["protocolVersion"], "2025-11-25");
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    }

    pub(crate) async fn request(&mut self, id: i64, method: &str, params: Json) {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await;
    }

    async fn ask(&mut self, id: i64, why: &str) {
        self.request(id, "tools/call", json!({"name": "asker", "arguments": {"why": why}})).await;
    }

    /// The id of the question that comes next.
    async fn asked(&mut self, why: &str) -> Json {
        let mut asked = self.hear().await;
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        // The SDK's progress token.
        asked["params"].as_object_mut().unwrap().remove("_meta");
        let schema = json!({"type": "object", "properties": {}});
        assert_eq!(
            asked["params"],
            json!({"mode": "form", "message": question(why), "requestedSchema": schema})
        );
        asked["id"].take()
    }

    pub(crate) async fn answer(&mut self, id: &Json, result: Json) {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()).await;
    }

    /// The text of a result.
    pub(crate) async fn told(&mut self, id: i64) -> String {
        let answer = self.hear().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// A call of the newer protocol; its whole result.
    pub(crate) async fn newer(&mut self, id: i64, mut params: Json, capabilities: Json) -> Json {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        self.request(id, "tools/call", params).await;
        let mut answer = self.hear().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].take()
    }
}

pub(crate) fn forms() -> Json {
    json!({"elicitation": {"form": {}}})
}

#[tokio::test]
async fn the_answer_to_a_request_decides() {
    for capability in [json!({"elicitation": {}}), forms()] {
        let mut client = client().await;
        client.initialize(capability).await;
        for (id, answer, text) in [
            (1, json!({"action": "accept", "content": {}}), "done"),
            (2, json!({"action": "decline"}), "Error: Rejected"),
            (3, json!({"action": "cancel"}), "Error: Cancelled"),
            (4, json!({"action": "perhaps"}), "Error: Unavailable"),
            (5, json!({}), "Error: Unavailable"),
        ] {
            client.ask(id, "please").await;
            let question = client.asked("\"please\"").await;
            client.answer(&question, answer).await;
            assert_eq!(client.told(id).await, text);
        }
        client.end().await.unwrap();
    }
}

#[tokio::test]
async fn an_error_for_an_answer_is_no_yes() {
    let mut client = client().await;
    client.initialize(forms()).await;
    client.ask(1, "please").await;
    let id = client.asked("\"please\"").await;
    let error = json!({"code": -32601, "message": "no"});
    client.say(&json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()).await;
    assert_eq!(client.told(1).await, "Error: Unavailable");
    client.end().await.unwrap();
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_not_asked() {
    for capability in [json!({}), json!({"elicitation": {"url": {}}})] {
        let mut old = client().await;
        old.initialize(capability.clone()).await;
        old.ask(1, "please").await;
        assert_eq!(old.told(1).await, "Error: Unavailable");
        old.end().await.unwrap();

        let mut new = client().await;
        let params = json!({"name": "asker", "arguments": {"why": "please"}});
        let result = new.newer(1, params, capability).await;
        assert_eq!(result["content"][0]["text"], "Error: Unavailable");
        new.end().await.unwrap();
    }
}

#[tokio::test]
async fn the_agents_words_cannot_pass_for_the_question() {
    let mut client = client().await;
    client.initialize(forms()).await;
    client.ask(1, "it is safe\"\nPath: \"/tmp/x\u{202e}").await;
    let id = client.asked(r#""it is safe\"\nPath: \"/tmp/x\u{202e}""#).await;
    client.answer(&id, json!({"action": "decline"})).await;
    assert_eq!(client.told(1).await, "Error: Rejected");
    client.ask(2, &"é".repeat(1001)).await;
    let id = client.asked(&format!("\"{}\" (cut)", "é".repeat(1000))).await;
    client.answer(&id, json!({"action": "decline"})).await;
    assert_eq!(client.told(2).await, "Error: Rejected");
    client.end().await.unwrap();
}

#[tokio::test]
async fn a_cancelled_call_withdraws_its_question() {
    let mut client = client().await;
    client.initialize(forms()).await;
    client.ask(1, "please").await;
    let question = client.asked("\"please\"").await;
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    let withdrawn = client.hear().await;
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], question);
    // Too late, and the next call is not mistaken for it.
    client.answer(&question, json!({"action": "accept", "content": {}})).await;
    client.ask(2, "again").await;
    let question = client.asked("\"again\"").await;
    client.answer(&question, json!({"action": "decline"})).await;
    assert_eq!(client.told(2).await, "Error: Rejected");
    let decided = client.session.log().last("approval/decided").unwrap();
    assert_eq!(decided["outcome"], "rejected");
    client.end().await.unwrap();
}

#[tokio::test]
async fn other_calls_are_answered_while_a_question_is_open() {
    let mut client = client().await;
    client.initialize(forms()).await;
    client.ask(1, "please").await;
    let first = client.asked("\"please\"").await;
    client.request(2, "tools/call", json!({"name": "echo", "arguments": {"text": "hello"}})).await;
    assert_eq!(client.told(2).await, "hello in the session");
    client.ask(3, "me too").await;
    let second = client.asked("\"me too\"").await;
    client.answer(&second, json!({"action": "decline"})).await;
    assert_eq!(client.told(3).await, "Error: Rejected");
    client.answer(&first, json!({"action": "accept", "content": {}})).await;
    assert_eq!(client.told(1).await, "done");
    client.end().await.unwrap();
}

/// The clock jumps where nothing else is left to do.
#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_is_withdrawn() {
    let mut client = client().await;
    client.initialize(forms()).await;
    client.ask(1, "please").await;
    let question = client.asked("\"please\"").await;
    let asked = tokio::time::Instant::now();
    let mut heard = [client.hear().await, client.hear().await];
    heard.sort_by_key(|message| message["method"].is_null());
    let [withdrawn, answer] = heard;
    assert_eq!(asked.elapsed().as_secs(), 300);
    assert_eq!(
        (&withdrawn["method"], &withdrawn["params"]["requestId"]),
        (&json!("notifications/cancelled"), &question)
    );
    assert_eq!(answer["result"]["content"][0]["text"], "Error: Unavailable");
    client.answer(&question, json!({"action": "accept", "content": {}})).await;
    client.request(2, "tools/call", json!({"name": "echo", "arguments": {"text": "hello"}})).await;
    assert_eq!(client.told(2).await, "hello in the session");
    client.end().await.unwrap();
}

#[tokio::test]
async fn several_clients_are_asked_each_their_own() {
    let mut one = client().await;
    let mut other = Client::connect(one.ctx.clone(), "the session", ServeOptions::default());
    let mut mute = Client::connect(one.ctx.clone(), "the session", ServeOptions::default());
    one.initialize(forms()).await;
    other.initialize(forms()).await;
    mute.initialize(json!({})).await;
    // The same ids in all of them.
    one.ask(1, "one").await;
    other.ask(1, "other").await;
    mute.ask(1, "mute").await;
    assert_eq!(mute.told(1).await, "Error: Unavailable");
    let asked_one = one.asked("\"one\"").await;
    let asked_other = other.asked("\"other\"").await;
    other.answer(&asked_other, json!({"action": "decline"})).await;
    assert_eq!(other.told(1).await, "Error: Rejected");
    other.end().await.unwrap();
    one.answer(&asked_one, json!({"action": "accept", "content": {}})).await;
    assert_eq!(one.told(1).await, "done");
    mute.end().await.unwrap();
    one.end().await.unwrap();
}

#[tokio::test]
async fn the_newer_protocol_asks_by_its_answer() {
    let mut client = client().await;
    let mut id = 0;
    for (action, text) in [
        ("accept", "done"),
        ("decline", "Error: Rejected"),
        ("cancel", "Error: Cancelled"),
        ("?", "Error: Unavailable"),
    ] {
        id += 2;
        let mut params = json!({"name": "asker", "arguments": {"why": "please"}});
        let required = client.newer(id, params.clone(), forms()).await;
        assert_eq!(required["resultType"], "input_required", "{required}");
        let request = &required["inputRequests"]["approval"];
        assert_eq!(request["method"], "elicitation/create");
        assert_eq!(request["params"]["message"], question("\"please\""));
        params["requestState"] = required["requestState"].clone();
        params["inputResponses"] = json!({"approval": {"action": action}});
        let result = client.newer(id + 1, params, forms()).await;
        assert_eq!(result["content"][0]["text"], text);
    }
    let kinds: Vec<_> = client.session.log().events().into_iter().map(|event| event.kind).collect();
    let once = ["tool/call", "approval/asked", "approval/decided", "tool/result"];
    assert_eq!(kinds, once.repeat(8));
    client.end().await.unwrap();
}

#[tokio::test]
async fn an_answer_is_for_one_call_once() {
    let mut client = client().await;
    let call = |why: &str| json!({"name": "asker", "arguments": {"why": why}});
    let asked = client.newer(1, call("please"), forms()).await;
    let with_answer = |mut params: Json, state: Json| {
        params["requestState"] = state;
        params["inputResponses"] = json!({"approval": {"action": "accept", "content": {}}});
        params
    };
    // A yes to one call is none to another, nor to a question that was never put.
    for (id, params) in [
        (2, with_answer(call("other"), asked["requestState"].clone())),
        (3, with_answer(call("please"), json!("0123456789abcdef"))),
        (4, json!({"name": "asker", "arguments": {"why": "please"}, "requestState": asked["requestState"]})),
    ] {
        let result = client.newer(id, params, forms()).await;
        assert_eq!(result["resultType"], "input_required", "{result}");
        assert_ne!(result["requestState"], asked["requestState"]);
    }
    let answered = with_answer(call("please"), asked["requestState"].clone());
    assert_eq!(client.newer(5, answered.clone(), forms()).await["content"][0]["text"], "done");
    assert_eq!(client.newer(6, answered, forms()).await["resultType"], "input_required");
    client.end().await.unwrap();
}

#[tokio::test]
async fn a_call_with_two_questions_is_made_three_times() {
    let mut client = client().await;
    client
        .ctx
        .intercept::<PreExecute, _, _>(|_, _: Next<PreExecute>| async {
            Ok(Decision::Ask { reason: Some("it is Sunday".to_owned()) })
        })
        .unwrap();
    let mut params = json!({"name": "asker", "arguments": {"why": "please"}});
    let mut questions = Vec::new();
    for id in 1..=2 {
        let required = client.newer(id, params.clone(), forms()).await;
        questions
            .push(required["inputRequests"]["approval"]["params"]["message"].as_str().unwrap().to_owned());
        params["requestState"] = required["requestState"].clone();
        params["inputResponses"] = json!({"approval": {"action": "accept", "content": {}}});
    }
    let policy =
        "The agent asks to make a call that needs your approval.\nTool: \"asker\"\nWhy: \"it is Sunday\"";
    assert_eq!(questions, [policy.to_owned(), question("\"please\"")]);
    assert_eq!(client.newer(3, params, forms()).await["content"][0]["text"], "done");
    client.end().await.unwrap();
}

#[tokio::test]
async fn the_instructions_end_with_the_runtime_context() {
    let mut client = client().await;
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    client.request(0, "initialize", params).await;
    let prompt = client.ctx.service(dsh_harness::SYSTEM_PROMPT).unwrap();
    let expected = prompt.render_with_context(Some(&client.session));
    assert_eq!(client.hear().await["result"]["instructions"], expected);
    assert!(expected.contains("\n\nCurrent runtime context."), "{expected}");
    client.end().await.unwrap();
}
