//! [`SandboxPlugin`]: a fenced backend as a plugin.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_fs::{FS, FileSystem, FsCall, FsKind, SANDBOX_POLICY, SandboxPolicy};
use dsh_harness::SYSTEM_PROMPT;
use dsh_plugin::{Context, Failure, Plugin};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::fence::{place_of, resolve_path};
use crate::read_rules::{literal, literal_head};
use crate::{ConfigError, Fence, PathRules, Protected, SandboxConfig, StandingPolicy};

/// What a fence must be told of the place where it stands, because only the program that mounts it knows.
#[derive(Clone, Debug)]
pub struct Place {
    /// The folders beside the workspace that may be written in `workspace-write` mode.
    pub writable: Vec<PathBuf>,
    /// What must not be written in `workspace-write` mode, with all below: the composition file, the folder with the
    /// program's state.
    pub protected: Vec<PathBuf>,
    /// Is the whole process confined by the kernel, so that no call can be granted more?
    pub kernel_confined: bool,
    /// Follows the links of a session's `cwd`; `None` where it cannot be followed.
    pub canonical: fn(&Path) -> Option<PathBuf>,
}

impl Place {
    /// A place where `/tmp` and the operating system's temporary folder `temp` may be written and nothing is protected
    /// beside what Git runs.
    pub fn new(temp: PathBuf) -> Self {
        let writable = vec![PathBuf::from("/tmp"), temp];
        Self { writable, protected: Vec::new(), kernel_confined: false, canonical: |_| None }
    }
}

/// Provides the services [`FS`] (the fenced backend) and [`SANDBOX_POLICY`], and tells the model the policy in the runtime
/// context where there is a system prompt. Injects nothing.
pub struct SandboxPlugin<F, C> {
    make: Box<Make<F, C>>,
    place: Place,
}

type Make<F, C> = dyn Fn(C) -> Result<F, Failure> + Send + Sync;

impl<F, C> SandboxPlugin<F, C> {
    /// A fence, at this place, around the backend that `make` makes from its settings.
    pub fn new<E: Into<Failure>>(
        make: impl Fn(C) -> Result<F, E> + Send + Sync + 'static,
        place: Place,
    ) -> Self {
        Self { make: Box::new(move |config| make(config).map_err(Into::into)), place }
    }
}

impl<F, C> Plugin for SandboxPlugin<F, C>
where
    F: FileSystem,
    C: DeserializeOwned + JsonSchema + Clone + Send + Sync + 'static,
{
    type Config = SandboxConfig<C>;

    fn name(&self) -> &'static str {
        "fs-sandbox"
    }

    async fn apply(&self, ctx: Context, config: SandboxConfig<C>) -> Result<(), Failure> {
        let inner = (self.make)(config.inner)?;
        let folder = inner.resolve(".", None, &FsCall::new()).await?;
        let policy =
            StandingPolicy::new(config.mode, place_of(&inner, &folder)).canonical_by(self.place.canonical);
        let policy = Arc::new(if self.place.kernel_confined { policy.without_escalation() } else { policy });

        let roots = read_roots(&inner, config.read_roots).await?;
        let deny = deny_with_ends(&inner, config.deny).await;
        let rules = PathRules::new(roots, &deny).map_err(ConfigError::from)?;
        let protected = with_ends(&inner, &self.place.protected).await;
        let writable = with_ends(&inner, &self.place.writable).await;
        let fence = Fence::new(inner, policy.clone(), writable)
            .protecting(Protected::new(protected))
            .reading_by(rules);

        ctx.provide(FS, Arc::new(fence) as Arc<dyn FileSystem>)?;
        ctx.provide(SANDBOX_POLICY, policy.clone() as Arc<dyn SandboxPolicy>)?;
        if let Some(prompt) = ctx.try_service(SYSTEM_PROMPT) {
            prompt.context(&ctx, "sandbox:policy", 110, move |session| policy.sentence(session))?;
        }
        Ok(())
    }
}

impl<F, C> fmt::Debug for SandboxPlugin<F, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SandboxPlugin").field("place", &self.place).finish_non_exhaustive()
    }
}

/// The read roots as the backend finds them now: what they are is settled once, at the start.
async fn read_roots(inner: &impl FileSystem, given: Vec<PathBuf>) -> Result<Vec<PathBuf>, Failure> {
    let mut roots = Vec::with_capacity(given.len());
    for root in given {
        let target = resolve_path(inner, &root).await?;
        let found = inner.stat(&target, &FsCall::new()).await?;
        if found.is_none_or(|found| found.kind != FsKind::Directory) {
            return Err(ConfigError::ReadRoot(root).into());
        }
        roots.push(place_of(inner, &target));
    }
    Ok(roots)
}

/// The patterns as given, and each one for whole paths also for where its literal head leads now.
async fn deny_with_ends(inner: &impl FileSystem, given: Vec<String>) -> Vec<String> {
    let mut patterns = given.clone();
    for pattern in &given {
        let Some((head, rest)) = literal_head(pattern) else { continue };
        let Ok(target) = resolve_path(inner, Path::new(head)).await else { continue };
        let end = place_of(inner, &target);
        if end != Path::new(head) {
            let end = literal(end.to_string_lossy().trim_end_matches('/'));
            let everything = end.is_empty() && rest.trim_matches('/').is_empty();
            patterns.push(if everything { "/**".to_owned() } else { format!("{end}{rest}") });
        }
    }
    patterns
}

/// Each path as given, and where it leads now.
async fn with_ends(inner: &impl FileSystem, given: &[PathBuf]) -> Vec<PathBuf> {
    let mut paths = given.to_vec();
    for path in given {
        match resolve_path(inner, path).await {
            Ok(target) => {
                let end = place_of(inner, &target);
                if !paths.contains(&end) {
                    paths.push(end);
                }
            }
            Err(error) => {
                tracing::warn!(?path, error = ?error.to_string(), "a path of the fence leads nowhere");
            }
        }
    }
    paths
}
