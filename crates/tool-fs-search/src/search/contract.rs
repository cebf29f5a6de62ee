//! The walk on a backend whose files are not on the host: by `list_dir`, `read_bytes` and `stream_text` of the contract.
//!
//! Such a backend may be far away: folders are listed, and files fetched, several at once.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use dsh_fs::leftovers::is_leftover_name;
use dsh_fs::shown_name::shown;
use dsh_fs::{
    BytesRead, FileSystem, FsCall, FsDirEntry, FsError, FsErrorCode, FsKind, FsTarget, NotText, TextChunk,
    TextStream,
};
use futures_util::StreamExt as _;
use futures_util::stream::{FuturesOrdered, FuturesUnordered};
use ignore::gitignore::Gitignore;

use crate::search::ignore_rules::{IgnoreFiles, IgnoreRules, MOST_RULES};
use crate::search::kept::Kept;
use crate::search::lines::{Hits, LONGEST_LINE, LineSearch, Searched, TOO_LONG};
use crate::search::report::Report;
use crate::search::scope::Scope;
use crate::search::sieve::{Candidate, Fate, Sieve, is_version_control};
use crate::search::stop::Stop;

/// Files up to this size are held whole.
const HELD: u64 = 16 << 20;
/// How many folders are listed at once.
const LISTED_AT_ONCE: usize = 16;
/// How many files are fetched at once, the one that is searched among them: so many are held.
const FETCHED_AT_ONCE: usize = 8;
/// Streamed text is searched in pieces of about this size.
const PIECE: usize = 1 << 20;

/// A file that the sieve took.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    target: FsTarget,
    size: Option<u64>,
    pub(crate) below: String,
    /// In nanoseconds since 1970; 0 where the backend does not know.
    pub(crate) modified: i128,
    pub(crate) from_workspace: bool,
}

/// A walk below one root.
pub(crate) struct Walk<'a> {
    pub(crate) fs: &'a dyn FileSystem,
    pub(crate) scope: &'a Scope,
    pub(crate) sieve: &'a Sieve,
    pub(crate) stop: &'a Stop,
    pub(crate) report: &'a Report,
    pub(crate) call: &'a FsCall,
}

struct Folder {
    target: FsTarget,
    below: String,
    rules: Arc<IgnoreRules>,
}

