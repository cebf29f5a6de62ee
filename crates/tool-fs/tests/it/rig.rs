//! A harness with the tools on a backend in memory that counts what it is asked.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{
    BytesRead, CallPolicy, EditOutcome, FS, FileSystem, FsCall, FsDirEntry, FsError, FsErrorCode, FsInfo,
    FsPathInfo, FsTarget, FsVersion, MemoryFileSystem, Owner, ReadRules, ResumePoint, SANDBOX_POLICY,
    SandboxMode, SandboxPolicy, TextRead, TextStream, WriteGuard, WriteOutcome,
};
use dsh_fs_observation_policy::ObservationPolicyPlugin;
use dsh_harness::{
    HarnessConfig, HarnessPlugin, Session, SessionHeader, TOOLS, ToolCall, ToolRegistry, ToolResult,
};
use dsh_plugin::{Context, Mounted, NoConfig};
use dsh_tool_fs::{ToolFsConfig, ToolFsPlugin};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

/// The tools, mounted; files are below `/w`.
pub(crate) struct Rig {
    pub(crate) ctx: Context,
    pub(crate) plugin: Mounted,
    pub(crate) files: Arc<Counting>,
    pub(crate) tools: Arc<ToolRegistry>,
    pub(crate) session: Arc<Session>,
}

impl Rig {
    /// With the observation policy.
    pub(crate) async fn new<const N: usize>(files: [(&str, &str); N]) -> Self {
        Self::build(files, true, ToolFsConfig::default()).await
    }

    /// Without any policy.
    pub(crate) async fn bare<const N: usize>(files: [(&str, &str); N]) -> Self {
        Self::build(files, false, ToolFsConfig::default()).await
    }

    pub(crate) async fn build<const N: usize>(
        files: [(&str, &str); N],
        policy: bool,
        config: ToolFsConfig,
    ) -> Self {
        let ctx = Context::root();
        ctx.plugin(HarnessPlugin, HarnessConfig::default()).await.unwrap();
        let memory = MemoryFileSystem::with_files(files.map(|(path, text)| (format!("/w/{path}"), text)));
        let files = Arc::new(Counting { inner: memory, ..Counting::default() });
        ctx.provide(FS, files.clone()).unwrap();
        if policy {
            ctx.plugin(ObservationPolicyPlugin, NoConfig {}).await.unwrap();
        }
        let plugin = ctx.plugin(ToolFsPlugin, config).await.unwrap();
        let tools = ctx.service(TOOLS).unwrap();
        Self { ctx, files, tools, plugin, session: session("s1") }
    }

    /// Without any other policy, around files of which only those below `/w` may be written in `workspace-write` mode.
    pub(crate) async fn fenced(mode: SandboxMode, can_escalate: bool) -> Self {
        Self::fenced_with(mode, can_escalate, ToolFsConfig::default()).await
    }

    pub(crate) async fn fenced_with(mode: SandboxMode, can_escalate: bool, config: ToolFsConfig) -> Self {
        let ctx = Context::root();
        ctx.plugin(HarnessPlugin, HarnessConfig::default()).await.unwrap();
        let inner = MemoryFileSystem::with_files([("/w/in.txt", "in\n"), ("/out.txt", "out\n")]);
        let fence = Mutex::new(Fence { mode: Some(mode), ..Fence::default() });
        let files = Arc::new(Counting { inner, fence, ..Counting::default() });
        ctx.provide(FS, files.clone()).unwrap();
        ctx.provide(SANDBOX_POLICY, Arc::new(Standing { mode, can_escalate }) as Arc<dyn SandboxPolicy>)
            .unwrap();
        let plugin = ctx.plugin(ToolFsPlugin, config).await.unwrap();
        let tools = ctx.service(TOOLS).unwrap();
        Self { ctx, files, tools, plugin, session: session("s1") }
    }

    /// Calls a tool in the rig's session.
    pub(crate) async fn call(&self, tool: &str, args: Json) -> ToolResult {
        self.call_in(Some(self.session.clone()), tool, args).await
    }

