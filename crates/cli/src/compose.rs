//! Which plugins there are, and how they are mounted. The only place that knows them all.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use dsh_fs_local::LocalFsPlugin;
use dsh_fs_observation_policy::ObservationPolicyPlugin;
use dsh_harness::{
    HarnessConfig, HarnessPlugin, SYSTEM_PROMPT, SpillLocalPlugin, SystemPrompt, TOOLS, TimeoutPolicyPlugin,
    ToolRegistry,
};
use dsh_plugin::{Composition, Context, Registry};
use dsh_tool_fs::ToolFsPlugin;
use dsh_tool_fs_search::SearchPlugin;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::Setup;

/// The composition that is used where no file is given; its `cwd` is relative to `--cwd`.
pub const BUILT_IN: &str = "\
- name: dsh-fs-local
  config: { cwd: . }
- name: dsh-fs-observation-policy
- name: dsh-tool-fs
- name: dsh-tool-fs-search
  config: { sampleOverCapGlobResults: true }
- name: dsh-spill-local
- name: dsh-tool-call-timeout-policy
";

/// Every row that a composition may have.
pub fn registry() -> Registry {
    Registry::new()
        .with_paths("dsh-fs-local", LocalFsPlugin, |config, folder| from_folder(&mut config.cwd, folder))
        .with("dsh-fs-observation-policy", ObservationPolicyPlugin)
        .alias("dsh-fs-policy", "dsh-fs-observation-policy")
        .with("dsh-tool-fs", ToolFsPlugin)
        .with("dsh-tool-fs-search", SearchPlugin)
        .with_paths("dsh-spill-local", SpillLocalPlugin::new(std::env::temp_dir()), |config, folder| {
            from_folder(&mut config.root, folder);
        })
        .with("dsh-tool-call-timeout-policy", TimeoutPolicyPlugin)
}

/// A relative path in the settings is relative to the composition file's folder.
fn from_folder(path: &mut Option<PathBuf>, folder: &Path) {
    if let Some(path) = path {
        let joined = folder.join(&*path);
        // `folder/.` is the folder: names in messages should not show the dot.
        *path = if joined.components().eq(folder.components()) { folder.to_owned() } else { joined };
    }
}

/// A harness with everything mounted, and what runs it.
pub(crate) struct Running {
    pub(crate) ctx: Context,
    pub(crate) tools: Arc<ToolRegistry>,
    pub(crate) prompt: Arc<SystemPrompt>,
    runtime: Runtime,
}

impl Running {
    /// Mounts the harness and then the composition, all or nothing.
    pub(crate) fn start(setup: &Setup) -> anyhow::Result<Self> {
        // One thread for what is quick; reading and writing files happens on the runtime's blocking threads. It starts
        // faster than several threads do, and answers as fast.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start the runtime")?;
        // A file that would grow beyond the process's limit is an error of the call, not the end of the process.
        let limit = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
        let _heard = runtime.block_on(async { signal(limit) }).context("cannot handle signals")?;
        let ctx = Context::root();
        runtime.block_on(mount(&ctx, setup))?;
        let tools = ctx.service(TOOLS)?;
        let prompt = ctx.service(SYSTEM_PROMPT)?;
        Ok(Self { ctx, tools, prompt, runtime })
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

async fn mount(ctx: &Context, setup: &Setup) -> anyhow::Result<()> {
    let composition = match &setup.compose {
        Some(file) => Composition::load(file)?,
        None => Composition::parse(BUILT_IN, &setup.cwd.join("(built-in composition)"))?,
    };
    let rows = composition.bind(&registry())?;
    // These tools serve somebody else's agent, who is not to be told that it is another one.
    let harness = HarnessConfig { include_harness_identity: false, ..HarnessConfig::default() };
    ctx.plugin(HarnessPlugin, harness).await?;
    ctx.compose(rows).await?;
    Ok(())
}
