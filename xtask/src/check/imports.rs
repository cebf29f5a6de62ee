//! Who may import whom: a crate's place in the picture is what it does not know.

use crate::problem::Problem;
use crate::workspace::Workspace;

/// What a crate may import from this workspace.
enum May {
    Import(&'static [&'static str]),
    ImportAll,
}

/// By folder, as ARCHITECTURE.md has it. Tests may import what they like.
const TABLE: [(&str, May); 12] = [
    ("plugin", May::Import(&[])),
    ("fs", May::Import(&["plugin"])),
    ("fs-check", May::Import(&["fs"])),
    ("fs-local", May::Import(&["plugin", "fs"])),
    ("fs-sandbox", May::Import(&["plugin", "fs", "harness"])),
    ("fs-object", May::Import(&["plugin", "fs"])),
    ("fs-observation-policy", May::Import(&["plugin", "fs"])),
    ("harness", May::Import(&["plugin"])),
    ("tool-fs", May::Import(&["plugin", "fs", "harness"])),
    ("tool-fs-search", May::Import(&["plugin", "fs", "harness"])),
    ("mcp", May::Import(&["plugin", "harness"])),
    ("cli", May::ImportAll),
];

/// Checks names, folders and imports of the members.
pub fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (member, folder) in workspace.members() {
        if folder == "xtask" {
            continue;
        }
        let Some(short) = folder.strip_prefix("crates/") else {
            problems.push(Problem::at(folder, "a crate lives in crates/"));
            continue;
        };
        if member.name != format!("dsh-{short}") {
            problems.push(Problem::at(
                folder,
                format!("the crate must be called dsh-{short}, not {}", member.name),
            ));
        }
        let Some((_, may)) = TABLE.iter().find(|(known, _)| *known == short) else {
            let row = "is not in the import table; a new crate is a decision: add its row to xtask/src/check/imports.rs";
            problems.push(Problem::at(&member.name, row));
            continue;
        };
        for (other, other_folder) in workspace.members() {
            let import = other_folder.strip_prefix("crates/").unwrap_or(other_folder);
            let allowed = match may {
                May::ImportAll => import != "xtask",
                May::Import(allowed) => allowed.contains(&import),
            };
            if !allowed && member.imports.contains(&other.name) {
                let allowed = match may {
                    May::Import([]) => "none".to_owned(),
                    May::Import(allowed) => allowed.join(", "),
                    May::ImportAll => "every crate".to_owned(),
                };
                let what = format!("imports {}; of this workspace it may import {allowed}", other.name);
                problems.push(Problem::at(&member.name, what));
            }
        }
    }
    problems
}
