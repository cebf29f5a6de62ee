//! [`Ground`]: the folder that the proofs work in, the program they work with, and how much of it all.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use tempfile::TempDir;

/// Where a proof works.
#[derive(Debug)]
pub struct Ground {
    base: TempDir,
    scale: f64,
    seed: u64,
}

impl Ground {
    /// A new folder below `place`, with a copy of the program that every user can start.
    pub fn new(place: &Path, program: &Path, scale: f64) -> anyhow::Result<Self> {
        let place = place.canonicalize().with_context(|| format!("there is no {}", place.display()))?;
        let base = tempfile::Builder::new().prefix("dsh-fs-prove-").tempdir_in(&place)?;
        fs::set_permissions(base.path(), Permissions::from_mode(0o755))?;
        let copy = base.path().join("dsh-fs");
        fs::copy(program, &copy).with_context(|| format!("cannot copy {}", program.display()))?;
        fs::set_permissions(&copy, Permissions::from_mode(0o755))?;
        Ok(Self { base, scale, seed: 1 })
    }

    /// With another first seed for what is generated.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The folder, links resolved: as it appears in traces.
    pub fn path(&self) -> &Path {
        self.base.path()
    }

    /// An empty folder in it that every user can walk through.
    pub fn folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.path().join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        fs::create_dir_all(&folder)?;
        fs::set_permissions(&folder, Permissions::from_mode(0o755))?;
        Ok(folder)
    }

    /// The program, about to work in `workspace`.
    pub fn program(&self, workspace: &Path) -> Command {
        self.command(&["run", "--values"], workspace)
    }

    /// The program with other arguments.
    pub fn command(&self, arguments: &[&str], workspace: &Path) -> Command {
        let mut command = Command::new(self.path().join("dsh-fs"));
        command.args(arguments).arg("--cwd").arg(workspace).env_remove("DSH_LOG").current_dir("/");
        command
    }

    /// The scale that was asked for; 1 is the full one.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The first seed of what is generated.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// A number of repetitions at this scale, one at least.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "numbers of repetitions are small"
    )]
    pub fn scaled(&self, full: usize) -> usize {
        ((full as f64 * self.scale).round() as usize).max(1)
    }

    /// What the file system below a path is called.
    pub fn file_system(&self) -> anyhow::Result<String> {
        let mounts = fs::read_to_string("/proc/self/mounts")?;
        let mut best: Option<(usize, &str)> = None;
        for line in mounts.lines() {
            let mut fields = line.split(' ').skip(1);
            let (Some(at), Some(kind)) = (fields.next(), fields.next()) else { continue };
            // Of two mounts on one place the later one is on top.
            if self.path().starts_with(at) && best.is_none_or(|(length, _)| at.len() >= length) {
                best = Some((at.len(), kind));
            }
        }
        Ok(best.map_or("unknown", |(_, kind)| kind).to_owned())
    }
}

/// Fails, with what to install, if one of these commands is missing.
pub(crate) fn need(commands: &[&str]) -> anyhow::Result<()> {
    let missing: Vec<&str> = commands.iter().copied().filter(|name| !is_installed(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    bail!(
        "not installed: {} (Debian's packages are strace, xfsprogs, btrfs-progs, acl, ripgrep, util-linux; `./test` installs them)",
        missing.join(", ")
    )
}

fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).any(|file| file.is_file())
}
