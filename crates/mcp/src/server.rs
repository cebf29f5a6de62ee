//! The harness as the protocol sees it: tools listed, tools called.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dsh_harness::{ErrorInfo, Session, SystemPrompt, ToolCall, ToolRegistry, ToolResult};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, ConstString as _, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, ErrorData, Implementation, InitializeRequestParams,
    InitializeResult, InputResponses, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use serde_json::{Value as Json, json};
use tokio::sync::TryAcquireError;

use crate::answer::Answering;
use crate::asking::Asking;
use crate::calls::Calls;
use crate::changes::Changes;
use crate::gate::Ticket;
use crate::listing;
use crate::options::ServeOptions;
use crate::reports::{self, Reports};
use crate::seat::Seat;

/// Why nothing new is taken at the end.
pub(crate) const SHUTTING_DOWN: &str = "the server is shutting down";

/// What all clients of a server share. Tools and prompt are asked each time.
pub(crate) struct Served {
    pub(crate) tools: Arc<ToolRegistry>,
    pub(crate) prompt: Arc<SystemPrompt>,
    pub(crate) options: ServeOptions,
    pub(crate) calls: Calls,
    /// How many calls one session may have under way.
    pub(crate) max_session_calls: usize,
    pub(crate) changes: Changes,
}

/// A harness as the protocol sees it.
#[derive(Clone)]
pub(crate) struct Server {
    served: Arc<Served>,
    /// Who is asking, where it is always the same one. Else the transport says it with each request.
    seat: Option<Arc<Seat>>,
    /// The client has shaken hands. It may say so as often as it likes.
    initialized: Arc<AtomicBool>,
}

/// What a client makes a call with again, once it has asked what it was to ask.
#[derive(Default)]
struct Again {
    state: Option<String>,
    responses: Option<InputResponses>,
}

impl Server {
    /// For one client; its clones serve the same one.
    pub(crate) fn new(served: Arc<Served>, seat: Option<Arc<Seat>>) -> Self {
        Self { served, seat, initialized: Arc::default() }
    }

    /// Who is asking.
    fn seat(&self, context: &RequestContext<RoleServer>) -> Result<Arc<Seat>, ErrorData> {
        let said =
            || context.extensions.get::<http::request::Parts>()?.extensions.get::<Arc<Seat>>().cloned();
        let seat = self.seat.clone().or_else(said);
        seat.ok_or_else(|| ErrorData::internal_error("the transport did not say who is asking", None))
    }

    /// What the server says of itself to a session.
    fn info(&self, session: Option<&Session>) -> ServerConfig {
        let config = self.get_info();
        match self.served.prompt.render_with_context(session) {
            prompt if prompt.is_empty() => config,
            prompt => config.with_instructions(prompt),
        }
    }

    /// Runs one call when its turn has come, or answers that the person has to be asked first. An unknown tool is the
    /// protocol's error, as the protocol wants it; every other failure is a result that the model sees.
    async fn run(
        &self,
        tool: String,
        arguments: Json,
        again: Again,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Served { tools, options, calls, max_session_calls, .. } = &*self.served;
        let seat = self.seat(&context)?;
        // A message that did not come through our own pipes, or was no proper call, queues up here.
        let (under_way, ticket) = if let Some(ticket) = context.extensions.remove::<Arc<Ticket>>() {
            (None, ticket)
        } else {
            let under_way = calls.begin().map_err(|why| no_more(&why))?;
            let class = tools.concurrency(&tool, &arguments);
            let ticket = seat.gate.enter_below(*max_session_calls, class).ok_or_else(busy)?;
            (Some(under_way), Arc::new(ticket))
        };
        tokio::select! {
            () = ticket.turn() => {}
            // It need not wait to be told that it never ran.
            () = context.ct.cancelled() => {}
        }
        let answered = seat.questions.answers(&tool, &arguments, again.state.as_deref(), again.responses);
        let asking = Asking::new(&context, seat.session.clone(), ticket, answered);
        let call = ToolCall {
            id: context.id.to_string(),
            tool: tool.clone(),
            arguments: arguments.clone(),
            session: seat.session.clone(),
            cancel: asking.cancel(),
        };
        let (reporter, reports) = Reports::of(&context);
        let cancel = asking.cancel();
        // A pipeline is large, and would be part of every future around it.
        let execution = Box::pin(asking.during(tools.execute_reporting(call, reporter)));
        let run = calls.run(execution, &cancel);
        let result = reports::during(reports, run).await;
        let open = asking.open_question();
        // And with it the ticket.
        drop(asking);
        drop(under_way);
        seat.touch();
        // Unless something was done all the same, it is to be done when the call comes again.
        if let Some((question, answered)) = open
            && result.is_error()
            && result.meta.is_none()
        {
            return Ok(seat.questions.ask(&tool, &arguments, question, answered).into());
        }
        if let Some(unknown) = unknown_tool(&result) {
            return Err(unknown);
        }
        let card = tools.present_result(&tool, &arguments, &result);
        let changes = tools.get(&tool).is_some_and(|tool| !tool.definition().annotations.read_only);
        let nobodys_change = seat.session.is_none() && changes;
        Ok(Answering { options, card, nobodys_change }.answer(result).into())
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        let ServeOptions { name, version, .. } = &self.served.options;
        ServerConfig::new(capabilities).with_server_info(Implementation::new(name, version))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let instructions = self.info(self.seat(&context)?.session.as_deref()).instructions;
        context.peer.set_peer_info(request.clone());
        let mut info = self.negotiate_initialize(&request)?;
        info.instructions = instructions;
        Ok(info)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if !self.initialized.swap(true, Ordering::Relaxed) {
            self.served.changes.add(context.peer);
        }
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let info = self.info(self.seat(&context)?.session.as_deref());
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), info))
    }

    /// Of all that can be subscribed to, the SDK keeps what [`get_info`](Self::get_info) promises: changes of the tools.
    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.served.changes.tell_subscriber(context).await;
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let session = self.seat(&context)?.session.clone();
        let cursor = request.and_then(|request| request.cursor);
        let tools = self.served.tools.definitions_for(session.as_deref());
        listing::page(tools, cursor.as_deref(), &self.served.options)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = self.served.tools.get(name)?;
        Some(listing::tool(tool.definition().clone(), &self.served.options))
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

/// A call that may not begin.
fn no_more(why: &TryAcquireError) -> ErrorData {
    match why {
        TryAcquireError::NoPermits => busy(),
        TryAcquireError::Closed => {
            ErrorData::new(ErrorCode(-32000), SHUTTING_DOWN, Some(json!({"code": "SHUTTING_DOWN"})))
        }
    }
}

/// More calls are under way than there may be.
fn busy() -> ErrorData {
    let data = json!({"code": "BUSY", "retryAfterMs": 1000});
    ErrorData::new(ErrorCode(-32000), "too many calls are under way: nothing was done, try again", Some(data))
}

fn unknown_tool(result: &ToolResult) -> Option<ErrorData> {
    let ErrorInfo { message, name, code } = result.error()?;
    (code.as_deref() == Some("UNKNOWN_TOOL"))
        .then(|| ErrorData::invalid_params(message.clone(), Some(json!({"name": name, "code": code}))))
}
