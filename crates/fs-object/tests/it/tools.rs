//! What each tool call costs, in requests, through the whole stack with the policy; and the fence over a store.

use std::sync::Arc;

use dsh_fs::{FS, FileSystem, SANDBOX_POLICY};
use dsh_fs_object::{ObjectFileSystem, ObjectFsConfig, object_store};
use dsh_fs_observation_policy::ObservationPolicyPlugin;
use dsh_fs_sandbox::{Place, SandboxConfig, SandboxPlugin};
use dsh_harness::{
    HarnessConfig, HarnessPlugin, Session, SessionHeader, TOOLS, ToolCall, ToolRegistry, ToolResult,
};
use dsh_plugin::{Context, NoConfig};
use dsh_tool_fs::{ToolFsConfig, ToolFsPlugin};
use dsh_tool_fs_search::{SearchConfig, SearchPlugin};
use object_store::ObjectStoreExt as _;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::rig::{Rigged, key, over};

struct Agent {
    store: Arc<Rigged>,
    tools: Arc<ToolRegistry>,
    session: Arc<Session>,
    _ctx: Context,
}

impl Agent {
    /// With a bare store.
    async fn new(files: &[(&str, &str)]) -> Self {
        let (ctx, store) = (Context::root(), laid(files).await);
        ctx.plugin(HarnessPlugin, HarnessConfig::default()).await.unwrap();
        let fs = over(store.clone());
        fs.probe().await.unwrap();
        ctx.provide(FS, Arc::new(fs) as Arc<dyn FileSystem>).unwrap();
        Self::with(ctx, store).await
    }

    /// With a fence around it, and a workspace that is a part of it.
    async fn fenced(files: &[(&str, &str)]) -> Self {
        let (ctx, store) = (Context::root(), laid(files).await);
        ctx.plugin(HarnessPlugin, HarnessConfig::default()).await.unwrap();
        let inner = store.clone();
        let make = move |_: ObjectFsConfig| Ok::<ObjectFileSystem, dsh_plugin::Failure>(over(inner.clone()));
        let place = Place { writable: Vec::new(), ..Place::new("/tmp".into()) };
        let config: SandboxConfig<ObjectFsConfig> =
            serde_json::from_value(json!({"url": "s3://bucket", "deny": [".env"]})).unwrap();
        ctx.plugin(SandboxPlugin::new(make, place), config).await.unwrap();
        assert!(ctx.try_service(SANDBOX_POLICY).is_some());
        Self::with(ctx, store).await
    }

    async fn with(ctx: Context, store: Arc<Rigged>) -> Self {
        ctx.plugin(ObservationPolicyPlugin, NoConfig {}).await.unwrap();
        ctx.plugin(ToolFsPlugin, ToolFsConfig::default()).await.unwrap();
        let search: SearchConfig = serde_json::from_value(json!({"sampleOverCapGlobResults": true})).unwrap();
        ctx.plugin(SearchPlugin, search).await.unwrap();
        let tools = ctx.service(TOOLS).unwrap();
        let session = Session::new(SessionHeader { id: "s".into(), cwd: "/w".into() });
        store.requests();
        store.sent();
        Self { store, tools, session, _ctx: ctx }
    }

    async fn call(&self, tool: &str, arguments: Json) -> ToolResult {
        let (id, tool, cancel) = ("1".into(), tool.into(), CancellationToken::new());
        let call = ToolCall { id, tool, arguments, session: Some(self.session.clone()), cancel };
        self.tools.execute(call).await
    }

    /// A call that succeeds, and the requests that it cost.
    async fn costs(&self, tool: &str, arguments: Json) -> Vec<String> {
        let result = self.call(tool, arguments).await;
        assert!(!result.is_error(), "{}", result.text());
        self.store.requests()
    }
}

async fn laid(files: &[(&str, &str)]) -> Arc<Rigged> {
    let store = Arc::new(Rigged::default());
    for (name, text) in files {
        store.objects.put(&key(name), (*text).to_owned().into()).await.unwrap();
    }
    store
}

