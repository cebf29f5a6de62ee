//! The walk on the host disk: on all cores, by descriptors, links not followed.
#![expect(
    clippy::disallowed_methods,
    reason = "the walk of a search opens host files itself, where the backend says that they are there"
)]

use std::ffi::{CStr, CString};
use std::io::Read as _;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use dsh_fs::leftovers::is_leftover_name;
use dsh_fs::shown_name::shown;
use ignore::gitignore::{Gitignore, gitconfig_excludes_path};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, Stat, fstat, openat, statat};
use rustix::io::Errno;

use crate::search::ignore_rules::{IgnoreFiles, IgnoreRules, rules};
use crate::search::report::Report;
use crate::search::sieve::{Candidate, Fate, Sieve, is_version_control};
use crate::search::stop::Stop;

/// More threads find nothing faster on a disk.
const MOST_THREADS: usize = 12;
/// A folder with more files than this is shared among threads.
const SHARE: usize = 64;
/// What is read of a folder at a time.
const LISTING: usize = 32 << 10;
/// The most of an ignore file that is heeded.
const MOST_RULES: u64 = 1 << 20;
/// How many entries of a folder are looked at before asking whether to stop.
const ENTRIES: usize = 1024;

/// A file that the sieve took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'a> {
    folder: BorrowedFd<'a>,
    name: &'a CStr,
    /// Its path below the root; empty for the root itself.
    pub(crate) below: &'a [u8],
    /// Taken by the pattern from the workspace, not by the one from the root.
    pub(crate) from_workspace: bool,
}

impl Found<'_> {
    /// Opens it for reading; never waits, whatever it has become.
    pub(crate) fn open(&self) -> rustix::io::Result<std::fs::File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        openat(self.folder, self.name, flags, Mode::empty()).map(Into::into)
    }

    /// Looks at it.
    pub(crate) fn stat(&self) -> rustix::io::Result<Stat> {
        statat(self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW)
    }
}

/// One thread's part of a search.
pub(crate) trait Visitor {
    fn visit(&mut self, file: Found<'_>);
}

/// A walk below one root.
pub(crate) struct Walk<'a> {
    /// A canonical path.
    pub(crate) root: &'a Path,
    pub(crate) sieve: &'a Sieve,
    pub(crate) stop: &'a Stop,
    pub(crate) report: &'a Report,
    /// What a path below the root is called.
    pub(crate) name_of: &'a (dyn Fn(&[u8]) -> String + Sync),
}

enum Job {
    Folder { path: Vec<u8>, rules: Arc<IgnoreRules> },
    Files { folder: Arc<OwnedFd>, path: Vec<u8>, names: Vec<(CString, bool)> },
}

