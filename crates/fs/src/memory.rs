//! Files in memory: the contract in its simplest complete form, for tests and for embedders without a disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use async_trait::async_trait;

use crate::digest::Digest;
use crate::line_endings::{Dress, to_lf};
use crate::literal_edit::{LiteralEdit, Piece};
use crate::{
    BytesRead, EditOutcome, FileSystem, FsCall, FsDirEntry, FsError, FsInfo, FsKind, FsOp, FsPathInfo,
    FsPathKind, FsTarget, FsVersion, NotText, ReadRules, ResumePoint, SandboxMode, TargetKey, TextChunk,
    TextChunks, TextRead, TextStream, WriteGuard, WriteOperation, WriteOutcome, text,
};

/// A file system in memory: `/`-separated absolute paths, no links, no permissions.
///
/// A version is the digest of the bytes and the number of the change that put them there; guards compare the digest.
#[derive(Debug, Default)]
pub struct MemoryFileSystem {
    tree: Mutex<Tree>,
}

#[derive(Debug, Default)]
struct Tree {
    files: BTreeMap<String, File>,
    folders: BTreeSet<String>,
    changes: u64,
}

#[derive(Clone, Debug)]
struct File {
    bytes: Arc<[u8]>,
    change: u64,
    modified: SystemTime,
}

impl MemoryFileSystem {
    /// An empty file system: the folder `/` and nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// A file system that holds these files (absolute paths) and the folders above them.
    pub fn with_files<P: AsRef<str>, B: AsRef<[u8]>>(files: impl IntoIterator<Item = (P, B)>) -> Self {
        let fs = Self::new();
        for (path, bytes) in files {
            fs.put(path.as_ref(), bytes.as_ref());
        }
        fs
    }

    /// Puts a file there as another program would: no guard, no event.
    pub fn put(&self, path: &str, bytes: &[u8]) {
        self.tree().put(fold("/", path), bytes.into());
    }

    /// Makes a folder, and those above it.
    pub fn put_folder(&self, path: &str) {
        self.tree().put_folder(&fold("/", path));
    }

    /// Removes a file as another program would. Was it there?
    pub fn remove(&self, path: &str) -> bool {
        self.tree().files.remove(&fold("/", path)).is_some()
    }

    /// The bytes of a file; `None` where there is none.
    pub fn bytes(&self, path: &str) -> Option<Arc<[u8]>> {
        self.tree().files.get(&fold("/", path)).map(|file| file.bytes.clone())
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        // Every change below is one insertion, so a panic elsewhere leaves no half-made tree behind.
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, target: &FsTarget, op: FsOp) -> Result<File, FsError> {
        self.tree().regular(target, op)?.ok_or_else(|| FsError::not_found(op, target.display_path()))
    }
}

impl Tree {
    fn put(&mut self, path: String, bytes: Arc<[u8]>) -> FsVersion {
        self.put_folder(parent(&path));
        self.changes += 1;
        let file = File { bytes, change: self.changes, modified: SystemTime::now() };
        let version = file.version();
        self.files.insert(path, file);
        version
    }

    fn put_folder(&mut self, path: &str) {
        let mut at = path;
        while at != "/" && self.folders.insert(at.to_owned()) {
            at = parent(at);
        }
    }

    fn is_folder(&self, path: &str) -> bool {
        path == "/" || self.folders.contains(path)
    }

    /// Does a path go on below a file?
    fn is_below_file(&self, path: &str) -> bool {
        let mut above = parent(path);
        while above != "/" && !self.files.contains_key(above) {
            above = parent(above);
        }
        above != "/"
    }

    /// What a path as written means.
    fn resolve(&self, path: &str, cwd: Option<&Path>) -> Result<String, FsError> {
        let resolved = checked(cwd.and_then(Path::to_str).unwrap_or("/"), path)?;
        if self.is_below_file(&resolved) {
            return Err(FsError::parent_not_directory(&resolved));
        }
        if path.ends_with('/') && !self.is_folder(&resolved) {
            return Err(FsError::slash_names_folder(&resolved));
        }
        Ok(resolved)
    }

    /// The file at a target; `None` where nothing is, an error where a folder is.
    fn regular(&self, target: &FsTarget, op: FsOp) -> Result<Option<File>, FsError> {
        let path = path_of(target);
        if self.is_folder(path) {
            return Err(FsError::not_regular_file(op, target.display_path()));
        }
        Ok(self.files.get(path).cloned())
    }

    fn info(&self, path: &str) -> Option<FsInfo> {
        if self.is_folder(path) {
            return Some(FsInfo { version: FsVersion::new("folder"), kind: FsKind::Directory, size: None });
        }
        let file = self.files.get(path)?;
        Some(FsInfo { version: file.version(), kind: FsKind::File, size: Some(file.bytes.len() as u64) })
    }
}