impl Walk<'_> {
    /// Every file that the sieve takes, in no order.
    pub(crate) async fn files(&self) -> Vec<Found> {
        let mut found = Vec::new();
        let rules = self.rules_above().await;
        let mut folders = vec![Folder { target: self.scope.target.clone(), below: String::new(), rules }];
        let mut opened = FuturesUnordered::new();
        loop {
            while opened.len() < LISTED_AT_ONCE
                && let Some(folder) = folders.pop()
            {
                opened.push(self.open(folder));
            }
            let Some(next) = opened.next().await else { break };
            if self.stop.now() {
                break;
            }
            if let Some((folder, entries)) = next {
                self.sift(folder, entries, &mut folders, &mut found);
            }
        }
        found
    }

    /// A folder with its own rules, and its children; `None` where it cannot be read.
    async fn open(&self, folder: Folder) -> Option<(Folder, Vec<FsDirEntry>)> {
        let entries = match self.fs.list_dir(&folder.target, self.call).await {
            Ok(entries) => entries,
            Err(error) => {
                self.unreadable(&folder.below, &error);
                return None;
            }
        };
        if !self.sieve.wanted.heeds_ignore_files() {
            return Some((folder, entries));
        }
        let rules = self.enter(&folder.rules, &folder.target, &entries).await;
        Some((Folder { rules, ..folder }, entries))
    }

    /// The root itself, a file.
    pub(crate) async fn root(&self) -> Found {
        let info = self.fs.stat(&self.scope.target, self.call).await.ok().flatten();
        Found {
            target: self.scope.target.clone(),
            size: info.and_then(|info| info.size),
            below: String::new(),
            modified: 0,
            from_workspace: false,
        }
    }

    fn sift(
        &self,
        folder: Folder,
        entries: Vec<FsDirEntry>,
        folders: &mut Vec<Folder>,
        found: &mut Vec<Found>,
    ) {
        let Folder { below, rules, .. } = folder;
        for entry in entries.into_iter().filter(|entry| !entry.is_link) {
            let below = if below.is_empty() { entry.name.clone() } else { format!("{below}/{}", entry.name) };
            let candidate = Candidate {
                name: entry.name.as_bytes(),
                path: entry.target.display_path().as_bytes(),
                below: below.as_bytes(),
            };
            match entry.kind {
                FsKind::Directory => match self.sieve.folder(candidate, &rules) {
                    Fate::PassedOver(reason) => self.report.folder_passed_over(candidate.path, reason),
                    Fate::Left => {}
                    Fate::Taken | Fate::TakenFromWorkspace => {
                        folders.push(Folder { target: entry.target, below, rules: rules.clone() });
                    }
                },
                FsKind::File => match self.sieve.file(candidate, &rules) {
                    Fate::PassedOver(reason) => self.report.passed_over(reason, 1),
                    Fate::Left => {}
                    fate => found.push(Found {
                        target: entry.target,
                        size: entry.size,
                        below,
                        modified: entry.modified.map_or(0, nanoseconds),
                        from_workspace: fate == Fate::TakenFromWorkspace,
                    }),
                },
                FsKind::Other => {}
            }
        }
    }

    /// Searches files, in their order.
    pub(crate) async fn search(
        &self,
        files: &[Found],
        lines: &mut LineSearch,
        is_named: bool,
        kept: &mut Kept,
    ) {
        let mut files = files.iter();
        let mut fetched = FuturesOrdered::new();
        loop {
            while fetched.len() < FETCHED_AT_ONCE
                && let Some(file) = files.next()
            {
                fetched.push_back(self.fetch(file));
            }
            let Some((file, held)) = fetched.next().await else { break };
            if self.stop.now() {
                break;
            }
            self.search_one(file, held, lines, is_named, kept).await;
            tokio::task::yield_now().await;
        }
    }

    /// A file's bytes, unless it is too large to be held.
    async fn fetch<'f>(&self, file: &'f Found) -> (&'f Found, Result<BytesRead, FsError>) {
        let held = if file.size.is_some_and(|size| size <= HELD) {
            self.fs.read_bytes(&file.target, HELD, self.call).await
        } else {
            Err(FsError::too_large(file.target.display_path(), HELD, HELD))
        };
        (file, held)
    }

    async fn search_one(
        &self,
        file: &Found,
        held: Result<BytesRead, FsError>,
        lines: &mut LineSearch,
        is_named: bool,
        kept: &mut Kept,
    ) {
        self.report.looked_at_one();
        let below = file.below.as_bytes();
        let searched = match held {
            Ok(read) => Ok(lines.bytes(&read.bytes, is_named, &mut |hits| kept.add(below, hits))),
            Err(error) if error.code() == FsErrorCode::TooLarge => self.stream(file, lines, kept).await,
            Err(error) => Err(error),
        };
        match searched {
            Ok(Searched::Whole(hits)) => kept.add(below, hits),
            Ok(Searched::Binary) => self.report.binary(),
            Ok(Searched::Partly(hits, why)) => {
                kept.add(below, hits);
                self.report.unreadable(self.scope.name_of(below), why.to_string());
            }
            Err(error) if is_binary(&error) && !is_named => self.report.binary(),
            Err(error) => self.unreadable(&file.below, &error),
        }
    }

    /// Searches what is too large to be held. What was found before an error stays found.
    async fn stream(
        &self,
        file: &Found,
        lines: &mut LineSearch,
        kept: &mut Kept,
    ) -> Result<Searched, FsError> {
        let mut hits = Hits::default();
        let TextStream::Open(mut chunks) = self.fs.stream_text(&file.target, None, self.call).await? else {
            // Only a stream with a resume point is answered so.
            return Ok(Searched::Whole(hits));
        };
        let mut hand_on = |hits| kept.add(file.below.as_bytes(), hits);
        let mut piece = String::new();
        // How much of the piece is whole lines.
        let mut whole = 0;
        loop {
            let is_end = match chunks.next().await {
                _ if self.stop.now() => return Ok(Searched::Whole(hits)),
                Ok(TextChunk::Text { text, .. }) => {
                    if let Some(at) = text.rfind('\n') {
                        whole = piece.len() + at + 1;
                    }
                    piece.push_str(text);
                    false
                }
                Ok(TextChunk::End(_)) => true,
                Err(error) if piece.is_empty() && hits.lines.is_empty() => return Err(error),
                Err(error) => return Ok(Searched::Partly(hits, std::io::Error::other(why(&error)))),
            };
            if is_end {
                whole = piece.len();
            } else if piece.len() > LONGEST_LINE && whole == 0 {
                return Ok(Searched::Partly(hits, std::io::Error::other(TOO_LONG)));
            } else if piece.len() < PIECE || whole == 0 {
                continue;
            }
            if let Err(error) = lines.piece(&piece[..whole], &mut hits, &mut hand_on) {
                return Ok(Searched::Partly(hits, error));
            }
            if is_end {
                return Ok(Searched::Whole(hits));
            }
            piece.drain(..whole);
            whole = 0;
        }
    }

    /// How many files a search would find below the folders that it did not enter.
    pub(crate) async fn count_passed_over(&self) -> bool {
        for (path, reason) in self.report.take_folders() {
            let Ok(path) = String::from_utf8(path) else { continue };
            let Ok(target) = self.fs.resolve(&path, None, self.call).await else { continue };
            let mut folders = vec![target];
            while let Some(folder) = folders.pop() {
                if self.stop.now() {
                    return false;
                }
                for entry in self.fs.list_dir(&folder, self.call).await.unwrap_or_default() {
                    match entry.kind {
                        _ if entry.is_link => {}
                        FsKind::File if !is_leftover_name(entry.name.as_bytes()) => {
                            self.report.passed_over(reason, 1);
                        }
                        FsKind::Directory if !is_version_control(entry.name.as_bytes()) => {
                            folders.push(entry.target);
                        }
                        _ => {}
                    }
                }
            }
        }
        true
    }

    /// The rules of the folders above the root. The user's own are of the host, not of this place.
    async fn rules_above(&self) -> Arc<IgnoreRules> {
        let root = self.scope.target.display_path();
        let mut rules = IgnoreRules::new(Gitignore::empty(), root.as_bytes());
        if !self.sieve.wanted.heeds_ignore_files() {
            return rules;
        }
        let slashes = root.bytes().enumerate().filter(|(_, byte)| *byte == b'/').map(|(at, _)| at.max(1));
        for above in slashes.map(|at| &root[..at]).filter(|above| *above != root) {
            let Ok(folder) = self.fs.resolve(above, None, self.call).await else { continue };
            let Ok(entries) = self.fs.list_dir(&folder, self.call).await else { continue };
            rules = self.enter(&rules, &folder, &entries).await;
        }
        rules
    }

    /// The rules below a folder, with those of its own ignore files, if it has any or is the top of a repository.
    async fn enter(
        &self,
        rules: &Arc<IgnoreRules>,
        folder: &FsTarget,
        entries: &[FsDirEntry],
    ) -> Arc<IgnoreRules> {
        let there =
            |name: &str| entries.iter().find(|entry| entry.name == name).map(|entry| entry.target.clone());
        let path = folder.display_path();
        let is_repository = there(".git").is_some();
        let exclude = if is_repository {
            let exclude = format!("{}/.git/info/exclude", path.trim_end_matches('/'));
            self.fs.resolve(&exclude, None, self.call).await.ok()
        } else {
            None
        };
        let files = IgnoreFiles {
            rgignore: self.rules(there(".rgignore")).await,
            ignore: self.rules(there(".ignore")).await,
            gitignore: self.rules(there(".gitignore")).await,
            exclude: self.rules(exclude).await,
            is_repository,
        };
        if is_repository || files.rgignore.is_some() || files.ignore.is_some() || files.gitignore.is_some() {
            let unusable = |name: &str| {
                self.report.unreadable(format!("{path}/{name}"), "its rules are too many".to_owned());
            };
            rules.enter(path.as_bytes(), &files, unusable)
        } else {
            rules.clone()
        }
    }

    async fn rules(&self, file: Option<FsTarget>) -> Option<Vec<u8>> {
        let file = file?;
        match self.fs.read_bytes(&file, MOST_RULES, self.call).await {
            Ok(read) => Some(read.bytes),
            Err(error) => {
                if !matches!(
                    error.code(),
                    FsErrorCode::NotFound
                        | FsErrorCode::NotRegularFile
                        | FsErrorCode::SandboxDenied
                        | FsErrorCode::Aborted
                ) {
                    self.report.unreadable(shown(file.display_path().as_bytes()).into_owned(), why(&error));
                }
                None
            }
        }
    }

    fn unreadable(&self, below: &str, error: &FsError) {
        // What may not be read is passed over in silence, unless it is what the search was asked for.
        let is_silent = match error.code() {
            FsErrorCode::Aborted => true,
            FsErrorCode::SandboxDenied => !below.is_empty(),
            _ => false,
        };
        if !is_silent {
            self.report.unreadable(self.scope.name_of(below.as_bytes()), why(error));
        }
    }
}

/// What a model is told of an entry that could not be read.
fn why(error: &FsError) -> String {
    match error.code() {
        FsErrorCode::NotFound | FsErrorCode::NotDirectory => "it vanished".to_owned(),
        FsErrorCode::PermissionDenied => "permission denied".to_owned(),
        FsErrorCode::NotText => "it is large and not UTF-8 text".to_owned(),
        _ => error.to_string(),
    }
}

/// Is it no text because of a NUL?
fn is_binary(error: &FsError) -> bool {
    std::error::Error::source(error).and_then(|source| source.downcast_ref()) == Some(&NotText::Binary)
}

fn nanoseconds(time: SystemTime) -> i128 {
    let nanoseconds =
        |distance: std::time::Duration| i128::try_from(distance.as_nanos()).unwrap_or(i128::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => nanoseconds(since),
        Err(before) => -nanoseconds(before.duration()),
    }
}
