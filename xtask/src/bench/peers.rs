//! [`Peers`]: the published programs that ours is measured beside, and how they are installed and started.
//!
//! What is installed, and in which version, stands in `benches/peers`. It is kept below the target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

use crate::bench::peer::{Peer, Protocol};
use crate::repository::home;
use crate::workspace::target_folder;

const RUST_SERVER: (&str, &str) = ("rust-mcp-filesystem", "0.4.5");

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// npm `@deepseek-ai/dsh-tool-fs` and what it needs: the same tools, in another language.
    Reference,
    /// npm `@modelcontextprotocol/server-filesystem`.
    JsServer,
    /// crate `rust-mcp-filesystem`.
    RustServer,
}

/// Where they are.
#[derive(Debug)]
pub(crate) struct Peers {
    base: PathBuf,
    /// Why it is not there.
    node: Result<(), String>,
    rust: Result<(), String>,
}

impl Which {
    pub(crate) const ALL: [Self; 3] = [Self::Reference, Self::JsServer, Self::RustServer];

    /// As tables call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reference => "the reference",
            Self::JsServer => "server-filesystem",
            Self::RustServer => RUST_SERVER.0,
        }
    }
}

impl Peers {
    /// Installs what is not there yet; that one of them cannot be installed is for [`Peers::missing`] to say.
    pub(crate) fn install(say: fn(&str)) -> anyhow::Result<Self> {
        let base = target_folder(&home())?.join("bench-peers");
        fs::create_dir_all(&base)?;
        say("  installing peers");
        let node = install_node(&base).map_err(|error| format!("{error:#}"));
        let rust = install_rust(&base).map_err(|error| format!("{error:#}"));
        Ok(Self { base, node, rust })
    }

    /// Why it takes no part; `None` if it does.
    pub(crate) fn missing(&self, which: Which) -> Option<&str> {
        let found = if which == Which::RustServer { &self.rust } else { &self.node };
        found.as_ref().err().map(String::as_str)
    }

    /// Starts it to work in a folder; `None` if it is not there.
    pub(crate) fn start(&self, which: Which, workspace: &Path) -> anyhow::Result<Option<Peer>> {
        if self.missing(which).is_some() {
            return Ok(None);
        }
        let modules = self.base.join("node_modules");
        let mut command = match which {
            Which::Reference | Which::JsServer => Command::new(modules.join("node/bin/node")),
            Which::RustServer => Command::new(self.base.join("bin").join(RUST_SERVER.0)),
        };
        let protocol = match which {
            Which::Reference => {
                command.arg(self.base.join("reference.mjs"));
                Protocol::Lines
            }
            Which::JsServer => {
                command.arg(modules.join("@modelcontextprotocol/server-filesystem/dist/index.js"));
                Protocol::Mcp
            }
            Which::RustServer => {
                command.arg("--allow-write");
                Protocol::Mcp
            }
        };
        command.arg(workspace).current_dir(workspace);
        Peer::start(command, protocol).with_context(|| format!("{} does not start", which.name())).map(Some)
    }
}

fn install_node(base: &Path) -> anyhow::Result<()> {
    let source = home().join("benches").join("peers");
    fs::copy(source.join("reference.mjs"), base.join("reference.mjs"))?;
    let wanted = fs::read_to_string(source.join("package.json"))?;
    let stamp = base.join("installed.json");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    fs::write(base.join("package.json"), &wanted)?;
    run(Command::new("npm").current_dir(base).args([
        "install",
        "--no-package-lock",
        "--no-audit",
        "--no-fund",
    ]))?;
    Ok(fs::write(stamp, wanted)?)
}

fn install_rust(base: &Path) -> anyhow::Result<()> {
    let (name, version) = RUST_SERVER;
    run(Command::new("cargo")
        .current_dir(base)
        .args(["install", "--quiet", "--locked", name, "--version", version, "--root"])
        .arg(base)
        .arg("--target-dir")
        .arg(base.join("build")))
}

/// Its last words are the reason if it fails.
fn run(command: &mut Command) -> anyhow::Result<()> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {command:?}"))?;
    let words = String::from_utf8_lossy(&output.stderr);
    let last = words.trim().lines().next_back().unwrap_or_default();
    ensure!(output.status.success(), "{} failed: {last}", command.get_program().to_string_lossy());
    Ok(())
}
