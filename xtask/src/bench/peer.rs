//! [`Peer`]: a program at the other end of two pipes, ours or another, in JSON lines or in the Model Context Protocol.
//!
//! It is read on the thread that asked, so that a call costs the program and the pipes and nothing of the bench.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value as Json, json};

/// How it is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// As `dsh-fs run` does.
    Lines,
    /// The Model Context Protocol.
    Mcp,
}

/// A program at work. It is ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Peer {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    protocol: Protocol,
    calls: u64,
}

/// What it said to a call, and how long that took from the request's first byte to the answer's last.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) took: Duration,
    is_error: bool,
}

/// MiB that a process holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Now.
    pub(crate) resident: f64,
    /// At most, so far.
    pub(crate) peak: f64,
}

impl Peer {
    /// Starts it, and says hello where the protocol wants that.
    pub(crate) fn start(mut command: Command, protocol: Protocol) -> anyhow::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let stdin = child.stdin.take().context("no way in")?;
        let stdout = BufReader::with_capacity(1 << 20, child.stdout.take().context("no way out")?);
        let mut peer = Self { child, stdin, stdout, protocol, calls: 0 };
        if protocol == Protocol::Mcp {
            let hello = json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            });
            peer.ask(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}))?;
            peer.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        }
        Ok(peer)
    }

    /// Makes a call that has to succeed.
    pub(crate) fn must(&mut self, tool: &str, args: &Json) -> anyhow::Result<Reply> {
        self.calls += 1;
        let request = match self.protocol {
            Protocol::Lines => json!({"tool": tool, "args": args}),
            Protocol::Mcp => {
                let params = json!({"name": tool, "arguments": args});
                json!({"jsonrpc": "2.0", "id": self.calls, "method": "tools/call", "params": params})
            }
        };
        let (answer, elapsed) = self.ask(&request)?;
        let reply = match self.protocol {
            Protocol::Lines => Reply::new(answer["content"].as_str(), &answer, elapsed),
            Protocol::Mcp => {
                let result = &answer["result"];
                Reply::new(result["content"][0]["text"].as_str(), result, elapsed)
            }
        };
        let reply = reply.with_context(|| format!("no answer to a {tool}: {answer}"))?;
        ensure!(!reply.is_error, "an ordinary {tool} failed: {}", reply.text);
        Ok(reply)
    }

    /// A request and its answer, notices passed over.
    pub(crate) fn ask(&mut self, request: &Json) -> anyhow::Result<(Json, Duration)> {
        let request = request.to_string() + "\n";
        let mut line = Vec::new();
        let began = Instant::now();
        self.stdin.write_all(request.as_bytes()).context("the program does not listen")?;
        loop {
            line.clear();
            if self.stdout.read_until(b'\n', &mut line)? == 0 {
                bail!("the program ended: {:?}", self.child.wait()?);
            }
            let took = began.elapsed();
            let answer: Json = serde_json::from_slice(&line).context("an answer is not JSON")?;
            if self.protocol == Protocol::Lines || answer["id"].is_number() {
                return Ok((answer, took));
            }
        }
    }

    fn say(&mut self, notice: &Json) -> anyhow::Result<()> {
        let line = notice.to_string() + "\n";
        self.stdin.write_all(line.as_bytes()).context("the program does not listen")
    }

    /// What its process holds.
    pub(crate) fn memory(&self) -> anyhow::Result<Memory> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let mebibytes = |key: &str| -> anyhow::Result<f64> {
            let line = status.lines().find_map(|line| line.strip_prefix(key)).context("it has ended")?;
            Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
        };
        Ok(Memory { resident: mebibytes("VmRSS:")?, peak: mebibytes("VmHWM:")? })
    }
}

impl Reply {
    /// `None` where there is no text.
    pub(crate) fn new(text: Option<&str>, result: &Json, took: Duration) -> Option<Self> {
        Some(Self { text: text?.to_owned(), took, is_error: result["isError"] == true })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
