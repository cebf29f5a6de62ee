//! `dsh-fs tools`.

use std::process::ExitCode;

use serde_json::{Value as Json, json};

use crate::args::{Confinement, Setup};
use crate::compose::Running;
use crate::output;

pub(crate) fn main(setup: &Setup) -> anyhow::Result<ExitCode> {
    let running = Running::start(setup, Confinement::default())?;
    let tools: Vec<Json> = running
        .tools
        .definitions()
        .into_iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters.to_json()}))
        .collect();
    let text = serde_json::to_string_pretty(&tools)?;
    let code = output::printed(output::print_text(&text));
    running.stop();
    Ok(code)
}
