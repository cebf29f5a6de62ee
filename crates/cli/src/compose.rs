//! Which plugins there are, and how they are mounted. The only place that knows them all.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use dsh_fs::SandboxMode;
use dsh_fs_local::{LocalFileSystem, LocalFsConfig, LocalFsPlugin};
use dsh_fs_object::{ObjectFileSystem, ObjectFsConfig, ObjectFsPlugin};
use dsh_fs_observation_policy::ObservationPolicyPlugin;
use dsh_fs_sandbox::{Place, SandboxConfig, SandboxPlugin};
use dsh_harness::{
    HarnessConfig, HarnessPlugin, SYSTEM_PROMPT, SpillLocalConfig, SpillLocalPlugin, StateFolder,
    SystemPrompt, TOOLS, TimeoutPolicyPlugin, ToolRegistry,
};
use dsh_plugin::{Composition, Configured, Context, MountedRows, Registry};
use dsh_tool_fs::ToolFsPlugin;
use dsh_tool_fs_search::SearchPlugin;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{Confinement, Setup};
use crate::confine::{self, Bounds};

/// The composition that is used where no file is given; its `cwd` is relative to `--cwd`.
pub const BUILT_IN: &str = "\
- name: dsh-fs-sandbox
  config: { cwd: ., mode: workspace-write }
- name: dsh-fs-observation-policy
- name: dsh-tool-fs
  config: { editHints: true }
- name: dsh-tool-fs-search
  config: { sampleOverCapGlobResults: true, patternHints: true }
- name: dsh-spill-local
- name: dsh-tool-call-timeout-policy
";

/// The composition for a workspace in an object store. No fence: no path leads out of the prefix. Long results are not
/// kept: they would lie where these tools cannot read.
fn for_objects(url: &str) -> String {
    let url = serde_json::Value::from(url);
    format!(
        "\
- name: dsh-fs-object
  config: {{ url: {url} }}
- name: dsh-fs-observation-policy
- name: dsh-tool-fs
  config: {{ editHints: true }}
- name: dsh-tool-fs-search
  config: {{ sampleOverCapGlobResults: true, patternHints: true }}
- name: dsh-tool-call-timeout-policy
"
    )
}

/// The settings of the row `dsh-fs-sandbox`.
pub(crate) type FenceConfig = SandboxConfig<LocalFsConfig>;

/// The settings of the row `dsh-fs-object-sandbox`.
type ObjectFenceConfig = SandboxConfig<ObjectFsConfig>;

/// Every row that a composition may have.
pub fn registry() -> Registry {
    registry_at(Place::new(temp()))
}

fn registry_at(place: Place) -> Registry {
    // In a store there are no folders of temporary files, nothing of the program's own, and no links.
    let in_store = Place { writable: Vec::new(), protected: Vec::new(), canonical: |_| None, ..place };
    Registry::new()
        .with("dsh-fs-object", ObjectFsPlugin)
        .with(
            "dsh-fs-object-sandbox",
            SandboxPlugin::new(|config: ObjectFsConfig| ObjectFileSystem::new(&config), in_store),
        )
        .with_paths("dsh-fs-local", LocalFsPlugin, |config, folder| from_folder(&mut config.cwd, folder))
        .with_paths(
            "dsh-fs-sandbox",
            SandboxPlugin::new(LocalFileSystem::new, place),
            |config: &mut FenceConfig, folder| {
                from_folder(&mut config.inner.cwd, folder);
                config.read_roots.iter_mut().for_each(|root| *root = joined(folder, root));
            },
        )
        .with("dsh-fs-observation-policy", ObservationPolicyPlugin)
        .alias("dsh-fs-policy", "dsh-fs-observation-policy")
        .with("dsh-tool-fs", ToolFsPlugin)
        .with("dsh-tool-fs-search", SearchPlugin)
        .with_paths("dsh-spill-local", SpillLocalPlugin::new(temp()), |config, folder| {
            from_folder(&mut config.root, folder);
        })
        .with("dsh-tool-call-timeout-policy", TimeoutPolicyPlugin)
}

