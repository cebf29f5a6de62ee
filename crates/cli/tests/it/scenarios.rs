//! What users and the reference taught us, through the binary that cargo built for this test.

use std::process::Command;

use serde_json::Value as Json;

/// Recordings of the reference that a decided behaviour contradicts, and the one difference each may show.
///
/// A file that was deleted after it was read is re-created like any new file, `0666 & ~umask` (DESIGN §4.4); the
/// reference makes it `600`. And all mode bits survive a change, set-id bits too (DESIGN §4.4, scenario
/// `write.mode-kept-3`); the reference drops those.
const DECIDED_OTHERWISE: [(&str, &str); 4] = [
    ("write.deleted-after-read", "final a.txt.mode at 1: want '600' got '644'"),
    ("write.deleted-with-parent", "final dir/a.txt.mode at 1: want '600' got '644'"),
    ("edit.mode-preserved", "final suid.mode at 0: want '755' got '4755'"),
    ("policy.bare-write-deleted", "final a.txt.mode at 1: want '600' got '644'"),
];

const AREAS: &str = "read,write,edit,encoding,policy,args,concurrency,sandbox";
const TOOLS: &str = "read,write,edit,glob,grep";

#[test]
fn all_scenarios_pass_but_those_that_a_decision_contradicts() {
    let testdata = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata");
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let output = Command::new("python3")
        .current_dir(testdata)
        .args(["run.py", "--bin", env!("CARGO_BIN_EXE_dsh-fs"), "--jobs", "2"])
        .args(["--areas", AREAS, "--tools", TOOLS, "--json-report"])
        .arg(&report)
        .args(["reference.jsonl", "cases.jsonl"])
        .env_remove("DSH_LOG")
        .output()
        .expect("python3 runs the scenarios");
    let said = String::from_utf8_lossy(&output.stdout);
    let report = std::fs::read_to_string(&report)
        .unwrap_or_else(|error| panic!("{error}\n{said}{}", String::from_utf8_lossy(&output.stderr)));
    let outcomes: Vec<Json> = serde_json::from_str(&report).unwrap();
    let with = |status: &str| {
        let chosen = outcomes.iter().filter(|outcome| outcome["status"] == status);
        chosen
            .map(|outcome| (outcome["id"].as_str().unwrap(), outcome["why"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    let text = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(id, why)| format!("{id}: {why}")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(text(&with("failed")), text(&DECIDED_OTHERWISE), "the scenarios that fail");
    // Owners and other users' files need root; everything else runs everywhere.
    let root = rustix::process::geteuid().is_root();
    let skipped: Vec<_> =
        with("skipped").into_iter().filter(|(_, why)| root || *why != "needs root").collect();
    assert_eq!(text(&skipped), "", "the scenarios that are skipped");
    assert!(outcomes.len() >= 376, "only {} scenarios were selected", outcomes.len());
}
