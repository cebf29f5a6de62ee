//! [`Strace`]: watches the system calls of a running process, and makes one of them fail or kill.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::prove::program::wait;

/// An strace at work on threads that were there before, so that its counts begin where we want them to. Every thread is
/// counted on its own.
#[derive(Debug)]
pub(crate) struct Strace {
    child: Child,
    log: PathBuf,
}

impl Strace {
    /// Attaches to these threads, and to no other; returns when they are watched.
    pub(crate) fn attach(threads: &[u32], log: PathBuf, options: &[String]) -> anyhow::Result<Self> {
        let mut command = Command::new("strace");
        command.args(threads.iter().flat_map(|thread| ["-p".to_owned(), thread.to_string()]));
        command.args(["-y", "-o"]).arg(&log).args(options);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start strace")?;
        let stderr = BufReader::new(child.stderr.take().context("strace has no standard error")?);
        let strace = Self { child, log };
        let (send, said) = mpsc::channel();
        std::thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        for _ in threads {
            match said.recv_timeout(Duration::from_secs(20)) {
                Ok(line) if line.contains(" attached") => {}
                Ok(line) => bail!("strace cannot watch the program: {line}"),
                Err(_) => bail!("strace does not say that it watches the program"),
            }
        }
        Ok(strace)
    }

    /// Lets go of the process, unless that has ended, and gives what was seen.
    pub(crate) fn detach(mut self) -> anyhow::Result<String> {
        if self.child.try_wait()?.is_none()
            && let Some(id) = Pid::from_raw(self.child.id().try_into()?)
        {
            kill_process(id, Signal::INT).context("cannot stop strace")?;
        }
        self.ended()
    }

    /// What was seen so far.
    pub(crate) fn so_far(&self) -> anyhow::Result<String> {
        fs::read_to_string(&self.log).context("strace left no log")
    }

    /// Waits for the end, which comes with that of the process, and gives what was seen.
    pub(crate) fn ended(&mut self) -> anyhow::Result<String> {
        wait(&mut self.child)?;
        self.so_far()
    }
}

impl Drop for Strace {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One system call in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen<'a> {
    /// The thread that made it; empty where only one was watched.
    pub(crate) thread: &'a str,
    /// Its name.
    pub(crate) name: &'a str,
    /// The whole line.
    pub(crate) line: &'a str,
}

/// The calls of a log, in the order in which they began.
pub(crate) fn calls(log: &str) -> impl Iterator<Item = Seen<'_>> {
    log.lines().filter_map(|line| {
        let (thread, rest) = thread_of(line);
        let (name, _) = rest.split_once('(')?;
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        is_name.then_some(Seen { thread, name, line })
    })
}

/// The thread and the rest of a line.
pub(crate) fn thread_of(line: &str) -> (&str, &str) {
    match line.split_once(' ') {
        Some((thread, rest)) if thread.bytes().all(|b| b.is_ascii_digit()) => (thread, rest.trim_start()),
        _ => ("", line),
    }
}
