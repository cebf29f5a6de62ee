//! `dsh-fs man`.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::CommandFactory as _;

use crate::args::{Args, Man};
use crate::output;

pub(crate) fn main(command: &Man) -> anyhow::Result<ExitCode> {
    // Names of commands in full, `dsh-fs-call`, and the arguments that all of them take.
    let mut program = Args::command();
    program.build();
    let Some(folder) = &command.folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(program).render(&mut page)?;
        return Ok(output::printed(output::print(&page)));
    };
    clap_mangen::generate_to(program, folder)
        .with_context(|| format!("cannot write manual pages to {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
