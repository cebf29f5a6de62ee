//! The server over HTTP, and a client that writes its requests by hand.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};

const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Web {
    child: Child,
    address: String,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    head: String,
    body: String,
}

impl Web {
    /// Starts the program, and waits until it says where it listens.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("listening on ") {
            line.clear();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "the server starts");
        }
        // What is said later must not block it.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let address =
            line.trim_start_matches("listening on http://").trim_end().trim_end_matches("/mcp").to_owned();
        Self { child, address }
    }

    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let lines = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{}content-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            lines.collect::<String>(),
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut read = String::new();
        stream.read_to_string(&mut read).unwrap();
        let (head, body) = read.split_once("\r\n\r\n").unwrap();
        Reply {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    /// The result of a call by the protocol without handshake.
    pub(crate) fn tool(&self, path: &str, headers: &[(&str, &str)], name: &str, arguments: Json) -> Json {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let mut headers = headers.to_vec();
        let protocol =
            [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", name)];
        headers.extend(protocol);
        let params = json!({"name": name, "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        self.post(path, &headers, &body.to_string()).message()["result"].take()
    }

    /// An older client's handshake, which gives its `Mcp-Session-Id`.
    pub(crate) fn hello(&self, path: &str) -> String {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let reply = self.post(path, &[], &body.to_string());
        let id = reply.header("mcp-session-id").unwrap_or_else(|| panic!("no id: {reply:?}")).to_owned();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        assert_eq!(self.post(path, &[("mcp-session-id", &id)], &initialized).status, 202);
        id
    }

    /// The result of a call by an older client.
    pub(crate) fn older_tool(&self, id: &str, name: &str, arguments: Json) -> Json {
        let params = json!({"name": name, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        self.post("/mcp", &[("mcp-session-id", id)], &body.to_string()).message()["result"].take()
    }

    /// Tells the server to end, and waits for it.
    pub(crate) fn terminate(mut self) -> ExitStatus {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        let patience = Instant::now() + PATIENCE;
        while Instant::now() < patience {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        panic!("the server does not end");
    }
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// The last message, whether it came as one or in a stream.
    pub(crate) fn message(&self) -> Json {
        let lines = self.body.lines().rev().map(|line| line.trim_start_matches("data:").trim());
        let mut messages = lines.filter_map(|line| serde_json::from_str(line).ok()).filter(Json::is_object);
        messages.next().unwrap_or_else(|| panic!("no message: {self:?}"))
    }

    /// The code of a refusal.
    pub(crate) fn code(&self) -> String {
        self.message()["error"]["data"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        // After a test that failed half way. If it has ended this does nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
