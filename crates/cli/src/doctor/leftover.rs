//! One leftover, and the judgement on it.
//!
//! A stage file holds one of three things: a new text that was never published, the old text of a file whose new one was
//! (a process that is killed right after the exchange leaves that), or, after a collision, what another program wrote. From
//! outside they look the same, so the judgement is simple: it is safe to remove what holds no bytes, or the very bytes
//! of another file in the folder. A conflict file was kept because it may be the only copy of somebody's bytes.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use dsh_fs::leftovers::{is_conflict_name, is_stage_name};

const BLOCK: usize = 64 * 1024;

/// Something that our publication left.
#[derive(Debug)]
pub(super) struct Leftover {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) bytes: u64,
    /// Since it got its name or was last changed.
    pub(super) age: Duration,
    pub(super) owner: u32,
    pub(super) judgement: Judgement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Stage,
    Conflict,
}

/// What may become of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// A call may be at work with it.
    InUse,
    /// It has no bytes.
    Empty,
    /// Another file in its folder has the same bytes.
    SameAs(String),
    /// Nobody can tell what it holds.
    Unknown(Kind),
}

impl Kind {
    /// By name alone.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.as_bytes();
        if is_stage_name(name) {
            return Some(Self::Stage);
        }
        is_conflict_name(name).then_some(Self::Conflict)
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Stage => "stage",
            Self::Conflict => "conflict",
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Stage => "stage file",
            Self::Conflict => "conflict file",
        }
    }
}

impl Judgement {
    pub(super) fn is_safe(&self) -> bool {
        matches!(self, Self::Empty | Self::SameAs(_))
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::InUse => "in use",
            Self::Empty | Self::SameAs(_) => "safe",
            Self::Unknown(_) => "keep",
        }
    }

    pub(super) fn reason(&self) -> String {
        match self {
            Self::InUse => "a call may be at work with it".to_owned(),
            Self::Empty => "it is empty".to_owned(),
            Self::SameAs(name) => format!("{name} has the same bytes"),
            Self::Unknown(Kind::Stage) => {
                "may hold somebody's bytes (a text that was never published, or the text before the last change)"
                    .to_owned()
            }
            Self::Unknown(Kind::Conflict) => {
                "may hold somebody's bytes (another program wrote them while the file was replaced)".to_owned()
            }
        }
    }
}

impl Leftover {
    /// Looks at a file; `None` if it is no leftover. What is younger than `young` may be in use.
    pub(super) fn look(path: &Path, young: Duration) -> anyhow::Result<Option<Self>> {
        let Some(kind) = Kind::of(path) else { return Ok(None) };
        let found = fs::symlink_metadata(path).with_context(|| format!("doctor: {}", super::shown(path)))?;
        if !found.is_file() {
            return Ok(None);
        }
        let age = age(&found);
        let judgement = judge(path, kind, &found, age < young);
        let (bytes, owner) = (found.len(), found.uid());
        Ok(Some(Self { path: path.to_owned(), kind, bytes, age, owner, judgement }))
    }
}

/// By the ctime: a file that was exchanged has the times of its content, which may be years old.
fn age(found: &Metadata) -> Duration {
    let since = Duration::from_secs(u64::try_from(found.ctime()).unwrap_or(0));
    SystemTime::now().duration_since(UNIX_EPOCH + since).unwrap_or(Duration::ZERO)
}

fn judge(path: &Path, kind: Kind, found: &Metadata, young: bool) -> Judgement {
    // Whoever publishes in this folder holds its lock as long as there is a stage file.
    let held = kind == Kind::Stage && path.parent().is_some_and(is_locked);
    if kind == Kind::Stage && (young || held) {
        return Judgement::InUse;
    }
    if found.len() == 0 {
        return Judgement::Empty;
    }
    match twin(path, found) {
        Ok(Some(name)) => Judgement::SameAs(name),
        // What cannot be compared is not safe.
        Ok(None) | Err(_) => Judgement::Unknown(kind),
    }
}

/// Does somebody hold the lock of this folder? It is ours for a moment otherwise; a file system without locks says no.
fn is_locked(folder: &Path) -> bool {
    File::open(folder).is_ok_and(|folder| matches!(folder.try_lock(), Err(TryLockError::WouldBlock)))
}

/// The name of another file in the folder, no leftover itself, with the same bytes.
fn twin(path: &Path, found: &Metadata) -> io::Result<Option<String>> {
    let Some(folder) = path.parent() else { return Ok(None) };
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let other = entry.path();
        let Ok(kind) = entry.metadata() else { continue };
        if kind.is_file()
            && kind.len() == found.len()
            // Another name of the same file keeps its bytes too.
            && Kind::of(&other).is_none()
            && same_bytes(path, &other).unwrap_or(false)
        {
            return Ok(Some(entry.file_name().to_string_lossy().into_owned()));
        }
    }
    Ok(None)
}

fn same_bytes(one: &Path, two: &Path) -> io::Result<bool> {
    let (mut one, mut two) = (File::open(one)?, File::open(two)?);
    let mut blocks = [Vec::new(), Vec::new()];
    loop {
        for (file, block) in [&mut one, &mut two].into_iter().zip(&mut blocks) {
            block.clear();
            file.take(BLOCK as u64).read_to_end(block)?;
        }
        if blocks[0] != blocks[1] {
            return Ok(false);
        }
        if blocks[0].is_empty() {
            return Ok(true);
        }
    }
}
