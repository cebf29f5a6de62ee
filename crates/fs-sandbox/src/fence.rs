//! [`Fence`]: any backend, and around it the decision what may be read and written. Taken here and nowhere else.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{
    BytesRead, CallPolicy, EditOutcome, FileSystem, FsCall, FsDirEntry, FsError, FsErrorCode, FsInfo, FsKind,
    FsOp, FsPathInfo, FsPathKind, FsTarget, FsVersion, ReadRules, ResumePoint, SandboxMode, SandboxPolicy,
    TextRead, TextStream, WriteGuard, WriteOutcome,
};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::protected::GIT_RUNS;
use crate::read_rules::Both;
use crate::{PathRules, Protected, git};

/// How often a target is judged when the backend finds that something has moved since.
const ATTEMPTS: usize = 3;

/// A fence around a backend.
///
/// Each operation that is fenced resolves its target anew, judges where it leads, and is done by the backend on that fresh
/// target, beneath the folder for which it was permitted ([`FsCall::beneath`]). A backend on a disk holds that folder and
/// follows no link below it, so that what was judged is what is opened; if it answers that something moved, the target is
/// judged again, three times at most. A backend with links has to answer [`FileSystem::process_path`], or links would be
/// judged by their own names.
pub struct Fence<F> {
    inner: F,
    policy: Arc<dyn SandboxPolicy>,
    writable: Vec<PathBuf>,
    protected: Protected,
    rules: Option<Arc<PathRules>>,
    /// Held by a mutation that may give a folder the shape of a repository, from its judgement to its end.
    shaping: Arc<Mutex<()>>,
}

impl<F: FileSystem> Fence<F> {
    /// A fence under `policy` for calls that bring none of their own. In `workspace-write` mode the folders `writable`
    /// (absolute and canonical) are open too.
    pub fn new(inner: F, policy: Arc<dyn SandboxPolicy>, writable: Vec<PathBuf>) -> Self {
        Self {
            inner,
            policy,
            writable,
            protected: Protected::default(),
            rules: None,
            shaping: Arc::default(),
        }
    }

    /// Protects names that must not be written in `workspace-write` mode.
    #[must_use]
    pub fn protecting(self, protected: Protected) -> Self {
        Self { protected, ..self }
    }

    /// Puts reads, and mutations in every mode, under rules.
    #[must_use]
    pub fn reading_by(self, rules: Option<PathRules>) -> Self {
        Self { rules: rules.map(Arc::new), ..self }
    }

    /// The backend inside.
    pub fn inner(&self) -> &F {
        &self.inner
    }

    /// May this be read?
    async fn to_read(&self, target: &FsTarget, is_folder: bool, call: &FsCall) -> Result<Way, FsError> {
        let Some(rules) = &self.rules else { return Ok(Way::as_asked(target, call)) };
        let (fresh, place) = self.fresh(target, call).await?;
        let denied = Denied::by_rules(FsOp::Read, target);
        if !rules.permits_both(&place, fresh.display_path(), is_folder) {
            return Err(denied.error());
        }
        Ok(Way::beneath(Some(rules.root_of(&place)), place, fresh, call, denied))
    }

    /// May this be written or edited?
    async fn to_write(&self, target: &FsTarget, call: &FsCall) -> Result<Way, FsError> {
        let policy = call.policy.clone().unwrap_or_else(|| self.policy.standing(None));
        let by_mode = Denied::by_mode(policy.mode, target);
        match policy.mode {
            SandboxMode::ReadOnly => return Err(by_mode.error()),
            SandboxMode::DangerFullAccess if self.rules.is_none() => return Ok(Way::as_asked(target, call)),
            SandboxMode::WorkspaceWrite | SandboxMode::DangerFullAccess => {}
        }
        let (fresh, place) = self.fresh(target, call).await?;
        let (mut root, mut held) = (None, None);
        if policy.mode == SandboxMode::WorkspaceWrite {
            root = self.writable_root(&policy, &fresh, &place).await;
            let is_root = self.writable.iter().chain([&policy.workspace_root]).any(|root| *root == place);
            if root.is_none() || is_root {
                return Err(by_mode.error());
            }
            if git::may_shape(&place) || git::may_shape(Path::new(fresh.display_path())) {
                held = Some(self.shaping.clone().lock_owned().await);
            }
            if let Some(why) = self.why_protected(&policy, &fresh, &place).await {
                tracing::warn!(path = ?place, why, "a mutation of a protected name was denied");
                return Err(by_mode.error());
            }
        }
        let mut denied = by_mode;
        if let Some(rules) = &self.rules {
            let by_rules = Denied::by_rules(FsOp::Write, target);
            if !rules.permits_both(&place, fresh.display_path(), false) {
                return Err(by_rules.error());
            }
            if root.is_none() {
                (root, denied) = (Some(rules.root_of(&place)), by_rules);
            }
        }
        Ok(Way { _held: held, ..Way::beneath(root, place, fresh, call, denied) })
    }

