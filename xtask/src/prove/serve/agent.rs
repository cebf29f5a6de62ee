//! [`Agent`]: a client of a session, in either era of the protocol, under any of the ways to say who is asking.

use std::net::SocketAddr;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value as Json, json};

use crate::prove::serve::http::{Connection, Response};

const NEWER: &str = "2026-07-28";
const OLDER: &str = "2025-11-25";

/// How an agent says who is asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The newer protocol, by the URL of a session that was minted.
    Minted,
    /// The newer protocol, by the header `Dsh-Session`.
    Header,
    /// An older client that names nothing: its `Mcp-Session-Id`.
    Older,
    /// An older client by a URL of its own choice.
    OlderUrl,
    /// The newer protocol, without a session.
    Nobody,
}

/// The ways that have a session, to be taken in turn.
pub(crate) const WAYS: [Way; 4] = [Way::Minted, Way::Header, Way::Older, Way::OlderUrl];

/// A client with a connection of its own.
#[derive(Debug)]
pub(crate) struct Agent {
    connection: Connection,
    path: String,
    headers: Vec<(String, String)>,
    is_newer: bool,
    last_id: u64,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The text of a success.
    Done(String),
    /// An error result of the tool, by its code, with its text.
    Failed(String, String),
    /// The server does not take the call, by its code, with its message.
    Refused(String, String),
}

impl Agent {
    /// Connects, and begins the session `name` where the way has one.
    pub(crate) fn join(address: SocketAddr, name: &str, way: Way) -> anyhow::Result<Self> {
        let headers =
            [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        let mut agent = Self {
            connection: Connection::open(address)?,
            path: "/mcp".to_owned(),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            is_newer: !matches!(way, Way::Older | Way::OlderUrl),
            last_id: 0,
        };
        match way {
            Way::Minted => {
                let minted = json!({"session": name}).to_string();
                let made =
                    agent.connection.request("POST", "/sessions", &agent.headers, minted.as_bytes())?;
                ensure!(made.status == 201, "a session is not minted: {}", shown(&made));
                let made: Json = serde_json::from_slice(&made.body)?;
                made["url"].as_str().context("a minted session has no URL")?.clone_into(&mut agent.path);
            }
            Way::Header => agent.head("Dsh-Session", name),
            Way::OlderUrl => agent.path = format!("/mcp/{name}"),
            Way::Older | Way::Nobody => {}
        }
        agent.head("MCP-Protocol-Version", if agent.is_newer { NEWER } else { OLDER });
        if !agent.is_newer {
            agent.initialize()?;
        }
        Ok(agent)
    }

    fn head(&mut self, name: &str, value: &str) {
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    fn initialize(&mut self) -> anyhow::Result<()> {
        let params = json!({"protocolVersion": OLDER, "capabilities": {}, "clientInfo": {"name": "proof", "version": "1"}});
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string();
        let answer = self.connection.request("POST", &self.path, &self.headers, hello.as_bytes())?;
        let Some(id) = answer.header("mcp-session-id") else {
            bail!("no Mcp-Session-Id: {}", shown(&answer))
        };
        let id = id.to_owned();
        self.head("Mcp-Session-Id", &id);
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        let answer = self.connection.request("POST", &self.path, &self.headers, ready.as_bytes())?;
        ensure!(answer.status == 202, "a notification is not taken: {}", shown(&answer));
        Ok(())
    }

    /// The body and the headers of a call.
    pub(crate) fn call_as_sent(&mut self, tool: &str, args: &Json) -> (String, Vec<(String, String)>) {
        self.last_id += 1;
        let mut params = json!({"name": tool, "arguments": args});
        let mut headers = self.headers.clone();
        if self.is_newer {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": NEWER,
                "io.modelcontextprotocol/clientInfo": {"name": "proof", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            headers.push(("Mcp-Method".to_owned(), "tools/call".to_owned()));
            headers.push(("Mcp-Name".to_owned(), tool.to_owned()));
        }
        let call = json!({"jsonrpc": "2.0", "id": self.last_id, "method": "tools/call", "params": params});
        (call.to_string(), headers)
    }

    /// Makes a call and waits for its answer.
    #[expect(clippy::needless_pass_by_value, reason = "`json!` reads better than behind a reference")]
    pub(crate) fn call(&mut self, tool: &str, args: Json) -> anyhow::Result<Reply> {
        let (call, headers) = self.call_as_sent(tool, &args);
        let answer = self.connection.request("POST", &self.path, &headers, call.as_bytes())?;
        self.reply(&answer)
    }

    /// Makes a call and does not read what comes; gives the connection.
    pub(crate) fn leave_unread(mut self, tool: &str, args: &Json) -> anyhow::Result<Connection> {
        let address = self.connection.address();
        let (call, headers) = self.call_as_sent(tool, args);
        let request = super::http::encoded(address, "POST", &self.path, &headers, call.as_bytes());
        self.connection.send(&request)?;
        Ok(self.connection)
    }

    fn reply(&self, answer: &Response) -> anyhow::Result<Reply> {
        let messages = answer.messages().with_context(|| shown(answer))?;
        let ours =
            messages.iter().rfind(|message| message["id"] == self.last_id || message["error"].is_object());
        let Some(message) = ours else { bail!("no answer to the call: {}", shown(answer)) };
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        if let error @ Json::Object(_) = &message["error"] {
            return Ok(Reply::Refused(text(&error["data"]["code"]), text(&error["message"])));
        }
        let result = &message["result"];
        let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let content = blocks.iter().map(|block| text(&block["text"])).collect::<Vec<_>>().join("\n");
        Ok(if result["isError"] == true {
            Reply::Failed(text(&result["_meta"]["dsh-fs/error"]["code"]), content)
        } else {
            Reply::Done(content)
        })
    }

    /// Makes a call that has to succeed; its text.
    pub(crate) fn must(&mut self, tool: &str, args: Json) -> anyhow::Result<String> {
        match self.call(tool, args)? {
            Reply::Done(text) => Ok(text),
            other => bail!("an ordinary {tool} failed: {other:?}"),
        }
    }
}

/// An answer for a message.
pub(crate) fn shown(answer: &Response) -> String {
    let body: String = String::from_utf8_lossy(&answer.body).chars().take(300).collect();
    format!("HTTP {}: {body}", answer.status)
}
