//! Eight processes of ours edit distinct lines of one file: every edit is applied or reported stale, and what was
//! applied is there.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::json;

use crate::prove::ground::Ground;
use crate::prove::program::Program;
use crate::prove::tally::Tally;

const PROCESSES: usize = 8;
const EDITS: usize = 500;

/// What became of the edits of one process, in order.
struct Edits {
    applied: Vec<bool>,
    problems: Vec<String>,
}

/// Makes this part of the proof.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    let workspace = ground.folder("ours")?;
    let edits = ground.scaled(EDITS);
    let file = workspace.join("shared.txt");
    let mut text = String::new();
    for process in 0..PROCESSES {
        for edit in 0..edits {
            writeln!(text, "{} old", name(process, edit))?;
        }
    }
    fs::write(&file, text)?;
    let results = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..PROCESSES)
            .map(|process| {
                let workspace = &workspace;
                scope.spawn(move || work(ground, workspace, process, edits))
            })
            .collect();
        workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    let end = fs::read_to_string(&file)?;
    let lines: Vec<&str> = end.lines().collect();
    let mut applied = 0;
    for (process, result) in results.into_iter().enumerate() {
        let result = result.map_err(|_| anyhow::anyhow!("a worker panicked"))??;
        tally.failures.extend(result.problems);
        for (edit, was_applied) in result.applied.iter().enumerate() {
            applied += usize::from(*was_applied);
            let state = if *was_applied { "new" } else { "old" };
            let expected = format!("{} {state}", name(process, edit));
            let line = lines.get(process * edits + edit).copied().unwrap_or_default();
            tally.check(line == expected, || format!("rivals of ours: \"{line}\" instead of \"{expected}\""));
        }
    }
    let all = PROCESSES * edits;
    tally.check(lines.len() == all, || format!("rivals of ours: {} lines at the end", lines.len()));
    tally.check(applied > 0, || "rivals of ours: no edit was applied".to_owned());
    tally.figure(format!("edits by {PROCESSES} processes, all applied or reported stale"), all);
    tally.figure("of them applied, and in the file at the end", applied);
    Ok(())
}

fn name(process: usize, edit: usize) -> String {
    format!("process {process} edit {edit:05}")
}

fn work(ground: &Ground, workspace: &Path, process: usize, edits: usize) -> anyhow::Result<Edits> {
    let mut program = Program::start(ground.program(workspace))?;
    let mut result = Edits { applied: Vec::new(), problems: Vec::new() };
    for edit in 0..edits {
        let name = name(process, edit);
        let window = json!({"file_path": "shared.txt", "offset": process * edits + edit + 1, "limit": 1});
        program.must("read", window)?;
        let change = json!({
            "file_path": "shared.txt",
            "old_string": format!("{name} old"),
            "new_string": format!("{name} new"),
        });
        let answer = program.call("edit", change)?;
        result.applied.push(!answer.is_error());
        if answer.is_error() && answer.code() != "FS_STALE_VERSION" {
            result.problems.push(format!("rivals of ours: {}", answer.content()));
        }
    }
    program.end()?;
    Ok(result)
}