    pub(crate) async fn call_in(
        &self,
        session: Option<Arc<Session>>,
        tool: &str,
        arguments: Json,
    ) -> ToolResult {
        let cancel = CancellationToken::new();
        self.tools
            .execute(ToolCall { id: "c1".to_owned(), tool: tool.to_owned(), arguments, session, cancel })
            .await
    }

    pub(crate) async fn read(&self, path: &str) -> ToolResult {
        self.call("read", json!({ "file_path": path })).await
    }

    pub(crate) async fn write(&self, path: &str, content: &str) -> ToolResult {
        self.call("write", json!({ "file_path": path, "content": content })).await
    }

    pub(crate) async fn edit(&self, path: &str, old: &str, new: &str) -> ToolResult {
        self.call("edit", json!({ "file_path": path, "old_string": old, "new_string": new })).await
    }

    /// The text of a file below `/w`.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let bytes = self.files.inner.bytes(&format!("/w/{path}"))?;
        Some(String::from_utf8(bytes.to_vec()).unwrap())
    }

    /// Changes a file as another program would.
    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        self.files.inner.put(&format!("/w/{path}"), bytes.as_ref());
    }

    pub(crate) fn remove(&self, path: &str) {
        assert!(self.files.inner.remove(&format!("/w/{path}")));
    }
}

/// A session whose workspace is `/w`.
pub(crate) fn session(id: &str) -> Arc<Session> {
    Session::new(SessionHeader { id: id.to_owned(), cwd: PathBuf::from("/w") })
}

/// Asserts an error result: its code and the whole text that a model sees.
#[track_caller]
pub(crate) fn assert_error(result: &ToolResult, code: &str, text: &str) {
    let error = result.error().unwrap_or_else(|| panic!("no error but: {}", result.text()));
    assert_eq!((error.code.as_deref(), result.text().as_str()), (Some(code), text));
    assert_eq!(format!("Error: {}", error.message), text);
}

/// Asserts a success and the whole text that a model sees.
#[track_caller]
pub(crate) fn assert_text(result: &ToolResult, text: &str) {
    assert_eq!((result.text().as_str(), result.error()), (text, None));
}

/// Every session stands under `mode`, those whose id is a mode under that one.
struct Standing {
    mode: SandboxMode,
    can_escalate: bool,
}

impl SandboxPolicy for Standing {
    fn standing(&self, owner: Option<&Owner>) -> CallPolicy {
        let session = owner.and_then(Owner::get::<Session>);
        let own = session.and_then(|session| SandboxMode::parse(&session.header().id));
        CallPolicy { mode: own.unwrap_or(self.mode), workspace_root: "/w".into() }
    }

    fn can_escalate(&self) -> bool {
        self.can_escalate
    }
}

/// The memory backend, counting calls of `stat` and streams, and with a fence if it has a mode.
#[derive(Default)]
pub(crate) struct Counting {
    pub(crate) inner: MemoryFileSystem,
    stats: AtomicUsize,
    /// Where they were to go on, if not at the start.
    streams: Mutex<Vec<Option<u64>>>,
    fence: Mutex<Fence>,
}

#[derive(Default)]
struct Fence {
    mode: Option<SandboxMode>,
    /// The path that must not be read.
    hidden: Option<&'static str>,
    /// Path, policy's mode, and folder not to be left, of every mutation that was permitted.
    mutations: Vec<(String, SandboxMode, Option<PathBuf>)>,
}

impl Counting {
    /// The mutations that the fence has permitted since the last question.
    pub(crate) fn mutations(&self) -> Vec<(String, SandboxMode, Option<PathBuf>)> {
        std::mem::take(&mut self.fence.lock().unwrap().mutations)
    }

    /// Where streams were asked to go on since the last question; `None` for one from the start.
    pub(crate) fn streams(&self) -> Vec<Option<u64>> {
        std::mem::take(&mut self.streams.lock().unwrap())
    }

