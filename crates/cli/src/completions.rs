//! `dsh-fs completions`.

use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::args::{Args, Completions};
use crate::output;

pub(crate) fn main(command: &Completions) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(command.shell, &mut Args::command(), "dsh-fs", &mut script);
    output::printed(output::print(&script))
}
