//! The contract's own code: the text algorithms, the errors, the reference backend.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![expect(clippy::disallowed_methods, reason = "one test looks at the folder of the tests")]

mod arbitrary;
mod digest;
mod errors;
mod line_endings;
mod literal_edit;
mod memory;
mod shown_name;
mod text;
mod turns;

#[test]
fn no_file_is_forgotten() {
    let listed: Vec<_> =
        include_str!("main.rs").lines().filter_map(|line| line.strip_prefix("mod ")).collect();
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = format!("{};", name.trim_end_matches(".rs"));
        assert!(module == "main;" || listed.contains(&&*module), "{name} is not in main.rs");
    }
}
