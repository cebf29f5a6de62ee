//! One binary, one file per behaviour.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![expect(clippy::disallowed_methods, reason = "tests prepare files and look at them from outside")]

mod approval;
mod cancellation;
mod definitions;
mod door;
mod log_file;
mod pipeline;
mod post_execute;
mod registry;
mod report;
mod restriction;
mod results;
mod scheduler;
mod schema;
mod session_log;
mod settings;
mod spill_local;
mod system_prompt;
mod timeout_policy;
mod toys;

/// A file without its `mod` line would be tests that never run.
#[test]
fn every_file_is_compiled() {
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap();
        assert!(module == "main" || listed.contains(&format!("\nmod {module};\n")), "{name} is not listed");
    }
}