    /// Why this must not be written: for its name, for the place where that leads, or for what is around it.
    async fn why_protected(
        &self,
        policy: &CallPolicy,
        fresh: &FsTarget,
        place: &Path,
    ) -> Option<&'static str> {
        let shown = Path::new(fresh.display_path());
        let reason = self.protected.reason(place).or_else(|| self.protected.reason(shown));
        if reason.is_some() {
            return reason;
        }
        let git_runs = git::runs_for(&self.inner, &policy.workspace_root, place).await
            || git::runs_by_shape(&self.inner, place).await
            || (shown != place && git::runs_by_shape(&self.inner, shown).await);
        git_runs.then_some(GIT_RUNS)
    }

    /// The writable folder that holds a fresh target.
    async fn writable_root(&self, policy: &CallPolicy, fresh: &FsTarget, place: &Path) -> Option<Arc<Path>> {
        let mut roots = std::iter::once(&policy.workspace_root).chain(&self.writable);
        if self.inner.process_path(fresh).is_some() {
            // Both are without links. The root is not resolved again: what it leads to by now is not what was opened to the
            // session.
            return roots
                .find(|root| root.is_absolute() && place.starts_with(root))
                .map(|root| root.as_path().into());
        }
        for root in roots {
            // A root that cannot be reached holds nothing.
            let Ok(root) = resolve_path(&self.inner, root).await else { continue };
            if self.inner.contains(&root, fresh) {
                return Some(place_of(&self.inner, &root).into());
            }
        }
        None
    }

    /// What the target's path means now, and where that is. Not cancelled: a refusal comes before everything else.
    async fn fresh(&self, target: &FsTarget, call: &FsCall) -> Result<(FsTarget, PathBuf), FsError> {
        let place = place_of(&self.inner, target);
        // A name that is not plain text has no path by which it could be asked for again; the backend will tell if it moved.
        if place.to_str().is_none() || target.display_path().contains(char::REPLACEMENT_CHARACTER) {
            return Ok((target.clone(), place));
        }
        let fresh = self.inner.resolve(target.display_path(), None, &FsCall::new()).await?;
        if call.beneath.is_some() && fresh.key() != target.key() {
            // A fence around this one has judged another file.
            return Err(moved(target));
        }
        let place = place_of(&self.inner, &fresh);
        Ok((fresh, place))
    }

    /// May this name be looked at? Neither where it is nor where it leads may be denied.
    async fn to_look(
        &self,
        rules: &PathRules,
        path: &str,
        cwd: Option<&Path>,
        call: &FsCall,
    ) -> Result<Way, FsError> {
        call.check(FsOp::Lstat)?;
        let uncancelled = FsCall::new();
        let end = self.inner.resolve(path, cwd, &uncancelled).await?;
        let denied = Denied::by_rules(FsOp::Read, &end);
        let mut place = place_of(&self.inner, &end);
        let permitted = rules.permits_both(&place, end.display_path(), false);
        // With a slash at its end the path means the folder where it leads, else the name itself.
        if slash(path).is_empty() {
            let (above, name) = end.display_path().rsplit_once('/').unwrap_or_default();
            let above = if above.is_empty() { "/" } else { above };
            place = place_of(&self.inner, &self.inner.resolve(above, None, &uncancelled).await?).join(name);
        }
        if !permitted || !rules.permits(&place, false) {
            return Err(denied.error());
        }
        Ok(Way::beneath(Some(rules.root_of(&place)), place, end, call, denied))
    }

    /// What the judged target is, unless it turns out to be a folder that is denied as one.
    async fn stat_at(&self, way: &Way) -> Result<Option<FsInfo>, FsError> {
        let found = self.inner.stat(&way.target, &way.call).await?;
        let is_folder = found.as_ref().is_some_and(|found| found.kind == FsKind::Directory);
        self.found(found, is_folder, way)
    }

    async fn lstat_at(&self, way: &Way, slash: &str) -> Result<Option<FsPathInfo>, FsError> {
        let name = way.place.file_name().unwrap_or("/".as_ref()).to_string_lossy();
        let found = self.inner.lstat(&format!("{name}{slash}"), way.place.parent(), &way.call).await?;
        let is_folder = found.as_ref().is_some_and(|found| found.kind == FsPathKind::Directory);
        self.found(found, is_folder, way)
    }

    fn found<T>(&self, found: T, is_folder: bool, way: &Way) -> Result<T, FsError> {
        let shown = way.target.display_path();
        let permits = |rules: &Arc<PathRules>| rules.permits_both(&way.place, shown, true);
        let denied = is_folder && !self.rules.as_ref().is_none_or(permits);
        if denied { Err(way.refusal()) } else { Ok(found) }
    }
}

