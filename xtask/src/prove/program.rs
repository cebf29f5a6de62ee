//! [`Program`]: one `dsh-fs run`, spoken to in JSON lines, as any other program would.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value as Json, json};

/// An answer that takes longer will not come. The lock of a folder alone may be waited for 10 s.
const PATIENCE: Duration = Duration::from_secs(40);

/// A program at work. It is ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

/// A result line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer(Json);

/// What a program does next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Heard {
    /// It answers.
    Answer(Answer),
    /// It ends.
    End,
    /// It is still at work.
    Nothing,
}

impl Program {
    /// Starts it.
    pub(crate) fn start(mut command: Command) -> anyhow::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let (send, lines) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            let stdout = BufReader::new(stdout);
            std::thread::spawn(move || {
                stdout.lines().map_while(Result::ok).try_for_each(|line| send.send(line))
            });
        }
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, lines })
    }

    /// The id of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its threads but the first, which speaks with the outside and waits.
    pub(crate) fn workers(&self) -> anyhow::Result<Vec<u32>> {
        let mut workers = Vec::new();
        for entry in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            workers.extend(entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
        }
        workers.retain(|worker| *worker != self.child.id());
        workers.sort_unstable();
        Ok(workers)
    }

    /// Makes a call and waits for its answer.
    pub(crate) fn call(&mut self, tool: &str, args: Json) -> anyhow::Result<Answer> {
        self.send(tool, args)?;
        self.hear()?.with_context(|| format!("the program ended during a {tool}"))
    }

    /// Makes a call that has to succeed.
    pub(crate) fn must(&mut self, tool: &str, args: Json) -> anyhow::Result<Answer> {
        let answer = self.call(tool, args)?;
        if answer.is_error() {
            bail!("an ordinary {tool} failed: {}", answer.content());
        }
        Ok(answer)
    }

    /// Makes a call.
    #[expect(clippy::needless_pass_by_value, reason = "`json!` reads better than behind a reference")]
    pub(crate) fn send(&mut self, tool: &str, args: Json) -> anyhow::Result<()> {
        self.send_line(&json!({"tool": tool, "args": args}))
    }

    /// Says something.
    pub(crate) fn send_line(&mut self, line: &Json) -> anyhow::Result<()> {
        let line = line.to_string() + "\n";
        let stdin = self.stdin.as_mut().context("its input is closed")?;
        stdin.write_all(line.as_bytes()).context("the program does not listen")
    }

    /// The next answer; `None` if the program has ended instead.
    pub(crate) fn hear(&mut self) -> anyhow::Result<Option<Answer>> {
        match self.hear_within(PATIENCE)? {
            Heard::Answer(answer) => Ok(Some(answer)),
            Heard::End => Ok(None),
            Heard::Nothing => bail!("no answer within {} s", PATIENCE.as_secs()),
        }
    }

    /// What comes first.
    pub(crate) fn hear_within(&mut self, patience: Duration) -> anyhow::Result<Heard> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => {
                Ok(Heard::Answer(Answer(serde_json::from_str(&line).context("an answer is not JSON")?)))
            }
            Err(RecvTimeoutError::Disconnected) => Ok(Heard::End),
            Err(RecvTimeoutError::Timeout) => Ok(Heard::Nothing),
        }
    }

    /// Closes its input and waits for the end.
    pub(crate) fn end(mut self) -> anyhow::Result<ExitStatus> {
        self.stdin = None;
        wait(&mut self.child)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the end of a process, which is ended if that takes too long.
pub(crate) fn wait(child: &mut Child) -> anyhow::Result<ExitStatus> {
    let patience = Instant::now() + PATIENCE;
    while Instant::now() < patience {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill()?;
    child.wait()?;
    bail!("a process did not end within {} s", PATIENCE.as_secs())
}

/// The most memory that a running process had so far, in KiB.
pub(crate) fn peak_memory(process: u32) -> anyhow::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("it has ended")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

impl Answer {
    /// All of the line.
    pub(crate) fn json(&self) -> &Json {
        &self.0
    }

    /// Is it an error result?
    pub(crate) fn is_error(&self) -> bool {
        self.0["isError"] == true
    }

    /// The code of an error result.
    pub(crate) fn code(&self) -> &str {
        self.0["error"]["code"].as_str().unwrap_or_default()
    }

    /// What a model would see.
    pub(crate) fn content(&self) -> &str {
        self.0["content"].as_str().unwrap_or_default()
    }

    /// The metadata.
    pub(crate) fn meta(&self) -> &Json {
        &self.0["meta"]
    }

    /// The canonical value.
    pub(crate) fn canonical(&self) -> &Json {
        &self.0["value"]
    }

    /// A text of the canonical value, such as `before` or `after`.
    pub(crate) fn value(&self, key: &str) -> &str {
        self.0["value"][key].as_str().unwrap_or_default()
    }

    /// The lines of a read, each with its newline.
    pub(crate) fn text(&self) -> String {
        let lines = self.0["value"]["lines"].as_array().map(Vec::as_slice).unwrap_or_default();
        lines.iter().flat_map(|line| [line["text"].as_str().unwrap_or_default(), "\n"]).collect()
    }
}
