//! The spill store on the local disk: private files in a private folder.
//!
//! The folder is held by a descriptor and everything in it made and removed relative to that, no link followed: whoever
//! puts another folder or a link in its place gets nothing written there.
//!
//! The only module of this crate that opens files.
#![expect(
    clippy::disallowed_methods,
    reason = "spilled texts are the harness's own files, not the workspace's"
)]

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::fs::{DirBuilder, File};
use std::hash::BuildHasher as _;
use std::io::{self, Write as _};
use std::num::NonZeroU64;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dsh_plugin::{Context, Failure, PlainError, Plugin};
use futures_util::future::BoxFuture;
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, mkdirat, open, openat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use crate::file_name::encoded;
use crate::settings::positive_integer;
use crate::spill::{SPILL_STORE, SpillRequest, SpillStore, Spilled};

const RETRIEVAL_HINT: &str = "Use read with offset/limit, or grep this path to search within it.";

/// How often a name that is taken, or a folder that another process has just removed, is tried again.
const ATTEMPTS: usize = 16;

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const NEW_FILE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Provides the service [`SPILL_STORE`] on the local disk.
///
/// A text becomes the file `<root>/session-<12 hex of the id's SHA-256>/<12 random hex>-<name>`, mode 0600 in folders of
/// mode 0700; the locator is its absolute path. What one run of the plugin has written is removed when the plugin is
/// unloaded; a process that is killed leaves it.
#[derive(Debug, Clone)]
pub struct SpillLocalPlugin {
    temp: PathBuf,
}

/// The settings of [`SpillLocalPlugin`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SpillLocalConfig {
    /// The folder for texts that are too long to be shown; it is made when it is needed, and stays. Default: a private
    /// folder among the temporary files, which goes with the plugin.
    pub root: Option<PathBuf>,
    /// Most bytes of all kept texts together. The oldest go first; a text that is longer than this is not kept.
    #[serde(deserialize_with = "max_bytes")]
    #[schemars(with = "u64", range(min = 1))]
    pub max_bytes: NonZeroU64,
}

impl Default for SpillLocalConfig {
    fn default() -> Self {
        const MAX_BYTES: NonZeroU64 = NonZeroU64::MIN.saturating_add(256 * 1024 * 1024 - 1);
        Self { root: None, max_bytes: MAX_BYTES }
    }
}

impl SpillLocalPlugin {
    /// `temp` is an absolute path, the folder of temporary files, for where no `root` is set.
    pub fn new(temp: PathBuf) -> Self {
        Self { temp }
    }
}

impl Plugin for SpillLocalPlugin {
    type Config = SpillLocalConfig;

    fn name(&self) -> &'static str {
        "spill-local"
    }

    async fn apply(&self, ctx: Context, config: SpillLocalConfig) -> Result<(), Failure> {
        let root = match config.root {
            Some(root) => {
                check_root(&root)?;
                // Without a slash at the end, which would follow a link.
                Root::Configured { path: root.components().collect(), made: None }
            }
            None => Root::Temporary { base: self.temp.clone(), made: None },
        };
        let max_bytes = config.max_bytes.get();
        let kept = Kept { root, max_bytes, files: VecDeque::new(), bytes: 0, closed: false };
        let store = LocalSpillStore { kept: Arc::new(Mutex::new(kept)) };
        // Undone last: by then nobody can ask for the service any more.
        let kept = store.kept.clone();
        ctx.effect_async("spilled texts", move || async move {
            if let Err(error) = blocking(move || lock(&kept).close()).await {
                tracing::warn!(%error, "spilled texts were left behind");
            }
        })?;
        ctx.provide::<dyn SpillStore>(SPILL_STORE, Arc::new(store))?;
        Ok(())
    }
}

struct LocalSpillStore {
    kept: Arc<Mutex<Kept>>,
}

impl SpillStore for LocalSpillStore {
    fn save_text(&self, request: SpillRequest) -> BoxFuture<'_, Result<Spilled, Failure>> {
        let kept = self.kept.clone();
        Box::pin(blocking(move || lock(&kept).save(&request)))
    }
}

/// What is on the disk.
struct Kept {
    root: Root,
    max_bytes: u64,
    /// Oldest first.
    files: VecDeque<Spill>,
    bytes: u64,
    /// The plugin is unloaded: whoever still holds the service must not write what nobody would remove.
    closed: bool,
}

/// A file that was written, to be removed from where it was.
struct Spill {
    root: Arc<Held>,
    session: String,
    name: String,
    bytes: u64,
}

/// A folder that was opened, and where it was then.
struct Held {
    path: PathBuf,
    folder: OwnedFd,
}

/// Opened at the first save.
enum Root {
    Configured {
        path: PathBuf,
        made: Option<Arc<Held>>,
    },
    /// Made below `base`.
    Temporary {
        base: PathBuf,
        made: Option<Temporary>,
    },
}

struct Temporary {
    base: OwnedFd,
    name: String,
    root: Arc<Held>,
}