    /// Puts a path under read rules.
    pub(crate) fn hide(&self, path: &'static str) {
        self.fence.lock().unwrap().hidden = Some(path);
    }

    fn judge(&self, target: &FsTarget, call: &FsCall) -> Result<(), FsError> {
        let mut fence = self.fence.lock().unwrap();
        if fence.mode.is_none() {
            assert_eq!((&call.policy, &call.beneath), (&None, &None), "nothing of a sandbox without one");
            return Ok(());
        }
        let CallPolicy { mode, workspace_root } = call.policy.clone().unwrap();
        assert_eq!(workspace_root, Path::new("/w"));
        let path = target.display_path();
        let permitted = match mode {
            SandboxMode::ReadOnly => false,
            SandboxMode::WorkspaceWrite => path.starts_with("/w/"),
            SandboxMode::DangerFullAccess => true,
        };
        if !permitted {
            let message = format!("cannot write \"{path}\": file access denied under {} mode", mode.as_str());
            return Err(FsError::new(FsErrorCode::SandboxDenied, message));
        }
        fence.mutations.push((path.to_owned(), mode, call.beneath.as_deref().map(Path::to_path_buf)));
        Ok(())
    }

    /// How many `stat` calls there have been since the last question.
    pub(crate) fn stats(&self) -> usize {
        self.stats.swap(0, Ordering::Relaxed)
    }
}

struct Hidden(&'static str);

impl ReadRules for Hidden {
    fn permits(&self, path: &Path, _is_folder: bool) -> bool {
        path != Path::new(self.0)
    }

    fn permits_name(&self, name: &Path, is_folder: bool) -> bool {
        self.permits(name, is_folder)
    }
}

#[dsh_fs::async_trait]
#[deny(clippy::missing_trait_methods)]
impl FileSystem for Counting {
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
        self.stats.fetch_add(1, Ordering::Relaxed);
        self.inner.stat(target, call).await
    }
    async fn lstat(
        &self,
        path: &str,
        cwd: Option<&Path>,
        call: &FsCall,
    ) -> Result<Option<FsPathInfo>, FsError> {
        self.inner.lstat(path, cwd, call).await
    }
    async fn read_text(&self, target: &FsTarget, call: &FsCall) -> Result<TextRead, FsError> {
        self.inner.read_text(target, call).await
    }
    async fn stream_text(
        &self,
        target: &FsTarget,
        resume: Option<&ResumePoint>,
        call: &FsCall,
    ) -> Result<TextStream, FsError> {
        self.streams.lock().unwrap().push(resume.map(|from| from.offset));
        // Others get their chance to ask as well.
        tokio::task::yield_now().await;
        self.inner.stream_text(target, resume, call).await
    }
    async fn read_bytes(&self, target: &FsTarget, max: u64, call: &FsCall) -> Result<BytesRead, FsError> {
        self.inner.read_bytes(target, max, call).await
    }
    async fn list_dir(&self, target: &FsTarget, call: &FsCall) -> Result<Vec<FsDirEntry>, FsError> {
        self.inner.list_dir(target, call).await
    }
    async fn write_text(
        &self,
        target: &FsTarget,
        content: &str,
        guard: Option<&WriteGuard>,
        call: &FsCall,
    ) -> Result<WriteOutcome, FsError> {
        self.judge(target, call)?;
        self.inner.write_text(target, content, guard, call).await
    }
    async fn edit_text(
        &self,
        target: &FsTarget,
        edit: &LiteralEdit,
        guard: Option<&FsVersion>,
        call: &FsCall,
    ) -> Result<EditOutcome, FsError> {
        self.judge(target, call)?;
        self.inner.edit_text(target, edit, guard, call).await
    }
    fn sandbox_mode(&self) -> Option<SandboxMode> {
        self.fence.lock().unwrap().mode
    }
    fn read_rules(&self) -> Option<Arc<dyn ReadRules>> {
        let hidden = self.fence.lock().unwrap().hidden?;
        Some(Arc::new(Hidden(hidden)))
    }
}