/// A relative path in the settings is relative to the composition file's folder.
fn from_folder(path: &mut Option<PathBuf>, folder: &Path) {
    if let Some(path) = path {
        *path = joined(folder, path);
    }
}

fn joined(folder: &Path, path: &Path) -> PathBuf {
    let joined = folder.join(path);
    // `folder/.` is the folder: names in messages should not show the dot.
    if joined.components().eq(folder.components()) { folder.to_owned() } else { joined }
}

/// The same place without links or `..` on the way to it; itself it may be a link, and need not be there.
fn in_its_folder(path: &Path) -> PathBuf {
    let found =
        path.parent().and_then(|folder| Some(std::fs::canonicalize(folder).ok()?.join(path.file_name()?)));
    found.unwrap_or_else(|| path.to_owned())
}

/// The folder of temporary files: what TMPDIR names, if that can be one; it is open to the sandbox.
fn temp() -> PathBuf {
    match std::env::var_os("TMPDIR").map(PathBuf::from) {
        Some(temp) if is_temp(&temp) => temp,
        _ => PathBuf::from("/tmp"),
    }
}

fn is_temp(folder: &Path) -> bool {
    let canonical = std::fs::canonicalize(folder);
    folder.is_absolute() && canonical.is_ok_and(|folder| folder.is_dir() && folder != Path::new("/"))
}

/// What the sandbox leaves open, though hardly anybody means it.
fn warn_of_open_folders(setup: &Setup, fence: Option<&FenceConfig>) {
    if let Some(given) = std::env::var_os("TMPDIR").filter(|given| !given.is_empty())
        && !is_temp(Path::new(&given))
    {
        tracing::warn!(TMPDIR = ?given, "not a folder of temporary files, so /tmp is used");
    }
    let writes = fence.is_some_and(|fence| fence.mode == SandboxMode::WorkspaceWrite);
    if writes && setup.cwd == Path::new("/") {
        tracing::warn!("the workspace is the whole disk: the sandbox keeps nothing from being written");
    }
}

/// A composition whose names are known and whose settings are right. Nothing of it is started.
pub(crate) struct Composed {
    pub(crate) place: Place,
    pub(crate) rows: Vec<Configured>,
}

impl Composed {
    pub(crate) fn read(setup: &Setup, confinement: Confinement) -> anyhow::Result<Self> {
        let built_in = setup.cwd.join("(built-in composition)");
        let composition = match (&setup.compose, &setup.workspace) {
            (Some(file), _) => Composition::load(file)?,
            (None, Some(url)) => Composition::parse(&for_objects(url), &built_in)?,
            (None, None) => Composition::parse(BUILT_IN, &built_in)?,
        };
        // What a fence is told of its place depends on the other rows.
        let known = composition.bind(&registry())?;
        let mut place = Place::new(temp());
        let state = setup.state.as_ref().map(StateFolder::path);
        // Where the composition is a link, the file that it leads to is as good as it.
        let behind = setup.compose.as_ref().and_then(|file| std::fs::canonicalize(file).ok());
        let ours = setup.compose.iter().chain(&behind).chain(spill_roots(&known));
        let ours = ours.map(PathBuf::as_path).chain(state);
        place.protected = ours.map(in_its_folder).collect();
        place.protected.dedup();
        place.canonical = |path| std::fs::canonicalize(path).ok();
        place.kernel_confined = confinement.confine;
        let rows = composition.bind(&registry_at(place.clone()))?;
        let rows = rows.into_iter().map(|row| match row.config::<FenceConfig>() {
            // Another file that is protected makes it another fence.
            Some(_) => row.made_with(format!("{:?}", place.protected)),
            None => row,
        });
        let composed = Self { rows: rows.collect(), place };
        if composed.is_in_store() {
            ensure!(
                setup.workspaces.is_none(),
                "--workspaces: folders, but the files are in an object store"
            );
        } else {
            setup.must_have_folder()?;
        }
        Ok(composed)
    }