impl Walk<'_> {
    /// Visits every file that the sieve takes, with as many visitors as there are cores.
    pub(crate) fn run<V: Visitor>(&self, visitor: impl Fn() -> V + Sync) {
        let root = self.root.as_os_str().as_encoded_bytes().to_vec();
        let queue = Queue::new(Job::Folder { path: root, rules: self.rules_above() });
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let work = || {
            let mut worker = Worker { walk: self, queue: &queue, visitor: visitor(), listing: Vec::new() };
            worker.listing.resize(LISTING, MaybeUninit::uninit());
            while let Some(taken) = queue.take() {
                worker.job(taken.job);
                drop(taken.busy);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // Without another thread this one does it all.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }

    /// Visits the root itself, a file.
    pub(crate) fn run_file(&self, visitor: &mut impl Visitor) {
        match CString::new(self.root.as_os_str().as_encoded_bytes()) {
            Ok(name) => visitor.visit(Found { folder: CWD, name: &name, below: b"", from_workspace: false }),
            Err(_) => self.unreadable(b"", Errno::NOENT),
        }
    }

    /// How many files a search would find below the folders that it did not enter.
    pub(crate) fn count_passed_over(&self) -> bool {
        let mut complete = true;
        for (path, reason) in self.report.take_folders() {
            let mut folders = vec![path];
            while let Some(path) = folders.pop() {
                if self.stop.now() {
                    complete = false;
                    break;
                }
                let Ok(entries) = std::fs::read_dir(as_path(&path)) else { continue };
                for entry in entries.flatten() {
                    let name = entry.file_name();
                    match entry.file_type() {
                        Ok(kind) if kind.is_file() && !is_leftover_name(name.as_encoded_bytes()) => {
                            self.report.passed_over(reason, 1);
                        }
                        Ok(kind) if kind.is_dir() && !is_version_control(name.as_encoded_bytes()) => {
                            folders.push(joined(&path, name.as_encoded_bytes()));
                        }
                        _ => {}
                    }
                }
            }
        }
        complete
    }

    /// The rules of the folders above the root and of the user.
    fn rules_above(&self) -> Arc<IgnoreRules> {
        if !self.sieve.heeds_ignore_files() {
            return IgnoreRules::new(Gitignore::empty(), b"");
        }
        let mut rules = IgnoreRules::new(global_rules(), self.root.as_os_str().as_encoded_bytes());
        let above: Vec<_> = self.root.ancestors().skip(1).collect();
        for folder in above.into_iter().rev() {
            let there = |name: &str| std::fs::symlink_metadata(folder.join(name)).is_ok();
            rules = self.enter(&rules, folder.as_os_str().as_encoded_bytes(), there);
        }
        rules
    }

    /// The rules below a folder, with those of its own ignore files, if it has any or is the top of a repository.
    fn enter(&self, rules: &Arc<IgnoreRules>, path: &[u8], there: impl Fn(&str) -> bool) -> Arc<IgnoreRules> {
        let report = |name: &str, why: String| {
            let path = joined(path, name.as_bytes());
            let below = path.starts_with(self.root.as_os_str().as_encoded_bytes());
            let shown = if below { (self.name_of)(self.below(&path)) } else { shown(&path).into_owned() };
            self.report.unreadable(shown, why);
        };
        let is_repository = there(".git");
        let read = |name: &str, there: bool| match there.then(|| read_rules(&as_path(path).join(name)))? {
            Ok(bytes) => Some(bytes),
            Err(Errno::NOENT | Errno::NOTDIR) => None,
            Err(errno) => {
                report(name, why(errno));
                None
            }
        };
        let files = IgnoreFiles {
            rgignore: read(".rgignore", there(".rgignore")),
            ignore: read(".ignore", there(".ignore")),
            gitignore: read(".gitignore", there(".gitignore")),
            exclude: read(".git/info/exclude", is_repository),
            is_repository,
        };
        if is_repository || files.rgignore.is_some() || files.ignore.is_some() || files.gitignore.is_some() {
            rules.enter(path, &files, |name| report(name, "its rules are too many".to_owned()))
        } else {
            rules.clone()
        }
    }

    fn below<'a>(&self, path: &'a [u8]) -> &'a [u8] {
        let below = path.get(self.root.as_os_str().len()..).unwrap_or_default();
        below.strip_prefix(b"/").unwrap_or(below)
    }

    pub(crate) fn unreadable(&self, below: &[u8], errno: Errno) {
        self.report.unreadable((self.name_of)(below), why(errno));
    }
}

struct Worker<'a, V> {
    walk: &'a Walk<'a>,
    queue: &'a Queue,
    visitor: V,
    listing: Vec<MaybeUninit<u8>>,
}

impl<V: Visitor> Worker<'_, V> {
    fn job(&mut self, job: Job) {
        match job {
            Job::Folder { path, rules } => {
                if let Err(errno) = self.folder(&path, &rules) {
                    self.walk.unreadable(self.walk.below(&path), errno);
                }
            }
            Job::Files { folder, path, names } => self.files(folder.as_fd(), &path, &names),
        }
    }

    fn folder(&mut self, path: &[u8], rules: &Arc<IgnoreRules>) -> rustix::io::Result<()> {
        let walk = self.walk;
        if walk.stop.now() {
            return Ok(());
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(CWD, path, flags, Mode::empty())?;
        let (entries, listed) = self.list(&folder);
        if let Err(errno) = listed {
            walk.unreadable(walk.below(path), errno);
        }
        let mut rules = rules.clone();
        if walk.sieve.heeds_ignore_files() {
            let there = |wanted: &str| entries.iter().any(|(name, _)| name.as_bytes() == wanted.as_bytes());
            rules = walk.enter(&rules, path, there);
        }
        let (mut folders, mut files) = (Vec::new(), Vec::new());
        for (number, (name, kind)) in entries.into_iter().enumerate() {
            if number % ENTRIES == 0 && walk.stop.now() {
                break;
            }
            let path = joined(path, name.as_bytes());
            let entry = Candidate { name: name.as_bytes(), path: &path, below: walk.below(&path) };
            if kind == FileType::Directory {
                match walk.sieve.folder(entry, &rules) {
                    Fate::PassedOver(reason) => walk.report.folder_passed_over(&path, reason),
                    Fate::Left => {}
                    Fate::Taken | Fate::TakenFromWorkspace => {
                        folders.push(Job::Folder { path, rules: rules.clone() });
                    }
                }
            } else if kind == FileType::RegularFile {
                match walk.sieve.file(entry, &rules) {
                    Fate::PassedOver(reason) => walk.report.passed_over(reason, 1),
                    Fate::Left => {}
                    fate => files.push((name, fate == Fate::TakenFromWorkspace)),
                }
            }
        }
        self.queue.add(folders);
        if files.len() > SHARE {
            let folder = Arc::new(folder);
            let rest = files.split_off(SHARE);
            let shares = rest.chunks(SHARE).map(|names| Job::Files {
                folder: folder.clone(),
                path: path.to_vec(),
                names: names.to_vec(),
            });
            self.queue.add(shares.collect());
            self.files(folder.as_fd(), path, &files);
        } else {
            self.files(folder.as_fd(), path, &files);
        }
        Ok(())
    }

    fn files(&mut self, folder: BorrowedFd<'_>, path: &[u8], names: &[(CString, bool)]) {
        for (name, from_workspace) in names {
            if self.walk.stop.now() {
                return;
            }
            let path = joined(path, name.as_bytes());
            let below = self.walk.below(&path);
            self.visitor.visit(Found { folder, name, below, from_workspace: *from_workspace });
        }
    }

    /// Files and folders among the entries; as many as could be read.
    fn list(&mut self, folder: &OwnedFd) -> (Vec<(CString, FileType)>, rustix::io::Result<()>) {
        let mut entries = Vec::new();
        let mut listing = RawDir::new(folder, &mut self.listing);
        while let Some(entry) = listing.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(errno) => return (entries, Err(errno)),
            };
            if entries.len() % ENTRIES == 0 && self.walk.stop.now() {
                break;
            }
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let mut kind = entry.file_type();
            if kind == FileType::Unknown
                && let Ok(stat) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
            {
                kind = FileType::from_raw_mode(stat.st_mode);
            }
            // Whatever else there is may be what tells that this is a repository.
            entries.push((name.to_owned(), kind));
        }
        (entries, Ok(()))
    }
}