#[tokio::test]
async fn read_edit_and_write_cost_two_each() {
    let agent = Agent::new(&[("w/src/a.txt", "one\n")]).await;
    assert_eq!(
        agent.costs("read", json!({"file_path": "src/a.txt"})).await,
        ["head /w/src/a.txt", "get /w/src/a.txt"]
    );
    let edit = json!({"file_path": "src/a.txt", "old_string": "one", "new_string": "two"});
    assert_eq!(agent.costs("edit", edit).await, ["get /w/src/a.txt", "put /w/src/a.txt"]);
    assert_eq!(
        agent.costs("write", json!({"file_path": "src/a.txt", "content": "three\n"})).await,
        ["get /w/src/a.txt", "put /w/src/a.txt"]
    );
    assert_eq!(
        agent.costs("write", json!({"file_path": "src/new.txt", "content": "new\n"})).await,
        ["below /w/src/new.txt", "put /w/src/new.txt"]
    );
}

#[tokio::test]
async fn what_changed_since_it_was_read_is_not_changed() {
    let agent = Agent::new(&[("w/a.txt", "one\n")]).await;
    agent.costs("read", json!({"file_path": "a.txt"})).await;
    agent.store.objects.put(&key("w/a.txt"), "other\n".into()).await.unwrap();
    let edit = json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"});
    let result = agent.call("edit", edit).await;
    assert!(result.text().contains("file changed since it was read"), "{}", result.text());
    assert_eq!(agent.store.requests(), ["get /w/a.txt"]);
}

#[tokio::test]
async fn a_search_costs_one_for_each_folder_and_each_file_it_looks_into() {
    let files = [
        ("w/a.rs", "fn one() {}\n"),
        ("w/d/b.rs", "fn two() {}\n"),
        ("w/d/c.txt", "fn\n"),
        ("v/x.rs", "fn\n"),
    ];
    let agent = Agent::new(&files).await;
    let mut requests = agent.costs("glob", json!({"pattern": "**/*.rs"})).await;
    requests.sort_unstable();
    assert_eq!(requests, ["below /w", "head /w", "list /w", "list /w/d"]);
    // What is above the workspace may have rules for it.
    let mut requests = agent.costs("grep", json!({"pattern": "fn", "include": "*.rs"})).await;
    requests.sort_unstable();
    assert_eq!(
        requests,
        ["below /w", "get /w/a.rs", "get /w/d/b.rs", "head /w", "list /", "list /w", "list /w/d"]
    );
}

#[tokio::test]
async fn a_later_window_of_a_large_file() {
    let text = "a line of twenty-four b\n".repeat(1_000_000);
    let agent = Agent::new(&[("w/a.txt", &text)]).await;
    let first = agent.costs("read", json!({"file_path": "a.txt"})).await;
    assert_eq!(first, ["head /w/a.txt", "get /w/a.txt"]);
    agent.store.sent();
    let later = agent.costs("read", json!({"file_path": "a.txt", "offset": 700_001})).await;
    assert_eq!(later, ["head /w/a.txt", "range /w/a.txt"]);
    assert!(agent.store.sent() < 1 << 20);
}

#[tokio::test]
async fn the_fence_works_on_prefixes() {
    let agent = Agent::fenced(&[("w/a.txt", "one\n"), ("w/.env", "secret\n"), ("v/b.txt", "other\n")]).await;
    assert_eq!(agent.costs("read", json!({"file_path": "/v/b.txt"})).await.len(), 2);
    let outside = agent.call("write", json!({"file_path": "/v/b.txt", "content": "mine\n"})).await;
    assert!(
        outside.text().contains("[sandbox: file access denied under workspace-write mode]"),
        "{}",
        outside.text()
    );
    let there = agent.store.objects.get(&key("v/b.txt")).await.unwrap().bytes().await.unwrap();
    assert_eq!(there, "other\n");
    let denied = agent.call("read", json!({"file_path": ".env"})).await;
    assert!(denied.text().contains("file access denied by the read rules"), "{}", denied.text());
    agent.costs("read", json!({"file_path": "a.txt"})).await;
    let edit = json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"});
    assert_eq!(
        agent.costs("edit", edit).await,
        ["list /w/.git", "head /w/.git", "get /w/a.txt", "put /w/a.txt"]
    );
}
