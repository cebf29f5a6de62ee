#![doc = include_str!("../README.md")]
#![expect(
    clippy::disallowed_methods,
    reason = "the rim of the program: it reads the environment and the command line"
)]

mod args;
mod call;
mod completions;
mod compose;
mod confine;
mod doctor;
mod json_lines;
mod log;
mod logs;
mod man;
mod mcp;
mod output;
mod prompt;
mod request;
mod run;
mod sessions;
mod tools;
mod watch;
mod workspaces;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Args, Command};

pub use compose::{BUILT_IN, registry};
pub use json_lines::JsonLines;

/// The exit code of everything that keeps a command from starting: bad usage, a folder that is not there, a composition
/// that cannot be mounted.
const EXIT_USAGE: u8 = 2;

/// The whole program: reads the command line, runs the command, says what went wrong.
///
/// The exit code is 0, 1 (`call`: a result is an error; `doctor`: leftovers are there; any command: its input or output
/// failed half way) or 2 (it could not start).
pub fn main() -> ExitCode {
    let args = Args::parse();
    logs::start();
    let setup = match args.setup() {
        Ok(setup) => setup,
        Err(error) => return output::failed(&error, EXIT_USAGE),
    };
    let result = match args.command {
        Command::Call(command) => call::main(&setup, command),
        Command::Run(command) => run::main(&setup, &command),
        Command::Mcp(command) => mcp::main(&setup, &command),
        Command::Tools => tools::main(&setup),
        Command::Prompt => prompt::main(&setup),
        Command::Doctor(command) => doctor::main(&setup, &command),
        Command::Log(command) => log::main(&setup, &command),
        Command::Completions(command) => Ok(completions::main(&command)),
        Command::Man(command) => man::main(&command),
    };
    match result {
        Ok(code) => code,
        Err(error) => output::failed(&error, EXIT_USAGE),
    }
}
