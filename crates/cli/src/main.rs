//! The binary `dsh-fs`; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    dsh_cli::main()
}