impl File {
    fn version(&self) -> FsVersion {
        FsVersion::new(format!("{};{}", Digest::of(&self.bytes), self.change))
    }

    fn is(&self, version: &FsVersion) -> bool {
        version.token().split_once(';').is_some_and(|(digest, _)| {
            Digest::parse(digest).is_some_and(|expected| expected == Digest::of(&self.bytes))
        })
    }

    /// Where to go on, if that is in this very version and a line begins there.
    fn start_of_line(&self, from: &ResumePoint) -> Option<usize> {
        let start = usize::try_from(from.offset).ok()?;
        let begins = start == 0 || self.bytes.get(start - 1) == Some(&b'\n');
        (begins && from.version == self.version()).then_some(start)
    }

    fn text(&self, op: FsOp, target: &FsTarget) -> Result<&str, FsError> {
        text::decode(&self.bytes).map_err(|why| self.not_text(why, op, target))
    }

    fn not_text(&self, why: NotText, op: FsOp, target: &FsTarget) -> FsError {
        FsError::not_text(op, target.display_path(), why).with_met(self.version())
    }
}

#[async_trait]
impl FileSystem for MemoryFileSystem {
    async fn resolve(&self, path: &str, cwd: Option<&Path>, call: &FsCall) -> Result<FsTarget, FsError> {
        call.check(FsOp::Resolve)?;
        Ok(target(self.tree().resolve(path, cwd)?))
    }

    fn process_path(&self, _target: &FsTarget) -> Option<PathBuf> {
        None
    }

    fn file_url(&self, target: &FsTarget) -> String {
        let path = target.key().as_bytes().iter().map(|&byte| {
            if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        });
        format!("memory://{}", path.collect::<String>())
    }

