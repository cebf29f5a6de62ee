//! The walk on the host disk: on all cores, by descriptors, links not followed.
//!
//! The root is held, and every folder is opened beneath it: whoever swaps a folder for a link meanwhile leads nobody out.
#![expect(
    clippy::disallowed_methods,
    reason = "the walk of a search opens host files itself, where the backend says that they are there"
)]

use std::ffi::{CStr, CString};
use std::io::Read as _;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use dsh_fs::leftovers::is_leftover_name;
use dsh_fs::shown_name::shown;
use ignore::gitignore::{Gitignore, gitconfig_excludes_path};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawDir, ResolveFlags, Stat, fstat, openat, openat2, statat,
};
use rustix::io::Errno;

use crate::search::ignore_rules::{IgnoreFiles, IgnoreRules, MOST_RULES, rules};
use crate::search::report::Report;
use crate::search::sieve::{Candidate, Fate, Sieve, is_version_control};
use crate::search::stop::Stop;

/// More threads find nothing faster on a disk.
const MOST_THREADS: usize = 12;
/// A folder with more files than this is shared among threads.
const SHARE: usize = 64;
/// What is read of a folder at a time.
const LISTING: usize = 32 << 10;
/// How many entries of a folder are looked at before asking whether to stop.
const ENTRIES: usize = 1024;

