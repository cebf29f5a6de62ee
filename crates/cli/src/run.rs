//! `dsh-fs run`.

use std::io::{self, BufRead, Read as _};
use std::process::ExitCode;

use anyhow::Context as _;

use crate::args::{self, Setup};
use crate::compose::Running;
use crate::json_lines::{JsonLines, refused};
use crate::output::{self, EXIT_FAILURE, Reader};
use crate::request::Invalid;

/// A longer line is refused and passed over: one without an end must not take all memory.
const LONGEST_LINE: u64 = 256 << 20;

/// The memory of a line longer than this is given back after it.
const KEPT_LINE: usize = 1 << 20;

pub(crate) fn main(setup: &Setup, command: &args::Run) -> anyhow::Result<ExitCode> {
    let running = Running::start(setup, command.confinement)?;
    let lines = JsonLines::new(running.tools.clone(), running.cwd.clone(), command.values);
    let mut lines = lines.on_own_thread();
    if let Some(state) = &setup.state {
        lines = lines.recorded_in(state.clone());
    }
    let ended = answer_all(lines, &running);
    running.stop();
    Ok(match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::failed(&error, EXIT_FAILURE),
    })
}

/// Until the input ends or nobody reads the answers.
fn answer_all(mut lines: JsonLines, running: &Running) -> anyhow::Result<()> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        line.shrink_to(KEPT_LINE);
        let answer = match next_line(&mut input, &mut line).context("cannot read standard input")? {
            Next::End => return Ok(()),
            Next::Line => running.block_on(lines.answer(&line)),
            Next::TooLong => {
                let message = format!("a request must not be longer than {LONGEST_LINE} bytes");
                refused(Invalid { message, id: None })
            }
        };
        if output::print_line(&answer).map_err(output::cannot_write)? == Reader::Gone {
            return Ok(());
        }
    }
}

enum Next {
    Line,
    TooLong,
    End,
}

/// Reads a line, its newline included, into `line`.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Next> {
    let read = input.by_ref().take(LONGEST_LINE).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(Next::End);
    }
    if line.ends_with(b"\n") || (read as u64) < LONGEST_LINE {
        return Ok(Next::Line);
    }
    input.skip_until(b'\n')?;
    Ok(Next::TooLong)
}
