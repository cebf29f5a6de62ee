//! Where dependencies come from.

use crate::problem::Problem;
use crate::workspace::{Source, Workspace};

/// Everything that is not ours comes from the default registry.
pub fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for package in &workspace.packages {
        if let Source::Other(source) = &package.source {
            let place = format!("{} {}", package.name, package.version);
            problems.push(Problem::at(place, format!("comes from {source}, not from the default registry")));
        }
    }
    problems
}
