//! One run of the crash sweep: a fresh workspace, one mutation with one disturbance, and what is left of it.

use std::fmt;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use rustix::fs::{XattrFlags, setxattr};
use serde_json::{Value as Json, json};

use crate::prove::crash::{Injection, is_of_workspace};
use crate::prove::ground::Ground;
use crate::prove::program::{Answer, Heard, Program};
use crate::prove::strace::{Strace, calls, thread_of};

/// Without a fence, whose looks at the disk come before the publication and are split among threads as it happens.
const COMPOSITION: &str = "\
- name: dsh-fs-local
- name: dsh-fs-observation-policy
- name: dsh-tool-fs
";

/// A time limit that no call meets. A call that has one is not made on the program's first thread but handed to its
/// workers, as a server's calls are.
const LIMIT: u32 = 600_000;

/// How long is waited before asking whether the answer can still come.
const WAKE: Duration = Duration::from_millis(500);

/// What is disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file in a folder that has to be made too.
    Create,
    /// A `write` to a file that is there.
    Overwrite,
    /// An `edit`.
    Edit,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "create",
            Self::Overwrite => "overwrite",
            Self::Edit => "edit",
        })
    }
}

impl Kind {
    fn file(self) -> &'static str {
        if self == Self::Create { "new/a.txt" } else { "a.txt" }
    }

    fn call(self) -> (&'static str, Json) {
        match self {
            Self::Create | Self::Overwrite => {
                ("write", json!({"file_path": self.file(), "content": self.new_text()}))
            }
            Self::Edit => {
                let new = json!({"file_path": self.file(), "old_string": "line 100 old", "new_string": "line 100 new"});
                ("edit", new)
            }
        }
    }

    /// What is there before; `None`: nothing.
    fn old_text(self) -> Option<String> {
        (self != Self::Create).then(|| lines(400, "old"))
    }

    fn new_text(self) -> String {
        match (self, self.old_text()) {
            (Self::Edit, Some(old)) => old.replace("line 100 old", "line 100 new"),
            _ => lines(300, "written"),
        }
    }
}

/// Numbered, so that no two places look the same.
fn lines(count: usize, word: &str) -> String {
    (0..count).flat_map(|line| [format!("line {line} "), word.to_owned(), "\n".to_owned()]).collect()
}

/// What one run came to.
#[derive(Debug)]
pub(crate) struct Run {
    /// The log of strace.
    pub(crate) trace: String,
    /// `None`: the process was killed.
    answer: Option<Answer>,
    /// What the file holds; `None`: it is not there.
    bytes: Option<Vec<u8>>,
    /// Everything in the workspace but the file.
    others: Vec<String>,
    /// What is wrong with the ordinary call after it.
    after: Option<String>,
}

/// Makes one run in `folder`, which is emptied before. `None`: the disturbance did not meet the call that it was meant
/// for, because the threads shared the work in another way than before.
pub(crate) fn run(
    ground: &Ground,
    folder: &Path,
    kind: Kind,
    injection: Option<&Injection>,
) -> anyhow::Result<Option<Run>> {
    let workspace = folder.join("w");
    if workspace.exists() {
        fs::remove_dir_all(&workspace)?;
    }
    fs::create_dir(&workspace)?;
    let file = workspace.join(kind.file());
    if let Some(old) = kind.old_text() {
        fs::write(&file, old)?;
        fs::set_permissions(&file, Permissions::from_mode(0o640))?;
        setxattr(&file, "user.note", b"kept", XattrFlags::empty()).context("cannot set an attribute")?;
    }
    let composition = folder.join("compose.yaml");
    fs::write(&composition, COMPOSITION)?;
    let start = || {
        let composition = composition.to_str().context("a path that is not UTF-8")?;
        Program::start(ground.command(&["run", "--values", "--compose", composition], &workspace))
    };
    let mut program = start()?;
    warm_up(&mut program, &folder.join("other.txt"))?;
    if kind != Kind::Create {
        program.must("read", json!({"file_path": kind.file()}))?;
    }
    let options = injection.map_or_else(Vec::new, |Injection { point, error }| {
        let what = error.map_or_else(|| "signal=KILL".to_owned(), |error| format!("error={error}"));
        let inject = format!("inject={}:{what}:when={}", point.call, point.when);
        vec!["-e".to_owned(), format!("trace={}", point.call), "-e".to_owned(), inject]
    });
    let workers = program.workers()?;
    let mut strace = Strace::attach(&workers, folder.join("trace"), &options)?;
    let (tool, args) = kind.call();
    by_workers(&mut program, tool, &args)?;
    let answer = match program.hear_within(WAKE)? {
        Heard::Answer(answer) => Some(answer),
        Heard::End => None,
        // The call that wakes the first thread is a worker's, and a point that the threads shared in another way may be it.
        Heard::Nothing
            if injection.is_some_and(|i| !is_reached(&strace.so_far().unwrap_or_default(), i, folder)) =>
        {
            return Ok(None);
        }
        Heard::Nothing => program.hear()?,
    };
    let trace = if answer.is_none() { strace.ended()? } else { strace.detach()? };
    if injection.is_some_and(|injection| !is_reached(&trace, injection, folder)) {
        return Ok(None);
    }
    if answer.is_some() && program.workers()? != workers {
        // A new thread did a part of it, unwatched.
        return Ok(None);
    }
    let bytes = fs::read(&file).ok();
    let others = others(&workspace, kind.file())?;
    if answer.is_none() {
        drop(program);
        program = start()?;
    }
    let after = next_call(&mut program, &file).err().map(|error| format!("{error:#}"));
    program.end()?;
    Ok(Some(Run { trace, answer, bytes, others, after }))
}

