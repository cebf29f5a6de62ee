//! A harness with toy tools, served over a pair of pipes in memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics has failed")]
#![allow(
    clippy::needless_pass_by_value,
    reason = "`json!` in the argument reads better than behind a reference"
)]

mod asking;
mod client;
mod door;
mod elicit;
mod http_client;
mod listing;
mod media;
mod results;
mod streams;
mod under_way;
mod who;

/// A test file that is not named above would never run.
#[test]
#[expect(clippy::disallowed_methods, reason = "looks at the sources of this test")]
fn every_file_here_is_a_module_of_this_binary() {
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(module == "main" || listed.contains(&format!("\nmod {module};\n")), "{name} is not listed");
    }
}
