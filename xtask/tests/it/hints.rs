//! Damaged edits, at a tenth of what `cargo xtask prove hints` makes.

use std::sync::Arc;

use dsh_fs::{FS, MemoryFileSystem};
use dsh_harness::{
    HarnessConfig, HarnessPlugin, Session, SessionHeader, TOOLS, ToolCall, ToolRegistry, ToolResult,
};
use dsh_plugin::Context;
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use xtask::hints::{Desk, MOST_BYTES, RIGHT_KINDS, RIGHT_LINES, share, sources, try_out};

/// A harness with the tools and the policy, on files in memory.
struct InMemory {
    files: Arc<MemoryFileSystem>,
    tools: Arc<ToolRegistry>,
    session: Arc<Session>,
    runtime: Runtime,
}

impl InMemory {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let files = Arc::new(MemoryFileSystem::new());
        let ctx = Context::root();
        runtime.block_on(async {
            ctx.plugin(HarnessPlugin, HarnessConfig::default()).await.unwrap();
            ctx.provide(FS, files.clone()).unwrap();
            let row = |name, config| dsh_cli::registry().configure(name, config).unwrap();
            let policy = row("dsh-fs-observation-policy", json!({}));
            ctx.compose(vec![policy, row("dsh-tool-fs", json!({ "editHints": true }))]).await.unwrap();
        });
        let tools = ctx.service(TOOLS).unwrap();
        let session = Session::new(SessionHeader { id: "s1".to_owned(), cwd: "/w".into() });
        Self { files, tools, session, runtime }
    }

    fn call(&self, tool: &str, arguments: Json) -> ToolResult {
        let session = Some(self.session.clone());
        let (id, tool, cancel) = ("c".to_owned(), tool.to_owned(), CancellationToken::new());
        self.runtime.block_on(self.tools.execute(ToolCall { id, tool, arguments, session, cancel }))
    }
}

impl Desk for InMemory {
    fn put(&mut self, path: &str, text: &str) -> anyhow::Result<()> {
        self.files.put(&format!("/w/{path}"), text.as_bytes());
        Ok(())
    }

    fn read(&mut self, path: &str, window: Option<(usize, usize)>) -> anyhow::Result<String> {
        let (offset, limit) = window.unwrap_or((1, 2000));
        let result = self.call("read", json!({ "file_path": path, "offset": offset, "limit": limit }));
        anyhow::ensure!(!result.is_error(), "{}", result.text());
        Ok(result.text())
    }

    fn edit(&mut self, path: &str, old: &str, new: &str) -> anyhow::Result<Result<(), String>> {
        let result = self.call("edit", json!({ "file_path": path, "old_string": old, "new_string": new }));
        Ok(if result.is_error() { Err(result.text()) } else { Ok(()) })
    }
}

#[test]
fn hints_name_the_line_and_the_kind_and_can_be_followed_to_the_letter() {
    let figures = try_out(&mut InMemory::new(), &sources().unwrap(), 200, 1).unwrap();
    let wrong = figures.wrong.join("\n----\n");
    assert_eq!(figures.edits, 200);
    assert!(share(figures.right_lines, figures.edits) >= RIGHT_LINES, "{:?}\n{wrong}", figures.ways);
    assert!(share(figures.right_kinds, figures.edits) >= RIGHT_KINDS, "{:?}\n{wrong}", figures.ways);
    assert!(figures.followed[0] >= 30, "{:?}", figures.followed);
    assert_eq!(figures.followed[0], figures.followed[1], "{wrong}");
    assert!(figures.bytes[0] <= MOST_BYTES, "a hint of {} bytes", figures.bytes[0]);
}