/// Does `operation` in the way that `judge` permits; judges again where the backend finds that something has moved since.
macro_rules! fenced {
    ($judge:expr, |$way:ident| $operation:expr) => {{
        let mut attempt = 1;
        loop {
            let $way = match $judge.await {
                Ok(way) => way,
                Err(refused) => break Err(refused),
            };
            match $operation.await {
                Err(error) if $way.has_moved(&error) => {
                    if attempt == ATTEMPTS {
                        break Err($way.refusal().with_source(error));
                    }
                    attempt += 1;
                }
                answer => break answer,
            }
        }
    }};
}

// Every method is here: one that the contract gets later is an error, not a hole.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<F: FileSystem> FileSystem for Fence<F> {
    /// Not fenced: it tells what a path means, never what a file holds.
    async fn resolve(&self, path: &str, cwd: Option<&Path>, call: &FsCall) -> Result<FsTarget, FsError> {
        self.inner.resolve(path, cwd, call).await
    }

    fn process_path(&self, target: &FsTarget) -> Option<PathBuf> {
        self.inner.process_path(target)
    }

    fn file_url(&self, target: &FsTarget) -> String {
        self.inner.file_url(target)
    }

    fn contains(&self, parent: &FsTarget, child: &FsTarget) -> bool {
        self.inner.contains(parent, child)
    }

    async fn stat(&self, target: &FsTarget, call: &FsCall) -> Result<Option<FsInfo>, FsError> {
        match fenced!(self.to_read(target, false, call), |way| self.stat_at(&way)) {
            // Nothing lies below what has become a file since the target was resolved.
            Err(error) if error.code() == FsErrorCode::NotFound => Ok(None),
            found => found,
        }
    }

    async fn lstat(
        &self,
        path: &str,
        cwd: Option<&Path>,
        call: &FsCall,
    ) -> Result<Option<FsPathInfo>, FsError> {
        let Some(rules) = &self.rules else { return self.inner.lstat(path, cwd, call).await };
        fenced!(self.to_look(rules, path, cwd, call), |way| self.lstat_at(&way, slash(path)))
    }

    async fn read_text(&self, target: &FsTarget, call: &FsCall) -> Result<TextRead, FsError> {
        fenced!(self.to_read(target, false, call), |way| self.inner.read_text(&way.target, &way.call))
    }

    async fn stream_text(
        &self,
        target: &FsTarget,
        resume: Option<&ResumePoint>,
        call: &FsCall,
    ) -> Result<TextStream, FsError> {
        fenced!(self.to_read(target, false, call), |way| {
            self.inner.stream_text(&way.target, resume, &way.call)
        })
    }

    async fn read_bytes(&self, target: &FsTarget, max: u64, call: &FsCall) -> Result<BytesRead, FsError> {
        fenced!(self.to_read(target, false, call), |way| self.inner.read_bytes(&way.target, max, &way.call))
    }

    /// Children that may not be read are left out.
    async fn list_dir(&self, target: &FsTarget, call: &FsCall) -> Result<Vec<FsDirEntry>, FsError> {
        let mut children =
            fenced!(self.to_read(target, true, call), |way| self.inner.list_dir(&way.target, &way.call))?;
        if let Some(rules) = &self.rules {
            children.retain(|child| {
                let place = place_of(&self.inner, &child.target);
                rules.permits_both(&place, child.target.display_path(), child.kind == FsKind::Directory)
            });
        }
        Ok(children)
    }

    async fn write_text(
        &self,
        target: &FsTarget,
        content: &str,
        guard: Option<&WriteGuard>,
        call: &FsCall,
    ) -> Result<WriteOutcome, FsError> {
        fenced!(self.to_write(target, call), |way| {
            self.inner.write_text(&way.target, content, guard, &way.call)
        })
    }

    async fn edit_text(
        &self,
        target: &FsTarget,
        edit: &LiteralEdit,
        guard: Option<&FsVersion>,
        call: &FsCall,
    ) -> Result<EditOutcome, FsError> {
        fenced!(self.to_write(target, call), |way| {
            self.inner.edit_text(&way.target, edit, guard, &way.call)
        })
    }

    fn sandbox_mode(&self) -> Option<SandboxMode> {
        Some(self.policy.standing(None).mode)
    }

    fn read_rules(&self) -> Option<Arc<dyn ReadRules>> {
        let own = self.rules.clone().map(|rules| rules as Arc<dyn ReadRules>);
        match (own, self.inner.read_rules()) {
            (Some(own), Some(inner)) => Some(Arc::new(Both(own, inner))),
            (own, inner) => own.or(inner),
        }
    }
}

