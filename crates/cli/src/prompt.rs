//! `dsh-fs prompt`.

use std::process::ExitCode;

use crate::args::Setup;
use crate::compose::Running;
use crate::output;

pub(crate) fn main(setup: &Setup) -> anyhow::Result<ExitCode> {
    let running = Running::start(setup)?;
    let code = output::printed(output::print_text(&running.prompt.render()));
    running.stop();
    Ok(code)
}
