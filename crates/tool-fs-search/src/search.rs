//! The search itself.
//!
//! A search has a root ([`scope`]), a rule for what is looked at ([`sieve`], [`glob_pattern`], [`ignore_rules`]), a walk that
//! applies it ([`host`] on the host's disk, [`contract`] elsewhere), and for `grep` a look into each file ([`lines`]). It ends early when it
//! has to ([`stop`]), and says what it did not look at ([`report`]).

mod contract;
mod glob_pattern;
mod host;
mod ignore_rules;
mod kept;
pub(crate) mod lines;
mod report;
mod scope;
mod sieve;
mod stop;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dsh_fs::{FileSystem, FsCall};
use dsh_harness::{Execution, ToolError};
use grep_regex::RegexMatcher;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::DropGuard;

use crate::SearchError;
use crate::pattern_hint;
use crate::search::glob_pattern::GlobPattern;
use crate::search::kept::{Kept, PathOrder};
use crate::search::lines::{LineSearch, Searched, TOO_LONG};
use crate::search::report::Report;
use crate::search::scope::Scope;
use crate::search::sieve::{Candidate, Fate, FromWorkspace, Include, Sieve, Wanted};
use crate::search::stop::Stop;
use crate::value::{GlobValue, GrepMatch, GrepValue};

/// How long the files that a search without result passed over are counted.
const COUNTING: Duration = Duration::from_secs(1);

/// Searches a backend. A cheap handle.
#[derive(Clone)]
pub(crate) struct Search {
    fs: Arc<dyn FileSystem>,
    time: Duration,
    pattern_hints: bool,
    /// As many searches at once as there are cores: each uses them all, and each holds what it has found so far.
    turns: Arc<Semaphore>,
}

/// What one search is about.
struct Request {
    tool: &'static str,
    scope: Scope,
    sieve: Sieve,
    stop: Stop,
    report: Report,
    /// Given back when the search is over.
    _turn: Option<OwnedSemaphorePermit>,
}

/// A file that a glob found: when it was modified, its path, and which reading of the pattern found it.
struct GlobHit {
    modified: i128,
    path: PathOrder,
    from_workspace: bool,
}

