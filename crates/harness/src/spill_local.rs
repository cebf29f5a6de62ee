//! The spill store on the local disk: private files in a private folder.
//!
//! The only module of this crate that opens files.
#![expect(
    clippy::disallowed_methods,
    reason = "spilled texts are the harness's own files, not the workspace's"
)]

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::fmt::Write as _;
use std::fs::{DirBuilder, File};
use std::hash::BuildHasher as _;
use std::io::{self, ErrorKind, Write as _};
use std::num::NonZeroU64;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dsh_plugin::{Context, Failure, PlainError, Plugin};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use crate::settings::positive_integer;
use crate::spill::{SPILL_STORE, SpillRequest, SpillStore, Spilled};

const RETRIEVAL_HINT: &str = "Use read with offset/limit, or grep this path to search within it.";

/// How often a name that is taken, or a folder that another process has just removed, is tried again.
const ATTEMPTS: usize = 16;

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
                Root::Configured(root)
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
    files: VecDeque<(PathBuf, u64)>,
    bytes: u64,
    /// The plugin is unloaded: whoever still holds the service must not write what nobody would remove.
    closed: bool,
}

enum Root {
    Configured(PathBuf),
    /// Made at the first save below `base`.
    Temporary {
        base: PathBuf,
        made: Option<PathBuf>,
    },
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
        let folder = self.root.make()?.join(session_folder(&request.owner.header().id));
        let (path, mut file) = create(&folder, &encoded(&request.suggested_name))?;
        let locator = path.display().to_string();
        let written = file.write_all(request.content.as_bytes());
        if written.is_ok() || remove(&path).is_err() {
            // What could not be removed now is tried again later.
            self.files.push_back((path, bytes));
            self.bytes += bytes;
        }
        match written {
            Ok(()) => Ok(Spilled { locator, bytes, retrieval_hint: RETRIEVAL_HINT.to_owned() }),
            Err(error) => Err(failed("write", Path::new(&locator), &error)),
        }
    }

    /// Drops the oldest texts until so many bytes can be added.
    fn make_room(&mut self, bytes: u64) -> Result<(), Failure> {
        while self.bytes > self.max_bytes - bytes
            && let Some((path, size)) = self.files.front()
        {
            remove(path).map_err(|error| failed("remove", path, &error))?;
            self.bytes -= size;
            self.files.pop_front();
        }
        Ok(())
    }

    /// Removes everything that was written. The first failure is told, the rest is removed all the same.
    fn close(&mut self) -> Result<(), Failure> {
        self.closed = true;
        self.bytes = 0;
        let mut told = Ok(());
        for (path, _) in self.files.drain(..) {
            let removed = remove(&path).map_err(|error| failed("remove", &path, &error));
            told = told.and(removed);
        }
        if let Root::Temporary { made: Some(root), .. } = &self.root {
            // It is ours alone, so whatever else is in it goes too.
            let removed = gone(std::fs::remove_dir_all(root));
            told = told.and(removed.map_err(|error| failed("remove", root, &error)));
        }
        told
    }
}

impl Root {
    /// The folder, which is there afterwards.
    fn make(&mut self) -> Result<&Path, Failure> {
        match self {
            Self::Configured(root) => {
                private_folders()
                    .recursive(true)
                    .create(&*root)
                    .map_err(|error| failed("create", root, &error))?;
                Ok(root)
            }
            Self::Temporary { base, made } => {
                // Many systems remove temporary files that are old.
                let there = made.take().filter(|root| is_folder(root));
                Ok(made.insert(there.map_or_else(|| temporary(base), Ok)?))
            }
        }
    }
}

/// A locator is text, and means the same wherever it is read.
fn check_root(root: &Path) -> Result<(), Failure> {
    if root.is_absolute() && root.to_str().is_some() {
        return Ok(());
    }
    Err(plain(format!("the spill folder \"{}\" must be an absolute path in UTF-8", root.display())))
}

/// Makes a folder that was not there, under a name that nobody can foresee.
fn temporary(base: &Path) -> Result<PathBuf, Failure> {
    check_root(base)?;
    retried(
        || {
            let root = base.join(format!("dsh-spill-{:.6}", random_hex()));
            private_folders().create(&root).map(|()| root)
        },
        |error| error.kind() == ErrorKind::AlreadyExists,
    )
    .map_err(|error| failed("create a folder in", base, &error))
}

/// Makes a file that was not there, and its folder where needed.
fn create(folder: &Path, name: &str) -> Result<(PathBuf, File), Failure> {
    retried(
        || {
            match private_folders().create(folder) {
                // A link is not followed: it is somebody else's.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && is_folder(folder) => {}
                made => made?,
            }
            let path = folder.join(format!("{}-{name}", random_hex()));
            let file = File::options().write(true).create_new(true).mode(0o600).open(&path);
            if file.is_err() {
                remove_if_empty(folder);
            }
            file.map(|file| (path, file))
        },
        // Of two processes with one root, one may remove the empty folder that the other has just found.
        |error| matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound),
    )
    .map_err(|error| failed("create a file in", folder, &error))
}

fn retried<T>(
    mut attempt: impl FnMut() -> io::Result<T>,
    passing: impl Fn(&io::Error) -> bool,
) -> io::Result<T> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(error) if passing(&error) => {}
            settled => return settled,
        }
    }
    attempt()
}

/// Removes a file, and its folder with the last one in it.
fn remove(path: &Path) -> io::Result<()> {
    gone(std::fs::remove_file(path))?;
    path.parent().map(remove_if_empty);
    Ok(())
}

fn remove_if_empty(folder: &Path) {
    // Refused as long as something is in it.
    let _ = std::fs::remove_dir(folder);
}

/// What is not there is removed.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

fn is_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

fn private_folders() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

fn session_folder(id: &str) -> String {
    let digest = Sha256::digest(id);
    let first = digest.iter().take(6).fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    format!("session-{first:012x}")
}

/// Twelve hexadecimal digits that nobody can foresee: the keys of the standard library's hasher are random.
fn random_hex() -> String {
    let bits = RandomState::new().hash_one(std::process::id());
    format!("{:012x}", bits >> 16)
}

/// Any text as one name of a file: letters, digits, `.`, `_` and `-` as they are, any other UTF-16 unit as `~XXXX`.
fn encoded(name: &str) -> String {
    match name {
        "" => return "~".to_owned(),
        "." | ".." => return name.replace('.', "~002E"),
        _ => {}
    }
    let mut encoded = String::new();
    for unit in name.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) => encoded.push(byte.into()),
            // Writing to a `String` cannot fail.
            _ => drop(write!(encoded, "~{unit:04X}")),
        }
    }
    encoded
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
