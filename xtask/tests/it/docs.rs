use xtask::check::docs::check;

use crate::{repository, told};

const PAGE: &str = "#![doc = include_str!(\"../README.md\")]\n";
const MAP: (&str, &str) = ("ARCHITECTURE.md", "`dsh-fs` and crates/fs-local\n");

#[test]
fn a_house_with_all_its_pages_is_fine() {
    let house = repository([
        MAP,
        ("crates/fs/Cargo.toml", ""),
        ("crates/fs/README.md", "# dsh-fs\n"),
        ("crates/fs/src/lib.rs", PAGE),
        ("crates/fs/src/text.rs", "//! Decoding.\n"),
        ("crates/fs/src/text/tests.rs", "use super::*;\n"),
        ("crates/fs/src/table.rs", "// @generated\n"),
        ("crates/fs/tests/it/text.rs", "use dsh_fs::text;\n"),
        ("docs/decisions/0001-why.md", "# Why\n"),
    ]);
    assert_eq!(told(&check(&house)), Vec::<String>::new());
}

#[test]
fn missing_pages_are_named() {
    let house = repository([
        ("ARCHITECTURE.md", "`dsh-fs-local` holds the disk\n"),
        ("crates/fs/Cargo.toml", ""),
        ("crates/fs/src/lib.rs", "//! x\n"),
        ("crates/fs/src/text.rs", "\nuse std::fmt;\n"),
        ("crates/fs-local/Cargo.toml", ""),
        ("crates/fs-local/README.md", " \n"),
        ("crates/fs-local/src/lib.rs", PAGE),
    ]);
    assert_eq!(
        told(&check(&house)),
        [
            "crates/fs/src/text.rs: a module begins with its page (`//!`): what it holds, and why it is a module",
            "crates/fs-local/README.md: every crate has a README",
            "crates/fs/README.md: every crate has a README",
            "crates/fs/src/lib.rs: the crate page is the README, included, or 3 lines of `//!` at least",
            "ARCHITECTURE.md: does not name `dsh-fs`",
        ]
    );
    assert_eq!(told(&check(&repository([]))), ["ARCHITECTURE.md: there is no map of the house"]);
}

#[test]
fn maps_and_decisions_are_short() {
    let house = repository([
        ("ARCHITECTURE.md", &"line\n".repeat(201)),
        ("docs/decisions/0001-long.md", &"line\n".repeat(61)),
        ("docs/decisions/0002-fine.md", &"line\n".repeat(60)),
    ]);
    assert_eq!(
        told(&check(&house)),
        [
            "ARCHITECTURE.md: 201 lines; a map has 200 at most",
            "docs/decisions/0001-long.md: 61 lines; a decision has 60 at most",
        ]
    );
}

#[test]
fn a_long_file_gives_its_reason() {
    let long =
        "//! A table.\n//!\n//! Long on purpose: it is one table.\n".to_owned() + &"// row\n".repeat(600);
    let silent = "//! A table.\n".to_owned() + &"// row\n".repeat(600);
    let house = repository([
        ("ARCHITECTURE.md", ""),
        ("crates/a/src/fine.rs", long.as_str()),
        ("crates/a/tests/it/table.rs", silent.as_str()),
    ]);
    assert_eq!(
        told(&check(&house)),
        ["crates/a/tests/it/table.rs: 601 lines; a file over 600 gives its reason in its page, after \
          `//! Long on purpose: `"]
    );
}