/// The work that is left. Whoever takes a job may add more; when nobody is busy and nothing is left, it is the end.
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: Vec<Job>,
    busy: usize,
}

struct Taken<'a> {
    job: Job,
    busy: Busy<'a>,
}

/// Somebody is at work, also if it ends in a panic.
struct Busy<'a>(&'a Queue);

impl Queue {
    fn new(first: Job) -> Self {
        Self { state: Mutex::new(State { jobs: vec![first], busy: 0 }), changed: Condvar::new() }
    }

    fn take(&self) -> Option<Taken<'_>> {
        let mut state = self.state();
        loop {
            if let Some(job) = state.jobs.pop() {
                state.busy += 1;
                return Some(Taken { job, busy: Busy(self) });
            }
            if state.busy == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn add(&self, jobs: Vec<Job>) {
        if jobs.is_empty() {
            return;
        }
        self.state().jobs.extend(jobs);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.state().busy -= 1;
        self.0.changed.notify_all();
    }
}

/// What a model is told of an entry that could not be read.
pub(crate) fn why(errno: Errno) -> String {
    match errno {
        Errno::NOENT | Errno::NOTDIR => "it vanished".to_owned(),
        Errno::ACCESS | Errno::PERM => "permission denied".to_owned(),
        Errno::LOOP => "it is a link now".to_owned(),
        other => std::io::Error::from(other).to_string(),
    }
}

/// What an ignore file holds, up to a limit. Only a regular file is read, and nothing is waited for.
fn read_rules(path: &Path) -> rustix::io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let kind = |stat: Stat| FileType::from_raw_mode(stat.st_mode);
    if kind(statat(CWD, path, AtFlags::empty())?) != FileType::RegularFile {
        return Err(Errno::NOENT);
    }
    let file = openat(CWD, path, flags, Mode::empty())?;
    if kind(fstat(&file)?) != FileType::RegularFile {
        return Err(Errno::NOENT);
    }
    let mut bytes = Vec::new();
    let read = std::fs::File::from(file).take(MOST_RULES).read_to_end(&mut bytes);
    read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    if bytes.len() as u64 == MOST_RULES {
        // Half a rule might say more than the whole.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
        bytes.truncate(whole);
    }
    Ok(bytes)
}

/// What the user's own git configuration leaves out everywhere.
fn global_rules() -> Gitignore {
    let read = gitconfig_excludes_path().and_then(|path| read_rules(&path).ok());
    read.and_then(|file| rules(&file).ok()).unwrap_or_else(Gitignore::empty)
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes))
}

fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let slash: &[u8] = if folder.ends_with(b"/") { b"" } else { b"/" };
    [folder, slash, name].concat()
}

/// A time that sorts, in nanoseconds since 1970.
pub(crate) fn modified(stat: &Stat) -> i128 {
    i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec)
}
