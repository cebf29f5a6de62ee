//! [`Workspace`]: the crates and what they bring along, as cargo sees them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

/// The packages of this workspace and all they depend on, on this machine's platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    /// Members and dependencies, sorted by name and version.
    pub packages: Vec<Package>,
}

/// One package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// An SPDX expression, if it has one.
    pub licence: Option<String>,
    /// Where it comes from.
    pub source: Source,
    /// The names of the packages it needs when it is built and run; what only its tests need is left out.
    pub imports: Vec<String>,
}

/// Where a package comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// This repository; the folder, from its root.
    Member(String),
    /// The registry that cargo uses when nothing else is said.
    DefaultRegistry,
    /// Anything else.
    Other(String),
}

impl Workspace {
    /// Asks `cargo metadata` about the workspace in `root`.
    pub fn read(root: &Path) -> anyhow::Result<Self> {
        let metadata = MetadataCommand::new()
            .current_dir(root)
            // Without a platform cargo wants the sources of every platform's dependencies, from the network.
            .other_options(vec!["--locked".to_owned(), "--filter-platform".to_owned(), host()?])
            .exec()
            .context("cargo metadata failed")?;
        Ok(Self::from(&metadata))
    }

    /// The members, sorted by name, each with its folder.
    pub fn members(&self) -> impl Iterator<Item = (&Package, &str)> {
        self.packages.iter().filter_map(|package| match &package.source {
            Source::Member(folder) => Some((package, folder.as_str())),
            _ => None,
        })
    }
}

impl From<&Metadata> for Workspace {
    fn from(metadata: &Metadata) -> Self {
        let root = &metadata.workspace_root;
        let used = |package: &&cargo_metadata::Package| {
            // Filtered by platform, the graph has fewer packages than the list.
            metadata.resolve.as_ref().is_none_or(|graph| graph.nodes.iter().any(|node| node.id == package.id))
        };
        let mut packages: Vec<Package> = metadata
            .packages
            .iter()
            .filter(used)
            .map(|package| Package {
                name: package.name.to_string(),
                version: package.version.to_string(),
                licence: package.license.clone(),
                source: match &package.source {
                    Some(source) if source.is_crates_io() => Source::DefaultRegistry,
                    Some(source) => Source::Other(source.to_string()),
                    None => match package.manifest_path.parent().map(|folder| folder.strip_prefix(root)) {
                        Some(Ok(folder)) => Source::Member(folder.to_string()),
                        _ => Source::Other("a folder outside the repository".to_owned()),
                    },
                },
                imports: package
                    .dependencies
                    .iter()
                    .filter(|dependency| dependency.kind != DependencyKind::Development)
                    .map(|dependency| dependency.name.clone())
                    .collect(),
            })
            .collect();
        packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        Self { packages }
    }
}

/// Where cargo puts what it builds.
pub(crate) fn target_folder(root: &Path) -> anyhow::Result<PathBuf> {
    let metadata =
        MetadataCommand::new().current_dir(root).no_deps().exec().context("cargo metadata failed")?;
    Ok(metadata.target_directory.into())
}

/// Runs cargo in `root` and returns what it printed.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let line = || format!("cargo {}", arguments.join(" "));
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root)
        .output()
        .with_context(|| format!("cannot run {}", line()))?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{} failed: {}", line(), told.trim());
    Ok(String::from_utf8(output.stdout)?)
}

/// The platform that rustc compiles for when nothing else is said.
fn host() -> anyhow::Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("cannot run rustc")?;
    let text = String::from_utf8(output.stdout)?;
    let host =
        text.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc -vV tells no host")?;
    Ok(host.to_owned())
}
