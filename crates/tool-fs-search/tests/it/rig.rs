//! A harness with the tools, whose results can be given instead of searched for.

use std::path::PathBuf;
use std::sync::Arc;

use dsh_fs::{FS, MemoryFileSystem};
use dsh_harness::{
    CanonicalValue, Content, Execute, HarnessConfig, HarnessPlugin, PostExecute, Session, SessionHeader,
    TOOLS, ToolCall, ToolRegistry, ToolResult, Verdict,
};
use dsh_plugin::{Context, Mounted, Next};
use dsh_tool_fs_search::{SearchConfig, SearchPlugin};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

/// The tools, mounted; the workspace is `/w`.
pub(crate) struct Rig {
    pub(crate) ctx: Context,
    pub(crate) plugin: Mounted,
    pub(crate) tools: Arc<ToolRegistry>,
    pub(crate) session: Arc<Session>,
}

impl Rig {
    pub(crate) async fn new(config: SearchConfig) -> Self {
        let ctx = Context::root();
        ctx.plugin(HarnessPlugin, HarnessConfig::default()).await.unwrap();
        ctx.provide(FS, Arc::new(MemoryFileSystem::with_files([("/w/a.txt", "a\n")]))).unwrap();
        let plugin = ctx.plugin(SearchPlugin, config).await.unwrap();
        let tools = ctx.service(TOOLS).unwrap();
        let session = Session::new(SessionHeader { id: "s1".to_owned(), cwd: PathBuf::from("/w") });
        Self { ctx, plugin, tools, session }
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
        let (id, tool, cancel) = ("c1".to_owned(), tool.to_owned(), CancellationToken::new());
        self.tools.execute(ToolCall { id, tool, arguments, session, cancel }).await
    }

    /// From now on every body answers with this, shown as `text`.
    pub(crate) fn answer<V: CanonicalValue + Clone + 'static>(&self, text: &str, value: V) {
        let content = vec![Content::text(text)];
        self.ctx
            .intercept::<Execute, _, _>(move |_, _: Next<Execute>| {
                let result = ToolResult::success(content.clone(), value.clone());
                async move { Ok(result) }
            })
            .unwrap();
    }
}

/// What the tool makes of a value, without searching for it.
pub(crate) async fn shown(config: SearchConfig, tool: &str, value: Json) -> ToolResult {
    let rig = Rig::new(config).await;
    rig.answer("", Json::Null);
    rig.ctx
        .intercept::<PostExecute, _, _>(move |_, _: Next<PostExecute>| {
            let value = Some(value.clone());
            async move { Ok(Verdict::Accept { content: None, value, contexts: Vec::new() }) }
        })
        .unwrap();
    let result = rig.call(tool, json!({ "pattern": "x" })).await;
    assert_eq!(result.error(), None);
    result
}

/// Settings as in a composition; without a word about it, the head of a long list is shown.
pub(crate) fn config(mut settings: Json) -> SearchConfig {
    settings.as_object_mut().unwrap().entry("sampleOverCapGlobResults").or_insert(json!(false));
    serde_json::from_value(settings).unwrap()
}

/// The value of a `glob` in the workspace.
pub(crate) fn paths(paths: &[&str]) -> Json {
    json!({ "root": ".", "paths": paths })
}

/// The value of a `grep`: path, line number, line.
pub(crate) fn matches(matches: &[(&str, u64, &str)]) -> Json {
    let matches: Vec<_> = matches
        .iter()
        .map(|(path, number, line)| json!({ "path": path, "lineNumber": number, "line": line }))
        .collect();
    json!({ "matches": matches })
}
