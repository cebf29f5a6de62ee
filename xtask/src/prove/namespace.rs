//! A private mount namespace: a proof that mounts runs again in a process of its own, below `unshare --mount`, and its
//! mounts vanish with it, whatever happens.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use rustix::process::geteuid;

use crate::prove::Proof;
use crate::prove::ground::{Ground, need};
use crate::prove::tally::Tally;

/// All file systems are made and tried well within this.
const PATIENCE: Duration = Duration::from_secs(600);

/// Runs a proof in a namespace of its own.
pub(crate) fn prove(ground: &Ground, proof: Proof, tally: &mut Tally) -> anyhow::Result<()> {
    ensure!(geteuid().is_root(), "only root can mount; run it as root");
    need(&["unshare", "mount", "umount"])?;
    let report = ground.path().join("inside.json");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "--"]).arg(std::env::current_exe()?);
    command.args(["prove", proof.name(), "--scale", &ground.scale().to_string()]);
    command.arg("--program").arg(ground.path().join("dsh-fs")).arg("--place").arg(ground.path());
    command.arg("--inside").arg(&report).stdin(Stdio::null());
    let mut child = command.spawn().context("cannot start unshare")?;
    let end = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > end {
            child.kill()?;
            child.wait()?;
            bail!("the proof did not end within {} s", PATIENCE.as_secs());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    ensure!(status.success(), "the process in the namespace failed: {status}");
    let report = fs::read_to_string(report).context("the process in the namespace left no report")?;
    tally.add(Tally::from_json(&serde_json::from_str(&report)?));
    Ok(())
}

/// Mounts something; `arguments` as for `mount`, without the place.
pub(crate) fn mount(arguments: &[&str], at: &Path) -> anyhow::Result<()> {
    tool(Command::new("mount").args(arguments).arg(at))
}

/// Takes a mount away.
pub(crate) fn unmount(at: &Path) -> anyhow::Result<()> {
    tool(Command::new("umount").arg(at))
}

/// Runs a command of the system, which has to succeed.
pub(crate) fn tool(command: &mut Command) -> anyhow::Result<()> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {}", said.trim());
    Ok(())
}