impl Search {
    /// `time` is what a search may take before it answers with what it has; with `pattern_hints` the refusal of a pattern says
    /// more.
    pub(crate) fn new(fs: Arc<dyn FileSystem>, time: Duration, pattern_hints: bool) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { fs, time, pattern_hints, turns: Arc::new(Semaphore::new(cores)) }
    }

    /// The files whose paths match a glob.
    pub(crate) async fn glob(
        &self,
        pattern: &str,
        path: Option<&str>,
        exec: &Execution,
    ) -> Result<GlobValue, ToolError> {
        let tool = "glob";
        let (stop, _dropped) = self.stop(exec);
        let turn = self.turn(tool, &stop).await?;
        let scope = Scope::resolve(&*self.fs, tool, path, exec).await?;
        let sieve = self.sieve(&scope, glob_wanted(&scope, pattern, self.pattern_hints)?);
        let request = Request {
            tool,
            scope,
            sieve,
            stop: stop.clone(),
            report: Report::telling(exec.report.pulse()),
            _turn: turn,
        };
        if request.scope.is_version_control() {
            return Ok(request.glob_value(Vec::new()));
        }
        if request.scope.host.is_none() {
            let hits = request.glob_contract(&*self.fs, exec).await;
            return Ok(blocking(tool, &stop, || request.glob_value(hits)).await?);
        }
        let search = || {
            let hits = request.glob_host();
            request.glob_value(hits)
        };
        Ok(blocking(tool, &stop, search).await?)
    }

    /// The lines that match a regular expression.
    pub(crate) async fn grep(
        &self,
        pattern: &str,
        path: Option<&str>,
        include: Option<&str>,
        exec: &Execution,
    ) -> Result<GrepValue, ToolError> {
        let tool = "grep";
        let (stop, _dropped) = self.stop(exec);
        let turn = self.turn(tool, &stop).await?;
        let scope = Scope::resolve(&*self.fs, tool, path, exec).await?;
        let (pattern, include) = (pattern.to_owned(), include.map(str::to_owned));
        let hints = self.pattern_hints;
        let compile = move || {
            let regex = lines::regex(&pattern).map_err(|error| {
                let hint = hints.then(|| pattern_hint::of_regex(&pattern)).flatten();
                pattern_hint::with_hint(error.to_string(), hint)
            })?;
            Ok((regex, include.as_deref().map(|include| parse_glob(include, hints)).transpose()?))
        };
        let (regex, include) = blocking(tool, &stop, compile)
            .await?
            .map_err(|reason| SearchError::InvalidPattern { tool, reason })?;
        let root = scope.from_workspace.clone().unwrap_or_default().into_bytes();
        let sieve =
            self.sieve(&scope, Wanted::Grep { include: include.map(|pattern| Include { pattern, root }) });
        let request = Request {
            tool,
            scope,
            sieve,
            stop: stop.clone(),
            report: Report::telling(exec.report.pulse()),
            _turn: turn,
        };
        if request.scope.host.is_none() {
            let kept = request.grep_contract(&*self.fs, regex, exec).await;
            let all_counted = match request.counting(&kept) {
                Some(counting) => request.count_by_contract(&*self.fs, &counting, exec).await,
                None => false,
            };
            return Ok(blocking(tool, &stop, move || request.grep_value(kept, all_counted)).await?);
        }
        let search = move || {
            let kept = request.grep_host(&regex);
            let all_counted =
                request.counting(&kept).is_some_and(|counting| request.count_on_host(&counting));
            request.grep_value(kept, all_counted)
        };
        Ok(blocking(tool, &stop, search).await?)
    }

    /// When the search is to end: with its time, with the caller's patience, and with the guard, should this future be
    /// dropped.
    fn stop(&self, exec: &Execution) -> (Stop, DropGuard) {
        let cancel = exec.cancel.child_token();
        (Stop::new(cancel.clone(), self.time), cancel.drop_guard())
    }

    fn sieve(&self, scope: &Scope, wanted: Wanted) -> Sieve {
        let name = PathBuf::from(scope.target.display_path());
        let is_link = scope.is_folder && scope.host.as_ref().is_some_and(|host| *host != name);
        Sieve { wanted, read_rules: self.fs.read_rules(), name: is_link.then_some(name) }
    }

    /// Waits until this search may begin.
    async fn turn(
        &self,
        tool: &'static str,
        stop: &Stop,
    ) -> Result<Option<OwnedSemaphorePermit>, SearchError> {
        tokio::select! {
            biased;
            () = stop.cancelled() => Err(SearchError::Aborted { tool }),
            // It is never closed.
            turn = self.turns.clone().acquire_owned() => Ok(turn.ok()),
        }
    }
}

fn parse_glob(pattern: &str, hints: bool) -> Result<GlobPattern, String> {
    GlobPattern::parse(pattern).map_err(|reason| {
        let hint = hints.then(|| pattern_hint::of_glob(pattern)).flatten();
        pattern_hint::with_hint(reason, hint)
    })
}

/// What a pattern takes below a root.
fn glob_wanted(scope: &Scope, pattern: &str, hints: bool) -> Result<Wanted, SearchError> {
    let pattern = scope.relative_pattern(pattern);
    let parse =
        || parse_glob(pattern, hints).map_err(|reason| SearchError::InvalidPattern { tool: "glob", reason });
    let way = scope.from_workspace.as_deref().map(|root| {
        if scope.is_folder { root } else { root.rsplit_once('/').map_or("", |(folder, _)| folder) }
    });
    let from_workspace = match way {
        Some(root) if !root.is_empty() && !pattern.starts_with('/') => {
            let pattern = parse()?;
            pattern.is_anchored().then(|| FromWorkspace { pattern, root: root.as_bytes().to_vec() })
        }
        _ => None,
    };
    Ok(Wanted::Glob { pattern: parse()?, from_workspace })
}

impl Request {
    fn notices(&self) -> Vec<String> {
        let narrow = if self.tool == "glob" { "pattern or path" } else { "pattern, path, or include" };
        self.stop.notice(narrow).into_iter().chain(self.report.unreadable_notice()).collect()
    }

