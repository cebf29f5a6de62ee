//! The harness as the protocol sees it: tools listed, tools called.

use std::sync::Arc;

use dsh_harness::{Session, SystemPrompt, ToolCall, ToolRegistry, ToolResult};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, ConstString as _, CustomRequest,
    CustomResult, ErrorCode, ErrorData, Implementation, InputResponses, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value as Json;

use crate::answer::answer;
use crate::asking::{Asking, OpenQuestions};
use crate::gate::{Gate, Ticket};
use crate::listing;

/// A harness as the protocol sees it. Tools and prompt are asked each time; what is kept are questions without an answer.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) tools: Arc<ToolRegistry>,
    pub(crate) prompt: Arc<SystemPrompt>,
    pub(crate) session: Arc<Session>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) questions: Arc<OpenQuestions>,
    pub(crate) name: String,
    pub(crate) version: String,
}

/// What a client makes a call with again, once it has asked what it was to ask.
#[derive(Default)]
struct Again {
    state: Option<String>,
    responses: Option<InputResponses>,
}

impl Server {
    /// Runs one call when its turn has come, or answers that the person has to be asked first. An unknown tool is the protocol's error, as the protocol wants it; every
    /// other failure is a result that the model sees.
    async fn run(
        &self,
        tool: String,
        arguments: Json,
        again: Again,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // A message that did not come through our own transport, or was no proper call, queues up here.
        let ticket = context
            .extensions
            .remove::<Arc<Ticket>>()
            .unwrap_or_else(|| Arc::new(self.gate.enter(self.tools.concurrency(&tool, &arguments))));
        tokio::select! {
            () = ticket.turn() => {}
            // It need not wait to be told that it never ran.
            () = context.ct.cancelled() => {}
        }
        let answered = self.questions.answers(&tool, &arguments, again.state.as_deref(), again.responses);
        let asking = Asking::new(&context, self.session.clone(), ticket, answered);
        let call = ToolCall {
            id: context.id.to_string(),
            tool: tool.clone(),
            arguments: arguments.clone(),
            session: Some(self.session.clone()),
            cancel: asking.cancel(),
        };
        let result = asking.during(self.tools.execute(call)).await;
        let open = asking.open_question();
        // And with it the ticket.
        drop(asking);
        // Unless something was done all the same, it is to be done when the call comes again.
        if let Some((question, answered)) = open
            && result.is_error()
            && result.meta.is_none()
        {
            return Ok(self.questions.ask(&tool, &arguments, question, answered).into());
        }
        if let Some(message) = unknown_tool(&result) {
            return Err(ErrorData::invalid_params(message, None));
        }
        let card = self.tools.present_result(&tool, &arguments, &result);
        Ok(answer(result, card).into())
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(&self.name, &self.version));
        match self.prompt.render_with_context(Some(&self.session)) {
            prompt if prompt.is_empty() => config,
            prompt => config.with_instructions(prompt),
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.definitions().into_iter().map(listing::tool).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Some(listing::tool(self.tools.get(name)?.definition().clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Json::Object(request.arguments.unwrap_or_default());
        let again = Again { state: request.request_state, responses: request.input_responses };
        self.run(request.name.into_owned(), arguments, again, context).await
    }

    /// What the SDK could not read as one of the protocol's requests. A call whose `arguments` are no object comes
    /// here; the tool's own check has the words for that.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != CallToolRequestMethod::VALUE {
            return Err(no_such_request(&request.method));
        }
        let Some(Json::Object(mut params)) = request.params else {
            return Err(ErrorData::invalid_params("\"params\" of tools/call must be an object", None));
        };
        let Some(Json::String(tool)) = params.remove("name") else {
            return Err(ErrorData::invalid_params("\"name\" of tools/call must be a string", None));
        };
        let arguments = params.remove("arguments").unwrap_or(Json::Null);
        let old = context.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28);
        let again = Again {
            state: params.remove("requestState").and_then(|state| state.as_str().map(str::to_owned)),
            responses: params.remove("inputResponses").and_then(|said| serde_json::from_value(said).ok()),
        };
        let result = match self.run(tool, arguments, again, context).await? {
            CallToolResponse::Complete(mut result) => {
                if old {
                    // The SDK leaves this out for older clients where it knows the request.
                    result.result_type = None;
                }
                serde_json::to_value(result)
            }
            CallToolResponse::InputRequired(required) => serde_json::to_value(required),
            _ => return Err(ErrorData::internal_error("the call did not complete", None)),
        };
        result.map(CustomResult::new).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

/// A method that is not spoken here, or a known one whose `params` could not be read.
fn no_such_request(method: &str) -> ErrorData {
    match method {
        "initialize" | "ping" | "server/discover" | "tools/list" => {
            ErrorData::invalid_params(format!("\"params\" do not fit {method}"), None)
        }
        _ => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method \"{method}\""), None),
    }
}

fn unknown_tool(result: &ToolResult) -> Option<String> {
    let error = result.error()?;
    (error.code.as_deref() == Some("UNKNOWN_TOOL")).then(|| error.message.clone())
}
