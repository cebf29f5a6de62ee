//! The harness as the protocol sees it: tools listed, tools called.

use std::sync::Arc;

use dsh_harness::{Session, SystemPrompt, ToolCall, ToolRegistry, ToolResult};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, ConstString as _, CustomRequest,
    CustomResult, ErrorCode, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value as Json;

use crate::answer::answer;
use crate::gate::{Gate, Ticket};
use crate::listing;

/// A harness as the protocol sees it. Nothing is kept here: tools and prompt are asked each time.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) tools: Arc<ToolRegistry>,
    pub(crate) prompt: Arc<SystemPrompt>,
    pub(crate) session: Arc<Session>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) name: String,
    pub(crate) version: String,
}

impl Server {
    /// Runs one call when its turn has come. An unknown tool is the protocol's error, as the protocol wants it; every
    /// other failure is a result that the model sees.
    async fn run(
        &self,
        tool: String,
        arguments: Json,
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
        let call = ToolCall {
            id: context.id.to_string(),
            tool: tool.clone(),
            arguments: arguments.clone(),
            session: Some(self.session.clone()),
            cancel: context.ct.clone(),
        };
        let result = self.tools.execute(call).await;
        drop(ticket);
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
        match self.prompt.render() {
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
        self.run(request.name.into_owned(), arguments, context).await
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
        let CallToolResponse::Complete(mut result) = self.run(tool, arguments, context).await? else {
            return Err(ErrorData::internal_error("the call did not complete", None));
        };
        if old {
            // The SDK leaves this out for older clients where it knows the request.
            result.result_type = None;
        }
        let result = serde_json::to_value(result);
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