impl Kept {
    fn save(&mut self, request: &SpillRequest) -> Result<Spilled, Failure> {
        if self.closed {
            return Err(plain("the spill store is closed".to_owned()));
        }
        let bytes = request.content.len() as u64;
        let max_bytes = self.max_bytes;
        if bytes > max_bytes {
            return Err(plain(format!(
                "a text of {bytes} bytes is over the {max_bytes}-byte cap of the spill store"
            )));
        }
        self.make_room(bytes)?;
        let root = self.root.make()?;
        let session = session_folder(&request.owner.header().id);
        let (name, mut file) = root.create(&session, &encoded(&request.suggested_name))?;
        let spill = Spill { root, session, name, bytes };
        let path = spill.path();
        let written = file.write_all(request.content.as_bytes());
        if written.is_ok() || spill.remove().is_err() {
            // What could not be removed now is tried again later.
            self.files.push_back(spill);
            self.bytes += bytes;
        }
        match written {
            Ok(()) => {
                let locator = path.display().to_string();
                Ok(Spilled { locator, bytes, retrieval_hint: RETRIEVAL_HINT.to_owned() })
            }
            Err(error) => Err(failed("write", &path, &error)),
        }
    }

    /// Drops the oldest texts until so many bytes can be added.
    fn make_room(&mut self, bytes: u64) -> Result<(), Failure> {
        while self.bytes > self.max_bytes - bytes
            && let Some(oldest) = self.files.front()
        {
            oldest.remove().map_err(|error| failed("remove", &oldest.path(), &error))?;
            self.bytes -= oldest.bytes;
            self.files.pop_front();
        }
        Ok(())
    }

    /// Removes everything that was written. The first failure is told, the rest is removed all the same.
    fn close(&mut self) -> Result<(), Failure> {
        self.closed = true;
        self.bytes = 0;
        let mut told = Ok(());
        for spill in self.files.drain(..) {
            let removed = spill.remove().map_err(|error| failed("remove", &spill.path(), &error));
            told = told.and(removed);
        }
        if let Root::Temporary { made: Some(made), .. } = &self.root {
            let removed = made.remove().map_err(|error| failed("remove", &made.root.path, &error));
            told = told.and(removed);
        }
        told
    }
}

impl Root {
    /// The folder, which is where its path leads.
    fn make(&mut self) -> Result<Arc<Held>, Failure> {
        match self {
            Self::Configured { path, made } => {
                let held = match made {
                    Some(held) => held.clone(),
                    None => made.insert(Arc::new(configured(path)?)).clone(),
                };
                if held.is_there() {
                    return Ok(held);
                }
                // To make it again would be to follow whatever leads there now.
                Err(plain(format!("the spill folder \"{}\" is not the one that was opened", path.display())))
            }
            Self::Temporary { base, made } => {
                // Many systems remove temporary files that are old, and then somebody else may have taken the name.
                let there = made.take().filter(|made| made.root.is_there());
                Ok(made.insert(there.map_or_else(|| temporary(base), Ok)?).root.clone())
            }
        }
    }
}

impl Held {
    /// Is this still what its path leads to?
    fn is_there(&self) -> bool {
        is_at(&self.folder, CWD, &self.path)
    }

    /// Makes a file that was not there, and the session's folder where needed.
    fn create(&self, session: &str, name: &str) -> Result<(String, File), Failure> {
        retried(
            || {
                let made = mkdirat(&self.folder, session, Mode::RWXU);
                let folder =
                    match (made, openat(&self.folder, session, FOLDER | OFlags::NOFOLLOW, Mode::empty())) {
                        // A link is not followed: it is somebody else's.
                        (Err(Errno::EXIST), Err(Errno::NOTDIR | Errno::LOOP)) => return Err(Errno::EXIST),
                        (Ok(()) | Err(Errno::EXIST), opened) => opened?,
                        (Err(errno), _) => return Err(errno),
                    };
                let name = format!("{}-{name}", random_hex());
                let file = openat(&folder, &name, NEW_FILE, Mode::RUSR | Mode::WUSR);
                if file.is_err() {
                    self.remove_if_empty(session);
                }
                Ok((name, File::from(file?)))
            },
            // Of two processes with one root, one may remove the empty folder that the other has just found.
            |errno| matches!(*errno, Errno::EXIST | Errno::NOENT),
        )
        .map_err(|errno| failed("create a file in", &self.path.join(session), &errno.into()))
    }

    fn remove_if_empty(&self, session: &str) {
        // Refused as long as something is in it.
        let _ = unlinkat(&self.folder, session, AtFlags::REMOVEDIR);
    }
}

impl Spill {
    fn path(&self) -> PathBuf {
        self.root.path.join(&self.session).join(&self.name)
    }

    /// Removes the file, and its folder with the last one in it.
    fn remove(&self) -> io::Result<()> {
        let root = &self.root;
        let folder = openat(&root.folder, &self.session, FOLDER | OFlags::NOFOLLOW, Mode::empty());
        gone(folder.and_then(|folder| unlinkat(folder, &self.name, AtFlags::empty())))?;
        root.remove_if_empty(&self.session);
        Ok(())
    }
}