    fn contains(&self, parent: &FsTarget, child: &FsTarget) -> bool {
        let (parent, child) = (path_of(parent), path_of(child));
        child
            .strip_prefix(parent)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || parent == "/")
    }

    async fn stat(&self, target: &FsTarget, call: &FsCall) -> Result<Option<FsInfo>, FsError> {
        call.check(FsOp::Stat)?;
        Ok(self.tree().info(path_of(target)))
    }

    async fn lstat(
        &self,
        path: &str,
        cwd: Option<&Path>,
        call: &FsCall,
    ) -> Result<Option<FsPathInfo>, FsError> {
        call.check(FsOp::Lstat)?;
        let tree = self.tree();
        let resolved = tree.resolve(path, cwd)?;
        Ok(tree.info(&resolved).map(|info| FsPathInfo {
            version: info.version,
            kind: if info.kind == FsKind::File { FsPathKind::File } else { FsPathKind::Directory },
            size: info.size,
        }))
    }

    async fn read_text(&self, target: &FsTarget, call: &FsCall) -> Result<TextRead, FsError> {
        call.check(FsOp::Read)?;
        let file = self.read(target, FsOp::Read)?;
        let text = file.text(FsOp::Read, target)?.to_owned();
        Ok(TextRead { text, version: file.version() })
    }

    async fn stream_text(
        &self,
        target: &FsTarget,
        resume: Option<&ResumePoint>,
        call: &FsCall,
    ) -> Result<TextStream, FsError> {
        call.check(FsOp::Read)?;
        let file = self.read(target, FsOp::Read)?;
        let text = file.text(FsOp::Read, target)?;
        let mut at = file.bytes.len() - text.len();
        if let Some(from) = resume {
            let Some(start) = file.start_of_line(from) else { return Ok(TextStream::Changed) };
            at = at.max(start);
        }
        Ok(TextStream::Open(Box::new(Chunks { file, at, given: false, call: call.clone() })))
    }

    async fn read_bytes(&self, target: &FsTarget, max: u64, call: &FsCall) -> Result<BytesRead, FsError> {
        call.check(FsOp::Read)?;
        let file = self.read(target, FsOp::Read)?;
        let size = file.bytes.len() as u64;
        if size > max {
            return Err(FsError::too_large(target.display_path(), size, max));
        }
        Ok(BytesRead { bytes: file.bytes.to_vec(), version: file.version() })
    }

    async fn list_dir(&self, folder: &FsTarget, call: &FsCall) -> Result<Vec<FsDirEntry>, FsError> {
        call.check(FsOp::List)?;
        let tree = self.tree();
        let path = path_of(folder);
        if !tree.is_folder(path) {
            let display = folder.display_path();
            return Err(if tree.files.contains_key(path) {
                FsError::not_directory(display)
            } else {
                FsError::not_found(FsOp::List, display)
            });
        }
        let children: BTreeSet<&String> =
            tree.files.keys().chain(&tree.folders).filter(|p| parent(p) == path).collect();
        Ok(children
            .into_iter()
            .filter_map(|child| {
                let info = tree.info(child)?;
                let name = child.rsplit('/').next()?.to_owned();
                let display = format!("{}/{name}", folder.display_path().trim_end_matches('/'));
                Some(FsDirEntry {
                    name,
                    kind: info.kind,
                    target: FsTarget::new(key(child), display),
                    version: Some(info.version),
                    size: info.size,
                    modified: tree.files.get(child).map(|file| file.modified),
                    is_link: false,
                })
            })
            .collect())
    }

    async fn write_text(
        &self,
        target: &FsTarget,
        content: &str,
        guard: Option<&WriteGuard>,
        call: &FsCall,
    ) -> Result<WriteOutcome, FsError> {
        call.check(FsOp::Write)?;
        let mut tree = self.tree();
        let display = target.display_path();
        let old = tree.regular(target, FsOp::Write)?;
        match (guard, &old) {
            (Some(WriteGuard::CreateIfAbsent), Some(_)) => return Err(FsError::exists(display)),
            (Some(WriteGuard::ReplaceIfVersion(_)), None) => return Err(FsError::gone(display)),
            (Some(WriteGuard::ReplaceIfVersion(version)), Some(file)) if !file.is(version) => {
                return Err(FsError::changed(FsOp::Write, display));
            }
            // Since the target was resolved, what was to be a folder above it has become a file.
            _ if tree.is_below_file(path_of(target)) => return Err(FsError::parent_not_directory(display)),
            _ => {}
        }
        let basis = old.as_ref().and_then(|file| Some((&file.bytes, text::decode(&file.bytes).ok()?)));
        let dress = basis.map_or_else(Dress::default, |(bytes, text)| Dress::of(bytes, text));
        let before = basis.map(|(_, text)| Arc::from(to_lf(text)));
        let version = tree.put(path_of(target).to_owned(), dress.put_on(content).into());
        Ok(WriteOutcome {
            operation: if old.is_some() { WriteOperation::Update } else { WriteOperation::Create },
            version,
            before,
            after: to_lf(content).into(),
            durable: true,
        })
    }

    async fn edit_text(
        &self,
        target: &FsTarget,
        edit: &LiteralEdit,
        guard: Option<&FsVersion>,
        call: &FsCall,
    ) -> Result<EditOutcome, FsError> {
        call.check(FsOp::Edit)?;
        let mut tree = self.tree();
        let display = target.display_path();
        let file = tree.regular(target, FsOp::Edit)?.ok_or_else(|| FsError::changed(FsOp::Edit, display))?;
        if guard.is_some_and(|version| !file.is(version)) {
            return Err(FsError::changed(FsOp::Edit, display));
        }
        let text =
            text::decode_owned(file.bytes.to_vec()).map_err(|why| file.not_text(why, FsOp::Edit, target))?;
        let edited = edit.apply(text).map_err(|miss| miss.in_file(display))?;
        let bytes: String = edited.pieces().map(Piece::text).collect();
        let version = tree.put(path_of(target).to_owned(), bytes.into_bytes().into());
        Ok(EditOutcome { version, texts: edited.into_texts(), durable: true })
    }

    fn sandbox_mode(&self) -> Option<SandboxMode> {
        None
    }

    fn read_rules(&self) -> Option<Arc<dyn ReadRules>> {
        None
    }
}

struct Chunks {
    file: File,
    /// Where in the file the text begins.
    at: usize,
    given: bool,
    call: FsCall,
}

#[async_trait]
impl TextChunks for Chunks {
    async fn next(&mut self) -> Result<TextChunk<'_>, FsError> {
        self.call.check(FsOp::Read)?;
        if std::mem::replace(&mut self.given, true) {
            return Ok(TextChunk::End(self.file.version()));
        }
        // Decoded once when the stream was opened, and cut where a line begins: it cannot fail here.
        let text = std::str::from_utf8(&self.file.bytes[self.at..]).unwrap_or_default();
        Ok(TextChunk::Text { at: self.at as u64, text })
    }
}

fn checked(base: &str, path: &str) -> Result<String, FsError> {
    if path.trim().is_empty() {
        return Err(FsError::blank_path());
    }
    if path.contains('\0') {
        return Err(FsError::nul_in_path());
    }
    Ok(fold(base, path))
}

/// The absolute path with `.`, `..` and repeated slashes folded away.
fn fold(base: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let base = if path.starts_with('/') { "" } else { base };
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}

fn parent(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(at) => &path[..at],
    }
}

fn key(path: &str) -> TargetKey {
    TargetKey::new(path.as_bytes())
}

fn target(path: String) -> FsTarget {
    FsTarget::new(key(&path), path)
}

/// The path a key of ours was made from; a foreign key names nothing.
fn path_of(target: &FsTarget) -> &str {
    std::str::from_utf8(target.key().as_bytes()).unwrap_or("")
}