/// Makes a call that workers do.
fn by_workers(program: &mut Program, tool: &str, args: &Json) -> anyhow::Result<()> {
    program.send_line(&json!({"tool": tool, "args": args, "abort": LIMIT}))
}

/// Lets the process do what it does once, and start the workers that a replacement needs: one replaces, another frees what was
/// replaced.
fn warm_up(program: &mut Program, file: &Path) -> anyhow::Result<()> {
    for content in ["once\n", "twice\n"] {
        by_workers(program, "write", &json!({"file_path": file, "content": content}))?;
        let answer = program.hear()?.context("the program ended while it warmed up")?;
        anyhow::ensure!(!answer.is_error(), "an ordinary write failed: {}", answer.content());
    }
    fs::remove_file(file).context("cannot remove what was written to warm up")
}

/// Did the disturbance happen, at the call that it was meant for and nowhere else?
fn is_reached(trace: &str, injection: &Injection, folder: &Path) -> bool {
    let workspace = folder.to_string_lossy();
    let disturbed = |line: &str| match injection.error {
        // The last words of every thread.
        None => line.contains("= ?"),
        Some(_) => line.contains("(INJECTED)"),
    };
    if injection.error.is_none() && !trace.contains("+++ killed by SIGKILL +++") {
        return false;
    }
    let mut meant = calls(trace)
        .filter(|seen| seen.name == injection.point.call && is_of_workspace(seen.line, &workspace))
        .skip(injection.point.nth - 1);
    let Some(meant) = meant.next() else { return false };
    let mut ends = trace.lines().filter(|line| disturbed(line));
    let (Some(end), None) = (ends.next(), ends.next()) else { return false };
    // Where another thread got in between, strace tells the end of a call on a line of its own.
    match thread_of(end) {
        (thread, rest) if rest.starts_with("<...") => {
            let before = &trace[..trace.find(end).unwrap_or_default()];
            calls(before).filter(|seen| seen.thread == thread).last() == Some(meant)
        }
        _ => meant.line == end,
    }
}

/// Everything below the workspace but one file and the folder of a new one, if that file is there.
fn others(workspace: &Path, file: &str) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    let mut folders = vec![workspace.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            names.push(path.strip_prefix(workspace)?.to_string_lossy().into_owned());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    let there = names.iter().any(|name| name == file);
    names.retain(|name| name != file && !(there && file.starts_with(&format!("{name}/"))));
    Ok(names)
}

/// An ordinary change of whatever is there now.
fn next_call(program: &mut Program, file: &Path) -> anyhow::Result<()> {
    if file.exists() {
        program.must("read", json!({"file_path": file}))?;
    }
    program.must("write", json!({"file_path": file, "content": "next\n"}))?;
    anyhow::ensure!(fs::read(file)? == b"next\n", "the next call did not change the file");
    Ok(())
}

impl Run {
    /// What breaks the rules.
    pub(crate) fn problems(&self, kind: Kind, injection: Option<&Injection>) -> Vec<String> {
        let mut problems = Vec::new();
        let old = kind.old_text().map(String::into_bytes);
        let (is_old, is_new) = (self.bytes == old, self.bytes == Some(kind.new_text().into_bytes()));
        match &self.answer {
            None if injection.is_none_or(|i| i.error.is_some()) => {
                problems.push("the program ended".to_owned());
            }
            None if is_old || is_new => {}
            None => problems.push("killed: the file is neither the old one nor the new one".to_owned()),
            Some(answer) if answer.is_error() => {
                if !answer.code().starts_with("FS_") {
                    problems.push(format!("an error without a code of its own: {}", answer.content()));
                }
                if !is_old {
                    problems.push(format!("an error, but not the old file: {}", answer.content()));
                }
            }
            Some(answer) => {
                if !is_new {
                    problems.push(format!("success, but not the new file: {}", answer.content()));
                }
                if injection.is_some_and(|i| i.point.call == "fsync" && i.error != Some("EINTR"))
                    && answer.meta()["durable"] != Json::Bool(false)
                {
                    problems
                        .push("an fsync failed, and the result does not say that it may not last".to_owned());
                }
            }
        }
        problems.extend(self.leftovers(kind, injection));
        problems.extend(self.after.iter().map(|why| format!("the next call: {why}")));
        problems
    }

    /// At most one stage file of a killed replacement; nothing in all other cases. What is made to fail may be the
    /// removal itself.
    fn leftovers(&self, kind: Kind, injection: Option<&Injection>) -> Option<String> {
        let killed = self.answer.is_none();
        let unremovable = injection.is_some_and(|i| i.error.is_some() && i.point.call == "unlinkat");
        let (stages, others): (Vec<_>, Vec<_>) = self.others.iter().partition(|name| is_stage(name));
        let stages_allowed = usize::from(killed && kind != Kind::Create || unremovable);
        // The folder that was made for the new file stays empty.
        let folder_allowed = (killed || unremovable) && kind == Kind::Create;
        let bad =
            stages.len() > stages_allowed || others.iter().any(|name| !(folder_allowed && *name == "new"));
        bad.then(|| format!("left behind: {}", self.others.join(", ")))
    }
}

fn is_stage(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|name| name.starts_with(".dsh-") && name.len() == 17)
}
