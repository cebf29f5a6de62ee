//! `--confine`: the kernel holds the whole process within bounds, as a second wall behind the fence.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use dsh_fs::SandboxMode;
use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible as _, LandlockStatus, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus,
};

use crate::compose::FenceConfig;

/// Since this one no way to write a file's content is left out; Linux 6.2.
const LEAST: ABI = ABI::V3;
/// What it adds is taken where the kernel has it.
const MOST: ABI = ABI::V9;

/// What a confined process can reach.
#[derive(Debug)]
pub(crate) struct Bounds {
    /// Temporary files and the program's own: they can be written in every mode.
    scratch: Vec<PathBuf>,
    workspaces: Vec<PathBuf>,
    /// `None`: everything can be read.
    readable: Option<Vec<PathBuf>>,
}

impl Bounds {
    /// With `workspaces` unless the fence is for reading only. A mode that permits more than that is of no use here.
    pub(crate) fn new(workspaces: Vec<PathBuf>, scratch: Vec<PathBuf>, fence: Option<&FenceConfig>) -> Self {
        let writes = fence.is_none_or(|fence| fence.mode != SandboxMode::ReadOnly);
        let roots = fence.map(|fence| &fence.read_roots).filter(|roots| !roots.is_empty());
        let workspaces = if writes { workspaces } else { Vec::new() };
        Self { scratch, workspaces, readable: roots.cloned() }
    }
}

/// Confines this thread, and those that it starts from now on, for good.
pub(crate) fn confine(bounds: &Bounds) -> anyhow::Result<()> {
    let mut handled = AccessFs::from_write(MOST);
    if bounds.readable.is_some() {
        handled |= AccessFs::from_read(MOST);
    }
    let mut rules = ruleset(handled)?;
    for folder in &bounds.scratch {
        // Texts that are too long to be shown are private.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.with_context(|| format!("--confine: cannot make {}", folder.display()))?;
        rules = permit(rules, folder, handled)?;
    }
    for folder in &bounds.workspaces {
        rules = permit(rules, folder, AccessFs::from_write(MOST))?;
    }
    for folder in bounds.readable.iter().flatten() {
        rules = permit(rules, folder, AccessFs::from_read(MOST))?;
    }
    let status = rules.restrict_self().context("--confine: the kernel does not confine this process")?;
    ensure!(
        status.ruleset != RulesetStatus::NotEnforced,
        "--confine: the kernel does not confine this process"
    );
    Ok(())
}

/// The version of Landlock that this kernel has; `None` if it has none. Tried by a thread that ends with the answer.
pub(crate) fn version() -> Option<String> {
    let tried = std::thread::spawn(|| -> Option<RestrictionStatus> {
        let rules = Ruleset::default().handle_access(AccessFs::from_write(LEAST)).ok()?.create().ok()?;
        rules.restrict_self().ok()
    });
    match tried.join().ok()??.landlock {
        LandlockStatus::Available { kernel_abi: Some(newer), .. } => Some(newer.to_string()),
        LandlockStatus::Available { effective_abi, .. } => Some(effective_abi.to_string()),
        _ => None,
    }
}

fn ruleset(handled: BitFlags<AccessFs>) -> anyhow::Result<RulesetCreated> {
    let needed = handled & (AccessFs::from_write(LEAST) | AccessFs::from_read(LEAST));
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(needed)
        .context("--confine: this kernel cannot confine a process: Landlock is missing, switched off, or older than Linux 6.2")?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)
        .and_then(Ruleset::create)
        .context("--confine: cannot prepare the confinement")?;
    Ok(rules)
}

fn permit(
    rules: RulesetCreated,
    folder: &Path,
    access: BitFlags<AccessFs>,
) -> anyhow::Result<RulesetCreated> {
    let at = || format!("--confine: cannot permit {}", folder.display());
    let opened = PathFd::new(folder).with_context(at)?;
    rules.add_rule(PathBeneath::new(opened, access)).with_context(at)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests;
