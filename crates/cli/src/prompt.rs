//! `dsh-fs prompt`.

use std::process::ExitCode;

use crate::args::{Confinement, Setup};
use crate::compose::Running;
use crate::output;
use crate::sessions::Sessions;

pub(crate) fn main(setup: &Setup) -> anyhow::Result<ExitCode> {
    let running = Running::start(setup, Confinement::default())?;
    let session = Sessions::new(running.cwd.clone(), None).get("s1");
    let text = running.prompt.render_with_context(Some(&session));
    let code = output::printed(output::print_text(&text));
    running.stop();
    Ok(code)
}
