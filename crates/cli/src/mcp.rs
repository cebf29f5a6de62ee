//! `dsh-fs mcp`.

use std::process::ExitCode;

use dsh_mcp::{ServeOptions, serve_stdio};

use crate::args::{Mcp, Setup};
use crate::compose::Running;
use crate::output::{self, EXIT_FAILURE};
use crate::sessions::Sessions;

pub(crate) fn main(setup: &Setup, command: &Mcp) -> anyhow::Result<ExitCode> {
    let running = Running::start(setup, command.confinement)?;
    let session = Sessions::new(setup.cwd.clone()).get("stdio");
    let options = ServeOptions { version: env!("CARGO_PKG_VERSION").to_owned(), ..ServeOptions::default() };
    let ended = running.block_on(serve_stdio(&running.ctx, session, options));
    running.stop();
    Ok(match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::failed(&error.into(), EXIT_FAILURE),
    })
}
