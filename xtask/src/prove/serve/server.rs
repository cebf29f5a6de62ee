//! [`Server`]: a `dsh-fs mcp --http` at work.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::prove::program::wait;

/// Beginning takes longer only if it fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that is ready. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// Where it listens.
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts `dsh-fs mcp --http` with a port of its own choice, and waits until it is ready.
    pub(crate) fn start(mut command: Command) -> anyhow::Result<Self> {
        command.args(["--http", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let stderr = child.stderr.take().context("its errors cannot be read")?;
        let (send, lines) = mpsc::channel();
        // To the end, or the server would wait for its reader.
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
        let mut said = Vec::new();
        while let Ok(line) = lines.recv_timeout(PATIENCE) {
            if let Some(address) = address(&line) {
                return Ok(Self { child, address });
            }
            said.push(line);
        }
        child.kill()?;
        child.wait()?;
        bail!("the server does not listen: {}", said.join("; "))
    }

    /// The id of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Is it still there?
    pub(crate) fn runs(&mut self) -> anyhow::Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// Ends it as an administrator would, and waits for the end.
    pub(crate) fn stop(mut self) -> anyhow::Result<ExitStatus> {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).context("no process")?;
        kill_process(id, Signal::TERM)?;
        wait(&mut self.child)
    }

    /// Kills it at once.
    pub(crate) fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn address(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("listening on http://")?;
    rest.trim().strip_suffix("/mcp")?.parse().ok()
}
