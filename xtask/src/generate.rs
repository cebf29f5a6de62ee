//! The pages that are derived from code.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use clap::ValueEnum;

pub mod model;
pub mod options;
pub mod tools;

/// A page that `cargo xtask generate` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Page {
    /// docs/tools.md: what a model is told of each tool
    Tools,
    /// docs/options.md: what each row of a composition can be given
    Options,
    /// docs/model-experience.md: what a model sees of every tool and refusal
    Model,
}

/// Whether a page in the repository is the one that the code gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It is, to the byte.
    Current,
    /// It is not, or is not there.
    Outdated,
}

impl Page {
    /// Where it lies, from the root of the repository.
    pub fn path(self) -> &'static str {
        match self {
            Self::Tools => "docs/tools.md",
            Self::Options => "docs/options.md",
            Self::Model => "docs/model-experience.md",
        }
    }

    /// The page as the code gives it.
    pub fn text(self) -> anyhow::Result<String> {
        match self {
            Self::Tools => tools::page(),
            Self::Options => options::page(),
            Self::Model => model::page(),
        }
    }

    /// Compares with what lies below `root`.
    pub fn freshness(self, root: &Path) -> anyhow::Result<Freshness> {
        let current = fs::read_to_string(root.join(self.path())).ok();
        Ok(if current == Some(self.text()?) { Freshness::Current } else { Freshness::Outdated })
    }

    /// Writes it below `root`.
    pub fn write(self, root: &Path) -> anyhow::Result<()> {
        let path = root.join(self.path());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        fs::write(&path, self.text()?).with_context(|| format!("cannot write {}", path.display()))
    }
}