    fn glob_value(self, mut hits: Vec<GlobHit>) -> GlobValue {
        if hits.iter().any(|hit| !hit.from_workspace) {
            hits.retain(|hit| !hit.from_workspace);
        }
        hits.sort_unstable_by(|one, two| (one.modified, &one.path).cmp(&(two.modified, &two.path)));
        let paths = hits.into_iter().map(|hit| self.scope.name_of(&hit.path.into_path())).collect();
        let (incomplete, notices) = (self.stop.has_stopped(), self.notices());
        GlobValue { root: self.scope.root, paths, incomplete, notices }
    }

    /// `all_counted`: is it known how much was passed over?
    fn grep_value(self, kept: Kept, all_counted: bool) -> GrepValue {
        let mut notices = self.notices();
        let total = kept.total();
        if total == 0 {
            notices.extend(self.report.passed_over_notice(all_counted));
        }
        let mut matches = Vec::new();
        for (path, lines) in kept.into_files() {
            let path: Arc<str> = self.scope.name_of(&path).into();
            let one = |(line_number, line)| GrepMatch { path: path.clone(), line_number, line };
            matches.extend(lines.into_iter().map(one));
        }
        let total = (total > matches.len() as u64).then_some(total);
        GrepValue { matches, total, incomplete: self.stop.has_stopped(), notices }
    }

    /// How long what was passed over is counted; `None` where nobody need know or there is no time.
    fn counting(&self, kept: &Kept) -> Option<Stop> {
        (kept.total() == 0 && !self.stop.has_stopped()).then(|| self.stop.within(COUNTING))
    }

    fn glob_host(&self) -> Vec<GlobHit> {
        let all = Mutex::new(Vec::new());
        self.on_host(&self.stop, |walk| {
            if self.scope.is_folder {
                walk.run(|| GlobVisitor { walk, hits: Vec::new(), all: &all });
            } else if self.takes_root() {
                let hit = GlobHit { modified: 0, path: PathOrder::of(b""), from_workspace: false };
                all.lock().unwrap_or_else(PoisonError::into_inner).push(hit);
            }
        });
        all.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    async fn glob_contract(&self, fs: &dyn FileSystem, exec: &Execution) -> Vec<GlobHit> {
        if !self.scope.is_folder {
            let hit = || GlobHit { modified: 0, path: PathOrder::of(b""), from_workspace: false };
            return self.takes_root().then(hit).into_iter().collect();
        }
        let call = FsCall::cancelled_by(exec.cancel.clone());
        let files = self.by_contract(fs, &self.stop, &call).files().await;
        let hit = |file: contract::Found| GlobHit {
            modified: file.modified,
            path: PathOrder::of(file.below.as_bytes()),
            from_workspace: file.from_workspace,
        };
        files.into_iter().map(hit).collect()
    }

    /// Does the pattern of a glob match the root, a file?
    fn takes_root(&self) -> bool {
        let path = self.scope.target.display_path().as_bytes();
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
        let rules = ignore_rules::IgnoreRules::new(ignore::gitignore::Gitignore::empty(), b"");
        let fate = self.sieve.wanted.file(Candidate { name, path, below: name }, &rules);
        matches!(fate, Fate::Taken | Fate::TakenFromWorkspace)
    }

    fn grep_host(&self, regex: &RegexMatcher) -> Kept {
        let kept = Mutex::new(Kept::default());
        let lines = || LineSearch::new(regex.clone(), self.stop.clone());
        self.on_host(&self.stop, |walk| {
            let is_named = !self.scope.is_folder;
            let visitor = || GrepVisitor { walk, lines: lines(), is_named, kept: &kept };
            if is_named { walk.run_file(&mut visitor()) } else { walk.run(visitor) }
        });
        kept.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    async fn grep_contract(&self, fs: &dyn FileSystem, regex: RegexMatcher, exec: &Execution) -> Kept {
        let call = FsCall::cancelled_by(exec.cancel.clone());
        let walk = self.by_contract(fs, &self.stop, &call);
        let is_named = !self.scope.is_folder;
        let files = if is_named { vec![walk.root().await] } else { walk.files().await };
        let mut lines = LineSearch::new(regex, self.stop.clone());
        let mut kept = Kept::default();
        walk.search(&files, &mut lines, is_named, &mut kept).await;
        kept
    }

    /// Counts what was passed over. Was it all?
    fn count_on_host(&self, stop: &Stop) -> bool {
        let mut complete = true;
        self.on_host(stop, |walk| complete = walk.count_passed_over());
        complete
    }

    async fn count_by_contract(&self, fs: &dyn FileSystem, stop: &Stop, exec: &Execution) -> bool {
        let call = FsCall::cancelled_by(exec.cancel.clone());
        self.by_contract(fs, stop, &call).count_passed_over().await
    }

    fn on_host(&self, stop: &Stop, work: impl FnOnce(&host::Walk<'_>)) {
        let root = self.scope.host.as_deref().unwrap_or(Path::new(""));
        let name_of = |path: &[u8]| self.scope.name_of(path);
        work(&host::Walk { root, sieve: &self.sieve, stop, report: &self.report, name_of: &name_of });
    }

    fn by_contract<'a>(
        &'a self,
        fs: &'a dyn FileSystem,
        stop: &'a Stop,
        call: &'a FsCall,
    ) -> contract::Walk<'a> {
        contract::Walk { fs, scope: &self.scope, sieve: &self.sieve, stop, report: &self.report, call }
    }
}

struct GlobVisitor<'a> {
    walk: &'a host::Walk<'a>,
    hits: Vec<GlobHit>,
    all: &'a Mutex<Vec<GlobHit>>,
}