    /// The row that gives the files.
    pub(crate) fn backend(&self) -> Option<&'static str> {
        self.rows.iter().find_map(|row| {
            let local = row.config::<LocalFsConfig>().map(|_| "dsh-fs-local");
            row.config::<FenceConfig>().map(|_| "dsh-fs-sandbox").or(local)
        })
    }

    /// Are the files objects in a store?
    pub(crate) fn is_in_store(&self) -> bool {
        self.rows.iter().any(|row| {
            row.config::<ObjectFsConfig>().is_some() || row.config::<ObjectFenceConfig>().is_some()
        })
    }

    /// The workspace of the sessions: in a store the whole prefix, unless a place in it was given.
    fn cwd(&self, setup: &Setup) -> PathBuf {
        if self.is_in_store() && !setup.is_cwd_given { PathBuf::from("/") } else { setup.cwd.clone() }
    }

    /// The settings of the fence, where there is one.
    pub(crate) fn fence(&self) -> Option<&FenceConfig> {
        self.rows.iter().find_map(Configured::config::<FenceConfig>)
    }

    /// How far the kernel lets the process go.
    fn bounds(&self, setup: &Setup) -> Bounds {
        let mut scratch = self.place.writable.clone();
        scratch.extend(spill_roots(&self.rows).cloned());
        scratch.extend(setup.state.iter().map(|state| state.path().to_owned()));
        let workspaces = std::iter::once(&setup.cwd).chain(&setup.workspaces).cloned().collect();
        Bounds::new(workspaces, scratch, self.fence())
    }
}

fn spill_roots(rows: &[Configured]) -> impl Iterator<Item = &PathBuf> {
    rows.iter().filter_map(|row| row.config::<SpillLocalConfig>()?.root.as_ref())
}

/// A harness with everything mounted, and what runs it.
pub(crate) struct Running {
    pub(crate) ctx: Context,
    pub(crate) tools: Arc<ToolRegistry>,
    pub(crate) prompt: Arc<SystemPrompt>,
    /// Until somebody takes over looking after them.
    pub(crate) rows: Option<MountedRows>,
    /// The workspace of the sessions.
    pub(crate) cwd: PathBuf,
    runtime: Runtime,
}

impl Running {
    /// Mounts the harness and then the composition, all or nothing; confined first, if that is wanted.
    pub(crate) fn start(setup: &Setup, confinement: Confinement) -> anyhow::Result<Self> {
        let composed = Composed::read(setup, confinement)?;
        warn_of_open_folders(setup, composed.fence());
        if let Some(state) = &setup.state {
            state.make().with_context(|| format!("--state {}", state.path().display()))?;
        }
        let cwd = composed.cwd(setup);
        if confinement.confine {
            ensure!(
                !composed.is_in_store(),
                "--confine: the files are in an object store, where no kernel guards them"
            );
            // The kernel confines a thread and those that it starts: now there is only this one.
            confine::confine(&composed.bounds(setup))?;
        }
        // One thread for what is quick; reading and writing files happens on the runtime's blocking threads, or on this one where
        // it has but one call to answer. It starts faster than several threads do, and answers as fast.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start the runtime")?;
        // A file that would grow beyond the process's limit is an error of the call, not the end of the process.
        let limit = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
        let _heard = runtime.block_on(async { signal(limit) }).context("cannot handle signals")?;
        let ctx = Context::root();
        let rows = Some(runtime.block_on(mount(&ctx, composed.rows))?);
        let tools = ctx.service(TOOLS)?;
        let prompt = ctx.service(SYSTEM_PROMPT)?;
        Ok(Self { ctx, tools, prompt, rows, cwd, runtime })
    }

    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// Unloads everything, and waits for nothing that cannot be stopped (a read of standard input, say).
    pub(crate) fn stop(self) {
        self.runtime.block_on(self.ctx.dispose());
        self.runtime.shutdown_background();
    }
}

async fn mount(ctx: &Context, rows: Vec<Configured>) -> anyhow::Result<MountedRows> {
    // These tools serve somebody else's agent, who is not to be told that it is another one.
    let harness = HarnessConfig { include_harness_identity: false, ..HarnessConfig::default() };
    ctx.plugin(HarnessPlugin, harness).await?;
    Ok(ctx.compose(rows).await?)
}
