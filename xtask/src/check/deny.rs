//! `cargo deny`, which knows licence texts and every platform, where it is installed.

use std::path::Path;

use crate::problem::Problem;
use crate::workspace::cargo;

/// Is there a cargo-deny?
pub fn installed(root: &Path) -> bool {
    cargo(root, &["deny", "--version"]).is_ok()
}

/// Runs it with deny.toml.
pub fn check(root: &Path) -> Vec<Problem> {
    match cargo(root, &["deny", "--log-level", "error", "check", "bans", "licenses", "sources"]) {
        Ok(_) => Vec::new(),
        Err(error) => vec![Problem::at("deny.toml", error.to_string())],
    }
}
