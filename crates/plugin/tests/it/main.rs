//! One file for each behaviour.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![expect(clippy::disallowed_methods, reason = "tests prepare files and look at them")]

mod cancelled_driver;
mod composition;
mod events;
mod failing_plugins;
mod inside_apply;
mod probe;
mod reload;
mod services;
mod settings;
mod tree;
mod unwinding;
mod update;
mod waiting;
mod waterfalls;

/// A test file that is not named above would never run.
#[test]
fn every_file_here_is_a_module_of_this_binary() {
    let main = include_str!("main.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it")).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap();
        assert!(
            module == "main" || main.contains(&format!("mod {module};")),
            "{module}.rs is not in main.rs"
        );
    }
}