impl Temporary {
    /// It is ours alone, so whatever else is in it goes too.
    fn remove(&self) -> io::Result<()> {
        clear(self.root.folder.as_fd())?;
        if !is_at(&self.root.folder, self.base.as_fd(), Path::new(&self.name)) {
            return Ok(());
        }
        gone(unlinkat(&self.base, &self.name, AtFlags::REMOVEDIR))
    }
}

/// A locator is text, and means the same wherever it is read.
fn check_root(root: &Path) -> Result<(), Failure> {
    if root.is_absolute() && root.to_str().is_some() {
        return Ok(());
    }
    Err(plain(format!("the spill folder \"{}\" must be an absolute path in UTF-8", root.display())))
}

/// Opens a folder of a person's choice, made where needed. It may lie behind links, but must be none.
fn configured(path: &Path) -> Result<Held, Failure> {
    DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(path)
        .map_err(|error| failed("create", path, &error))?;
    let folder = open(path, FOLDER | OFlags::NOFOLLOW, Mode::empty());
    let folder = folder.map_err(|errno| failed("open", path, &errno.into()))?;
    Ok(Held { path: path.to_owned(), folder })
}

/// Makes a folder that was not there, under a name that nobody can foresee.
fn temporary(base: &Path) -> Result<Temporary, Failure> {
    check_root(base)?;
    let made = open(base, FOLDER, Mode::empty()).and_then(|folder| {
        let (name, root) = retried(
            || {
                let name = format!("dsh-spill-{:.6}", random_hex());
                mkdirat(&folder, &name, Mode::RWXU)?;
                let root = openat(&folder, &name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
                if is_private(&fstat(&root)?) { Ok((name, root)) } else { Err(Errno::EXIST) }
            },
            |errno| *errno == Errno::EXIST,
        )?;
        let root = Arc::new(Held { path: base.join(&name), folder: root });
        Ok(Temporary { base: folder, name, root })
    });
    made.map_err(|errno| failed("create a folder in", base, &errno.into()))
}

/// Is the folder ours alone? Between its making and its opening it could have become another one.
fn is_private(folder: &Stat) -> bool {
    let others = Mode::RWXG | Mode::RWXO;
    folder.st_uid == geteuid().as_raw() && !Mode::from_raw_mode(folder.st_mode).intersects(others)
}

/// Does the path lead to this very folder? A link at its end does not.
fn is_at(held: &OwnedFd, start: BorrowedFd<'_>, path: &Path) -> bool {
    match (fstat(held), statat(start, path, AtFlags::SYMLINK_NOFOLLOW)) {
        (Ok(held), Ok(there)) => (held.st_dev, held.st_ino) == (there.st_dev, there.st_ino),
        _ => false,
    }
}

/// Removes all that is in a folder. Links are removed, not followed.
fn clear(folder: BorrowedFd<'_>) -> io::Result<()> {
    let listed = openat(folder, c".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    for entry in Dir::new(listed)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        if !found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory) {
            gone(unlinkat(folder, name, AtFlags::empty()))?;
            continue;
        }
        clear(openat(folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?.as_fd())?;
        gone(unlinkat(folder, name, AtFlags::REMOVEDIR))?;
    }
    Ok(())
}

fn retried<T>(
    mut attempt: impl FnMut() -> rustix::io::Result<T>,
    passing: impl Fn(&Errno) -> bool,
) -> rustix::io::Result<T> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(errno) if passing(&errno) => {}
            settled => return settled,
        }
    }
    attempt()
}

/// What is not there is removed.
fn gone(removed: rustix::io::Result<()>) -> io::Result<()> {
    match removed {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
        removed => Ok(removed?),
    }
}

fn session_folder(id: &str) -> String {
    let digest = Sha256::digest(id);
    let first = digest.iter().take(6).fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    format!("session-{first:012x}")
}

/// Twelve hexadecimal digits that nobody can foresee: the keys of the standard library's hasher are random.
pub(crate) fn random_hex() -> String {
    let bits = RandomState::new().hash_one(std::process::id());
    format!("{:012x}", bits >> 16)
}

/// Does what blocks on Tokio's threads for that; outside a runtime on the spot.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    match Handle::try_current() {
        Ok(runtime) => match runtime.spawn_blocking(work).await {
            Ok(result) => result,
            Err(error) => Err(plain(format!("the spill store's work ended unexpectedly: {error}"))),
        },
        Err(_) => work(),
    }
}

/// The state is right after every statement, so a lock that a panic has poisoned is as good as any.
fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

fn max_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NonZeroU64, D::Error> {
    let value = Json::deserialize(deserializer)?;
    positive_integer(&value)
        .ok_or_else(|| D::Error::custom("spill-local: maxBytes must be a positive integer"))
}

fn failed(what: &str, path: &Path, error: &io::Error) -> Failure {
    plain(format!("cannot {what} \"{}\": {error}", path.display()))
}

fn plain(message: String) -> Failure {
    PlainError::new(message).into()
}
