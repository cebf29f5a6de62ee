//! What a user of the contract pays: the number of crates that come with `dsh-fs`.

use std::collections::BTreeSet;
use std::path::Path;

use crate::problem::Problem;
use crate::workspace::cargo;

/// The number of crates that `dsh-fs` and all it imports stay under.
const LIMIT: usize = 40;

/// The tree of `dsh-fs` alone, one crate a line. `cargo metadata` cannot tell: there the features of all members are
/// united, so that what the command line turns on would count for the contract.
pub fn tree(root: &Path) -> anyhow::Result<String> {
    cargo(
        root,
        &[
            "tree",
            "--locked",
            "--package",
            "dsh-fs",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ],
    )
}

/// Counts the crates of a tree.
pub fn check(tree: &str) -> Vec<Problem> {
    let crates: BTreeSet<&str> =
        tree.lines().filter_map(|line| line.split(" (").next()).filter(|name| !name.is_empty()).collect();
    if crates.len() < LIMIT {
        return Vec::new();
    }
    let all = crates.iter().copied().collect::<Vec<_>>().join(", ");
    let what =
        format!("{} crates with all that it imports, and must stay under {LIMIT}: {all}", crates.len());
    vec![Problem::at("dsh-fs", what)]
}
