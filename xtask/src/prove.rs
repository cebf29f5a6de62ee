//! The proofs: what the built program does on a real disk when it is killed, meets rivals, or finds no room.
//!
//! Nothing of ours is called here: the program is started and spoken to in JSON lines or over HTTP, as anybody would, and the
//! disk is looked at. A proof counts what it tried ([`Tally`]) and tells what did not hold. All of them are bounded in time and
//! amount; every process is ended by its id; what is mounted is mounted in a namespace that ends with its process.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use clap::ValueEnum;

use crate::repository::home;
use crate::workspace::{cargo, target_folder};

mod bad_connection;
mod crash;
mod crash_run;
mod escape;
mod filesystems;
mod ground;
mod hints;
mod history;
mod metadata;
mod mutations;
mod namespace;
mod objects;
mod ours;
mod program;
mod readers;
mod report;
mod ripgrep;
mod rivals;
mod serve;
mod strace;
mod strangers;
mod tally;
mod touched;

pub use ground::Ground;
pub use history::{Call, History, Outcome, Write};
pub use report::{Machine, page};
pub use tally::Tally;

pub(crate) use program::{Program, peak_memory};
pub(crate) use ripgrep::rg_version;

/// Something that is claimed of the disk, and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Proof {
    /// Killed at, and failing at, every system call of a mutation
    Crash,
    /// Other processes of ours, and programs that know nothing of us
    Rivals,
    /// Readers see one version
    Readers,
    /// ext4 or what the disk has, tmpfs, full, read-only, overlayfs, xfs, btrfs
    Filesystems,
    /// Modes, owners, attributes, ACLs, links, permissions
    Metadata,
    /// grep and glob against the real rg
    Ripgrep,
    /// A rival that swaps folders and files for links that lead out of the fence
    Escape,
    /// Refusals of damaged edits name the place and the reason
    Hints,
    /// Many sessions over HTTP: load, slow and broken clients, a kill
    Serve,
    /// Processes that share an object in a store, over a good and a bad connection; only with --store
    Objects,
}

/// An object store that a proof may work in.
#[derive(Clone, Debug, clap::Args)]
#[group(requires_all = ["url", "endpoint"])]
pub struct Store {
    /// A bucket or container; credentials come from the environment
    #[arg(id = "url", long = "store", value_name = "URL", required = false)]
    pub url: String,
    /// Where its server listens, without TLS
    #[arg(long, value_name = "URL", required = false)]
    pub endpoint: String,
}

/// How the proofs are made.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Which proofs; without a name, all of them
    #[arg(value_enum)]
    pub proofs: Vec<Proof>,
    /// How much of it: 1 is what docs/reliability.md reports
    #[arg(long, default_value_t = 1.0)]
    pub scale: f64,
    /// Write the figures into this page, if all proofs were made and hold
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// The program; without it, a release build of this repository
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// A folder on the disk to work in; every user must be able to walk to it
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    pub place: PathBuf,
    /// The first seed of what is generated
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The store for the proof of objects
    #[command(flatten)]
    pub store: Option<Store>,
    /// Make one proof here, where it may mount, and leave its figures in this file
    #[arg(long, value_name = "FILE", hide = true)]
    pub inside: Option<PathBuf>,
}

impl Proof {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Rivals => "rivals",
            Self::Readers => "readers",
            Self::Filesystems => "filesystems",
            Self::Metadata => "metadata",
            Self::Ripgrep => "ripgrep",
            Self::Escape => "escape",
            Self::Hints => "hints",
            Self::Serve => "serve",
            Self::Objects => "objects",
        }
    }

    fn mounts(self) -> bool {
        matches!(self, Self::Filesystems | Self::Metadata)
    }

    /// Those that need nothing but this machine.
    fn all() -> Vec<Self> {
        Self::value_variants().iter().copied().filter(|proof| *proof != Self::Objects).collect()
    }

    /// Makes it here.
    fn make(self, ground: &Ground, store: Option<&Store>, tally: &mut Tally) -> anyhow::Result<()> {
        match self {
            Self::Crash => crash::prove(ground, tally),
            Self::Rivals => rivals::prove(ground, tally),
            Self::Readers => readers::prove(ground, tally),
            Self::Filesystems => filesystems::prove(ground, tally),
            Self::Metadata => metadata::prove(ground, tally),
            Self::Ripgrep => ripgrep::prove(ground, tally),
            Self::Escape => escape::prove(ground, tally),
            Self::Hints => hints::prove(ground, tally),
            Self::Serve => serve::prove(ground, tally),
            Self::Objects => objects::prove(ground, store.context("it wants --store and --endpoint")?, tally),
        }
    }
}

/// Makes the proofs and says on the way how they end. `false`: one of them does not hold.
pub fn prove(options: &Options, say: fn(&str)) -> anyhow::Result<bool> {
    ensure!(options.scale > 0.0 && options.scale <= 1.0, "--scale is above 0 and at most 1");
    let program = options.program.clone().map_or_else(build, Ok)?;
    let ground = Ground::new(&options.place, &program, options.scale)?.seeded(options.seed);
    if let Some(file) = &options.inside {
        let [proof] = options.proofs[..] else { bail!("--inside takes one proof") };
        let mut tally = Tally::default();
        note(proof.make(&ground, options.store.as_ref(), &mut tally), &mut tally);
        fs::write(file, tally.to_json().to_string())?;
        return Ok(true);
    }
    let all = Proof::all();
    let proofs = if options.proofs.is_empty() { &all } else { &options.proofs };
    let complete = all.iter().all(|proof| proofs.contains(proof));
    ensure!(options.report.is_none() || complete, "--report wants all proofs");
    let mut made = Vec::new();
    for &proof in proofs {
        let (began, mut tally) = (Instant::now(), Tally::default());
        say(&format!("{}:", proof.name()));
        let result = if proof.mounts() {
            namespace::prove(&ground, proof, &mut tally)
        } else {
            proof.make(&ground, options.store.as_ref(), &mut tally)
        };
        note(result, &mut tally);
        tally.seconds = began.elapsed().as_secs_f64();
        tally.lines(proof.name()).iter().for_each(|line| say(line));
        made.push((proof, tally));
    }
    let holds = made.iter().all(|(_, tally)| tally.holds());
    match &options.report {
        Some(file) if holds => {
            let text = page(&made, options.scale, &Machine::this(&ground)?);
            fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
            say(&format!("{} is written", file.display()));
        }
        Some(file) => say(&format!("{} is not written: it reports proofs that hold", file.display())),
        None => {}
    }
    Ok(holds)
}

/// A proof that could not be made does not hold.
fn note(result: anyhow::Result<()>, tally: &mut Tally) {
    if let Err(error) = result {
        tally.fail(format!("could not be made to the end: {error:#}"));
    }
}

/// A release build of this repository.
pub(crate) fn build() -> anyhow::Result<PathBuf> {
    let arguments = ["build", "--quiet", "--locked", "--release", "--bin", "dsh-fs"];
    cargo(&home(), &arguments)?;
    Ok(target_folder(&home())?.join("release").join("dsh-fs"))
}