impl<F> fmt::Debug for Fence<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fence")
            .field("writable", &self.writable)
            .field("protected", &self.protected)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

/// How one operation may be done.
struct Way {
    target: FsTarget,
    place: PathBuf,
    call: FsCall,
    /// How to refuse it after all; `None` where nothing was judged.
    denied: Option<Denied>,
    /// Keeps others out until the operation has ended.
    _held: Option<OwnedMutexGuard<()>>,
}

impl Way {
    /// As the caller asked: nothing stands against it.
    fn as_asked(target: &FsTarget, call: &FsCall) -> Self {
        Self { target: target.clone(), place: PathBuf::new(), call: call.clone(), denied: None, _held: None }
    }

    /// On a fresh target that lies at `place`, not leaving `root`.
    fn beneath(
        root: Option<Arc<Path>>,
        place: PathBuf,
        target: FsTarget,
        call: &FsCall,
        denied: Denied,
    ) -> Self {
        // A root is opened by its own name in the folder above it: beneath itself it has none.
        let folder = root.map(|root| match root.parent() {
            Some(above) if *root == *place => Arc::from(above),
            _ => root,
        });
        let call = folder.map_or_else(|| call.clone(), |folder| call.beneath(folder));
        Self { target, place, call, denied: Some(denied), _held: None }
    }

    /// Does the backend say that the target is no longer where it was judged?
    fn has_moved(&self, error: &FsError) -> bool {
        self.denied.is_some() && error.code() == FsErrorCode::SandboxDenied
    }

    fn refusal(&self) -> FsError {
        self.denied.as_ref().map_or_else(|| moved(&self.target), Denied::error)
    }
}

/// Why an operation is refused.
struct Denied {
    path: String,
    why: Why,
}

enum Why {
    Mode(SandboxMode),
    ReadRules(FsOp),
}

impl Denied {
    fn by_mode(mode: SandboxMode, target: &FsTarget) -> Self {
        Self { path: target.display_path().to_owned(), why: Why::Mode(mode) }
    }

    fn by_rules(op: FsOp, target: &FsTarget) -> Self {
        Self { path: target.display_path().to_owned(), why: Why::ReadRules(op) }
    }

    fn error(&self) -> FsError {
        match self.why {
            Why::Mode(mode) => FsError::denied_by_mode(&self.path, mode),
            Why::ReadRules(op) => FsError::denied_by_read_rules(op, &self.path),
        }
    }
}

/// For a fence around this one, which judges again.
fn moved(target: &FsTarget) -> FsError {
    FsError::new(FsErrorCode::SandboxDenied, format!("\"{}\" has moved", target.display_path()))
}

/// The end of a path that means a folder.
fn slash(path: &str) -> &'static str {
    if path.ends_with('/') || path.ends_with("/.") || path == "." { "/" } else { "" }
}

/// The path of a target, absolute and without links; the display path where the backend's files have no other.
pub(crate) fn place_of(inner: &impl FileSystem, target: &FsTarget) -> PathBuf {
    inner.process_path(target).unwrap_or_else(|| PathBuf::from(target.display_path()))
}

/// The target of an absolute path, which need not be UTF-8.
pub(crate) async fn resolve_path(inner: &impl FileSystem, path: &Path) -> Result<FsTarget, FsError> {
    let call = FsCall::new();
    if let Some(text) = path.to_str() {
        return inner.resolve(text, None, &call).await;
    }
    let target = inner.resolve(".", Some(path), &call).await?;
    // Without paths of processes a backend has no use for such a name, and may have taken it for another.
    let known = inner.process_path(&target).is_some();
    known.then_some(target).ok_or_else(|| FsError::not_found(FsOp::Resolve, &path.to_string_lossy()))
}
