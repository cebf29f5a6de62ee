//! `dsh-fs mcp`.

use std::io::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Context as _;
use dsh_mcp::{HttpOptions, McpError, serve_http, serve_stdio};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{Mcp, Setup, absolute};
use crate::compose::Running;
use crate::output::{self, EXIT_FAILURE};
use crate::sessions::Sessions;
use crate::watch::Watch;
use crate::workspaces::Workspaces;

pub(crate) fn main(setup: &Setup, command: &Mcp) -> anyhow::Result<ExitCode> {
    let workspaces = command.door.workspaces.as_deref().map(absolute).transpose()?;
    let setup = Setup { workspaces, ..setup.clone() };
    let http = match command.http {
        Some(address) => Some(Http::new(&setup, command, address)?),
        None => None,
    };
    let mut running = Running::start(&setup, command.confinement)?;
    let watch = if command.watch { Some(Watch::start(&setup, &mut running)?) } else { None };
    let ended = running.block_on(async {
        // A server is large, and would be part of the future around it.
        let serving = Box::pin(async {
            match http {
                Some(http) => http.serve(&running).await,
                None => stdio(&setup, command, &running).await,
            }
        });
        match watch {
            Some(watch) => watch.during(serving).await,
            None => serving.await,
        }
    });
    running.stop();
    match ended {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => match error.downcast_ref() {
            // It has never served anybody.
            Some(McpError::Unguarded(_)) | None => Err(error),
            Some(_) => Ok(output::failed(&error, EXIT_FAILURE)),
        },
    }
}

async fn stdio(setup: &Setup, command: &Mcp, running: &Running) -> anyhow::Result<()> {
    let session = Sessions::new(running.cwd.clone(), setup.state.clone()).get("stdio");
    Ok(serve_stdio(&running.ctx, session, command.serve_options()).await?)
}

/// Everything that a server over HTTP needs, looked at before anything is started.
struct Http {
    address: SocketAddr,
    options: HttpOptions,
    workspaces: Workspaces,
}

impl Http {
    fn new(setup: &Setup, command: &Mcp, address: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self { address, options: command.http_options()?, workspaces: Workspaces::new(setup)? })
    }

    async fn serve(self, running: &Running) -> anyhow::Result<()> {
        let Self { address, options, workspaces } = self;
        let workspaces = workspaces.starting_at(running.cwd.clone());
        let mut terminated = signal(SignalKind::terminate()).context("cannot handle signals")?;
        let mut interrupted = signal(SignalKind::interrupt()).context("cannot handle signals")?;
        let listener = TcpListener::bind(address).await.with_context(|| format!("--http {address}"))?;
        let bound = listener.local_addr().with_context(|| format!("--http {address}"))?;
        let stop = async {
            // Whoever waits for this line can connect: the kernel already takes connections.
            let _ = writeln!(std::io::stderr(), "listening on http://{bound}/mcp");
            tokio::select! {
                _ = terminated.recv() => {}
                _ = interrupted.recv() => {}
            }
        };
        Ok(serve_http(&running.ctx, workspaces, options, listener, stop).await?)
    }
}
