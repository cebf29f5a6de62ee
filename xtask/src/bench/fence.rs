//! What the fence costs: the same calls with it and without it.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde_json::json;

use crate::bench::budget::{Budget, Made, Table};
use crate::bench::pairs::{Pairs, microseconds};
use crate::prove::{Ground, Program};

const ROUNDS: usize = 400;
const BYTES: usize = 10 * 1024;
const LIMIT: f64 = 1.2;

struct Case {
    what: &'static str,
    tool: &'static str,
    /// Settings of the fence alone.
    fence: &'static str,
    /// Settings of both.
    both: &'static str,
    limit: Option<f64>,
}

const CASES: [Case; 3] = [
    Case { what: "edit, 10 KB", tool: "edit", fence: "", both: "cwd: w", limit: Some(LIMIT) },
    Case {
        what: "edit, 10 KB, nothing synced",
        tool: "edit",
        fence: "",
        both: "cwd: w, durability: rename",
        limit: None,
    },
    Case {
        what: "read, 10 KB, under read rules",
        tool: "read",
        fence: ", readRoots: [w], deny: [.env, '*.pem', 'secrets/']",
        both: "cwd: w",
        limit: None,
    },
];

/// Measures it.
pub(crate) fn measure(ground: &Ground, say: fn(&str)) -> anyhow::Result<Made> {
    let mut made = Made::default();
    let mut rows = Vec::new();
    for case in &CASES {
        let mut ours = Side::start(
            ground,
            "fenced",
            &format!("dsh-fs-sandbox\n  config: {{ {}{} }}", case.both, case.fence),
        )?;
        let mut theirs =
            Side::start(ground, "unfenced", &format!("dsh-fs-local\n  config: {{ {} }}", case.both))?;
        let pairs =
            Pairs::measure(ground.scaled(ROUNDS), || ours.call(case.tool), || theirs.call(case.tool))?;
        let (fenced, unfenced) = pairs.medians();
        let (ratio, low, high) = pairs.ratio();
        let what = case.what.to_owned();
        rows.push(vec![
            what.clone(),
            microseconds(fenced),
            microseconds(unfenced),
            format!("{ratio:.2} ({low:.2}–{high:.2})"),
        ]);
        say(&format!("  {}", rows[rows.len() - 1].join("  ")));
        made.budgets.extend(case.limit.map(|limit| Budget { what, measured: ratio, limit, unit: "" }));
    }
    made.tables.push(Table { head: vec!["work", "with the fence", "without", "ratio"], rows });
    Ok(made)
}

/// A program and the file that it works on.
struct Side {
    program: Program,
    turn: bool,
}

impl Side {
    fn start(ground: &Ground, name: &str, row: &str) -> anyhow::Result<Self> {
        let base = ground.folder(name)?;
        let workspace = base.join("w");
        fs::create_dir(&workspace)?;
        fs::write(workspace.join("a.txt"), text())?;
        let compose = base.join("compose.yaml");
        fs::write(
            &compose,
            format!("- name: {row}\n- name: dsh-fs-observation-policy\n- name: dsh-tool-fs\n"),
        )?;
        let mut program = Program::start(ground.command(&["run", "--compose", utf8(&compose)?], &workspace))?;
        program.must("read", json!({"file_path": "a.txt"}))?;
        Ok(Self { program, turn: false })
    }

    fn call(&mut self, tool: &str) -> anyhow::Result<()> {
        if tool == "read" {
            return self.program.must(tool, json!({"file_path": "a.txt"})).map(drop);
        }
        let (old, new) = if self.turn { ("turn b", "turn a") } else { ("turn a", "turn b") };
        self.turn = !self.turn;
        self.program.must(tool, json!({"file_path": "a.txt", "old_string": old, "new_string": new})).map(drop)
    }
}

fn text() -> String {
    let mut text = "a line like any other\n".repeat(BYTES / 22 / 2);
    text.push_str("turn a\n");
    text + &"another line, not much longer\n".repeat(BYTES / 30 / 2)
}

fn utf8(path: &Path) -> anyhow::Result<&str> {
    path.to_str().context("a path that is not UTF-8")
}
