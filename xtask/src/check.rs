//! The checks, by name.

use std::path::Path;

use clap::ValueEnum;

use crate::problem::Problem;
use crate::repository::Repository;
use crate::workspace::Workspace;

pub mod budget;
pub mod deny;
pub mod docs;
pub mod forbidden;
pub mod imports;
pub mod licences;
pub mod modules;
pub mod readme;
pub mod sources;

/// A rule of the repository that a program can check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Check {
    /// Crates import only what the import table allows, and are named after their folders
    Imports,
    /// `dsh-fs` with all that it imports stays under its number of crates
    Budget,
    /// Modules and crates have their pages, the map names every crate, long files say why
    Docs,
    /// Every dependency has a licence that deny.toml allows
    Licences,
    /// Every dependency comes from the default registry
    Sources,
    /// cargo-deny finds nothing, where it is installed
    Deny,
    /// Examples in READMEs are the files that they name, to the byte
    Readme,
    /// Every source file is named by a `mod` line
    Modules,
    /// No unfinished marks, paths of one machine, lints left out, or exceptions in the wrong place
    Forbidden,
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The rule holds.
    Held,
    /// It does not, and why.
    Broken(Vec<Problem>),
    /// The check could not be made here, and why.
    NotMade(&'static str),
}

impl Check {
    /// Makes the check on the repository in `root`. An error means that it could not be read, not that it is bad.
    pub fn run(self, root: &Path) -> anyhow::Result<Verdict> {
        let problems = match self {
            Self::Imports => imports::check(&Workspace::read(root)?),
            Self::Budget => budget::check(&budget::tree(root)?),
            Self::Docs => docs::check(&Repository::read(root)?),
            Self::Licences => {
                let repository = Repository::read(root)?;
                licences::check(&Workspace::read(root)?, &licences::allowed(&repository)?)
            }
            Self::Sources => sources::check(&Workspace::read(root)?),
            Self::Deny if !deny::installed(root) => {
                return Ok(Verdict::NotMade("cargo-deny is not installed"));
            }
            Self::Deny => deny::check(root),
            Self::Readme => readme::check(&Repository::read(root)?),
            Self::Modules => modules::check(&Repository::read(root)?),
            Self::Forbidden => forbidden::check(&Repository::read(root)?)?,
        };
        Ok(if problems.is_empty() { Verdict::Held } else { Verdict::Broken(problems) })
    }
}