impl host::Visitor for GlobVisitor<'_> {
    fn visit(&mut self, file: host::Found<'_>) {
        self.walk.report.looked_at_one();
        match file.stat() {
            Ok(stat) => self.hits.push(GlobHit {
                modified: host::modified(&stat),
                path: PathOrder::of(file.below),
                from_workspace: file.from_workspace,
            }),
            Err(errno) => self.walk.unreadable(file.below, errno),
        }
    }
}

impl Drop for GlobVisitor<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.hits);
    }
}

struct GrepVisitor<'a> {
    walk: &'a host::Walk<'a>,
    lines: LineSearch,
    is_named: bool,
    kept: &'a Mutex<Kept>,
}

impl host::Visitor for GrepVisitor<'_> {
    fn visit(&mut self, file: host::Found<'_>) {
        self.walk.report.looked_at_one();
        let opened = match file.open() {
            Ok(opened) => opened,
            Err(errno) => return self.walk.unreadable(file.below, errno),
        };
        let kept = self.kept;
        let keep = |hits| kept.lock().unwrap_or_else(PoisonError::into_inner).add(file.below, hits);
        match self.lines.file(opened, self.is_named, &mut |hits| keep(hits)) {
            Searched::Whole(hits) if hits.lines.is_empty() => {}
            Searched::Whole(hits) => keep(hits),
            Searched::Binary => self.walk.report.binary(),
            Searched::Partly(hits, error) => {
                keep(hits);
                self.walk.report.unreadable((self.walk.name_of)(file.below), why(&error));
            }
        }
    }
}

/// Why the rest of a file was not searched.
fn why(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(_) => host::why(rustix::io::Errno::from_io_error(error).unwrap_or(rustix::io::Errno::IO)),
        None => TOO_LONG.to_owned(),
    }
}

/// Does the work where it may block; outside a tokio runtime on the spot. A caller that gives up is answered at once, and the work
/// ends at its next look at `stop`. Work that died is a failure of this search.
async fn blocking<T: Send + 'static>(
    tool: &'static str,
    stop: &Stop,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SearchError> {
    let Ok(runtime) = Handle::try_current() else { return Ok(work()) };
    let task = runtime.spawn_blocking(work);
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(SearchError::Aborted { tool }),
        done = task => {
            done.map_err(|_| SearchError::Failed { tool, reason: "it ended unexpectedly".to_owned() })
        }
    }
}

#[cfg(test)]
mod tests;
