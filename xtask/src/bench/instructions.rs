//! How many instructions a start, a read and an edit take: figures that hold on a busy machine too.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use serde_json::json;

use crate::bench::budget::{Made, Table};
use crate::bench::text;
use crate::prove::Ground;

const CALLS: u64 = 100;
const FILE: &str = "a.txt";

/// Counts them.
pub(crate) fn measure(ground: &Ground, say: fn(&str)) -> anyhow::Result<Made> {
    let workspace = ground.folder("counted")?;
    let original = text::text(10 * 1024);
    fs::write(workspace.join(FILE), &original)?;
    let read = json!({"tool": "read", "args": {"file_path": FILE}}).to_string();
    let (old, new) = (text::line(2), text::line(2).to_uppercase());
    let edits: Vec<String> = (0..CALLS)
        .map(|call| {
            let (old, new) = if call % 2 == 0 { (&old, &new) } else { (&new, &old) };
            json!({"tool": "edit", "args": {"file_path": FILE, "old_string": old, "new_string": new}})
                .to_string()
        })
        .collect();
    let start = instructions(ground, &workspace, &[])?;
    let one = instructions(ground, &workspace, std::slice::from_ref(&read))?;
    let more = instructions(ground, &workspace, &vec![read.clone(); 1 + usize::try_from(CALLS)?])?;
    let edited = instructions(ground, &workspace, &[vec![read], edits].concat())?;
    ensure!(fs::read_to_string(workspace.join(FILE))? == original, "the edits did not undo each other");
    let size = fs::metadata(ground.path().join("dsh-fs"))?.len();
    let rows = vec![
        vec!["start, and the end of the input".to_owned(), grouped(start)],
        vec!["the first read of a file of 10 KB".to_owned(), grouped(one.saturating_sub(start))],
        vec!["any further read of it".to_owned(), grouped(more.saturating_sub(one) / CALLS)],
        vec!["an edit of it".to_owned(), grouped(edited.saturating_sub(one) / CALLS)],
    ];
    for row in &rows {
        say(&format!("  {}", row.join("  ")));
    }
    let note = format!("The binary has {} bytes.", grouped(size));
    say(&format!("  {note}"));
    Ok(Made {
        tables: vec![Table { head: vec!["work", "instructions"], rows }],
        budgets: Vec::new(),
        notes: vec![note],
    })
}

/// All of a `dsh-fs run` that is given these lines.
fn instructions(ground: &Ground, workspace: &Path, lines: &[String]) -> anyhow::Result<u64> {
    let program = ground.command(&["run"], workspace);
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program.get_program());
    command.args(program.get_args()).env_remove("DSH_LOG").current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("cannot start valgrind; it is in the package of that name")?;
    let mut stdin = child.stdin.take().context("no way in")?;
    let input: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    // It may be longer than a pipe holds, as the answers may.
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output()?;
    ensure!(writer.join().is_ok_and(|written| written.is_ok()), "the program does not listen");
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "under valgrind the program ended with {}: {said:.500}", output.status);
    let answers = String::from_utf8_lossy(&output.stdout);
    let good = answers.lines().filter(|line| line.contains("\"isError\":false")).count();
    ensure!(good == lines.len(), "{good} of {} calls succeeded", lines.len());
    let Some((_, collected)) = said.split_once("Collected : ") else { bail!("no count in: {said:.500}") };
    Ok(collected.split_whitespace().next().unwrap_or_default().parse()?)
}

/// With commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_parted_by_commas() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