const LIST: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const HOLD: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

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
        let top = match open_canonical(self.root, HOLD) {
            Ok(top) => top,
            Err(errno) => return self.unreadable(b"", errno),
        };
        let queue = Queue::new(Job::Folder { path: root, rules: self.rules_above() });
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let work = || {
            let (visitor, listing) = (visitor(), listing());
            let mut worker = Worker { walk: self, top: top.as_fd(), queue: &queue, visitor, listing };
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
        let name = self.root.file_name().and_then(|name| CString::new(name.as_bytes()).ok());
        let (Some(above), Some(name)) = (self.root.parent(), name) else {
            return self.unreadable(b"", Errno::NOENT);
        };
        match open_canonical(above, HOLD) {
            Ok(folder) => {
                let folder = folder.as_fd();
                visitor.visit(Found { folder, name: &name, below: b"", from_workspace: false });
            }
            Err(errno) => self.unreadable(b"", errno),
        }
    }

    /// How many files a search would find below the folders that it did not enter.
    pub(crate) fn count_passed_over(&self) -> bool {
        let mut complete = true;
        let folders = self.report.take_folders();
        let Ok(top) = open_canonical(self.root, HOLD) else { return complete };
        let mut listing = listing();
        for (path, reason) in folders {
            let mut folders = vec![path];
            while let Some(path) = folders.pop() {
                if self.stop.now() {
                    complete = false;
                    break;
                }
                let Ok(folder) = open_below(top.as_fd(), self.below(&path), LIST) else { continue };
                for (name, kind) in list(&folder, &mut listing, self.stop).0 {
                    let path = joined(&path, name.as_bytes());
                    match kind {
                        FileType::RegularFile
                            if !is_leftover_name(name.as_bytes()) && self.sieve.may_read(&path, false) =>
                        {
                            self.report.passed_over(reason, 1);
                        }
                        FileType::Directory
                            if !is_version_control(name.as_bytes()) && self.sieve.may_read(&path, true) =>
                        {
                            folders.push(path);
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
        if !self.sieve.wanted.heeds_ignore_files() {
            return IgnoreRules::new(Gitignore::empty(), b"");
        }
        let mut rules = IgnoreRules::new(self.global_rules(), self.root.as_os_str().as_encoded_bytes());
        let above: Vec<_> = self.root.ancestors().skip(1).collect();
        for folder in above.into_iter().rev() {
            if !self.sieve.may_read(folder.as_os_str().as_bytes(), true) {
                continue;
            }
            let there = |name: &str| std::fs::symlink_metadata(folder.join(name)).is_ok();
            rules = self.enter(&rules, folder.as_os_str().as_bytes(), there);
        }
        rules
    }

    /// The rules below a folder, with those of its own ignore files, if it has any or is the top of a repository.
    fn enter(&self, rules: &Arc<IgnoreRules>, path: &[u8], there: impl Fn(&str) -> bool) -> Arc<IgnoreRules> {
        let report = |name: &str, why: String| {
            let path = joined(path, name.as_bytes());
            let below = path.starts_with(self.root.as_os_str().as_bytes());
            let shown = if below { (self.name_of)(self.below(&path)) } else { shown(&path).into_owned() };
            self.report.unreadable(shown, why);
        };
        let is_repository = there(".git");
        let read = |name: &str, there: bool| match there.then(|| self.read(&as_path(path).join(name)))? {
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

    /// What an ignore file holds, up to a limit. Only a regular file is read, and nothing is waited for. Where not
    /// everything may be read, it is as if what may not, and what is a link, were not there.
    fn read(&self, path: &Path) -> rustix::io::Result<Vec<u8>> {
        if !self.sieve.may_read(path.as_os_str().as_bytes(), false) {
            return Err(Errno::NOENT);
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let regular = |stat: Stat| match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(()),
            _ => Err(Errno::NOENT),
        };
        regular(statat(CWD, path, AtFlags::empty())?)?;
        let file = match self.sieve.read_rules {
            Some(_) => match open_canonical(path, flags) {
                Err(Errno::LOOP | Errno::XDEV) => Err(Errno::NOENT),
                opened => opened,
            },
            None => openat(CWD, path, flags, Mode::empty()),
        }?;
        regular(fstat(&file)?)?;
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
    fn global_rules(&self) -> Gitignore {
        let path = gitconfig_excludes_path().filter(|path| {
            self.sieve.read_rules.is_none()
                || path
                    .canonicalize()
                    .is_ok_and(|real| self.sieve.may_read(real.as_os_str().as_bytes(), false))
        });
        let read = path.and_then(|path| self.read(&path).ok());
        read.and_then(|file| rules(&file).ok()).unwrap_or_else(Gitignore::empty)
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
    /// The root.
    top: BorrowedFd<'a>,
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
        let folder = open_below(self.top, walk.below(path), LIST)?;
        let (entries, listed) = list(&folder, &mut self.listing, walk.stop);
        if let Err(errno) = listed {
            walk.unreadable(walk.below(path), errno);
        }
        let mut rules = rules.clone();
        if walk.sieve.wanted.heeds_ignore_files() {
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
        Errno::XDEV => "it has moved".to_owned(),
        other => std::io::Error::from(other).to_string(),
    }
}

/// Files and folders among the entries; as many as could be read.
fn list(
    folder: &OwnedFd,
    listing: &mut [MaybeUninit<u8>],
    stop: &Stop,
) -> (Vec<(CString, FileType)>, rustix::io::Result<()>) {
    let mut entries = Vec::new();
    let mut listing = RawDir::new(folder, listing);
    while let Some(entry) = listing.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(errno) => return (entries, Err(errno)),
        };
        if entries.len() % ENTRIES == 0 && stop.now() {
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

/// Room for what is read of a folder at a time.
fn listing() -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::uninit(); LISTING]
}

/// Opens an absolute path without links. Whatever lies at its end lies there in truth, not through a link.
fn open_canonical(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let top = openat(CWD, c"/", HOLD, Mode::empty())?;
    let below = path.strip_prefix("/").map_err(|_| Errno::XDEV)?;
    open_below(top.as_fd(), below.as_os_str().as_bytes(), flags)
}

/// Opens what lies below a folder: no link is followed, and nothing goes up.
fn open_below(top: BorrowedFd<'_>, below: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let below = if below.is_empty() { b"." } else { below };
    let bounds = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(top, below, flags, Mode::empty(), bounds) {
        // Kernels before 5.6, and containers that forbid what they do not know.
        Err(Errno::NOSYS | Errno::PERM) => open_by_steps(top, below, flags),
        answer => answer,
    }
}

fn open_by_steps(top: BorrowedFd<'_>, below: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let mut folder = None;
    let mut names = below.split(|&byte| byte == b'/').peekable();
    loop {
        let at = folder.as_ref().map_or(top, AsFd::as_fd);
        let name = names.next().filter(|name| *name != b"..").ok_or(Errno::XDEV)?;
        let is_last = names.peek().is_none();
        let next = openat(at, name, OFlags::NOFOLLOW | if is_last { flags } else { HOLD }, Mode::empty())?;
        if is_last {
            return Ok(next);
        }
        folder = Some(next);
    }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_leads_out_of_a_folder_with_openat2_and_without() {
        let disk = tempfile::tempdir().unwrap();
        let at = |path: &str| disk.path().join(path);
        std::fs::create_dir_all(at("top/a/b")).unwrap();
        std::fs::create_dir_all(at("out/b")).unwrap();
        symlink("../out", at("top/link")).unwrap();
        symlink(at("top/a"), at("top/inside")).unwrap();
        let top = openat(CWD, at("top"), HOLD, Mode::empty()).unwrap();
        for open in [open_below, open_by_steps] {
            let opens = |path: &str| open(top.as_fd(), path.as_bytes(), LIST).is_ok();
            for path in [".", "a", "a/b"] {
                assert!(opens(path), "{path}");
            }
            for path in ["link", "link/b", "inside", "inside/b", "..", "../out", "a/../../out", "/", "gone"] {
                assert!(!opens(path), "{path}");
            }
        }
        assert!(open_canonical(&at("top/link/b"), LIST).is_err());
        assert!(open_canonical(Path::new("/proc/self/root"), LIST).is_err());
        assert!(open_canonical(Path::new("/"), LIST).is_ok());
    }
}
