//! The binary from outside: one file for each command, and one for what goes wrong.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics has failed")]
#![allow(
    clippy::needless_pass_by_value,
    reason = "`json!` in the argument reads better than behind a reference"
)]
#![expect(clippy::disallowed_methods, reason = "tests start the program, prepare files and look at them")]

mod bad_input;
mod bad_input_mcp;
mod binary;
mod call;
mod completions;
mod composition;
mod confine;
mod doctor;
mod fence;
mod help;
mod http;
mod json_lines;
mod log;
mod man;
mod mcp;
mod mcp_calls;
mod prompt;
mod run;
mod scenarios;
mod tools;
mod watch;
mod web;
mod workspace;

/// A test file that is not named above would never run.
#[test]
fn every_file_here_is_a_module_of_this_binary() {
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(module == "main" || listed.contains(&format!("\nmod {module};\n")), "{name} is not listed");
    }
}
