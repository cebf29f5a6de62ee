//! A policy of one's own, mounted in front of the tools.

mod no_lock_files;

use std::sync::Arc;

use dsh_fs::{FS, MemoryFileSystem};
use dsh_harness::{HarnessConfig, HarnessPlugin, TOOLS, ToolCall};
use dsh_plugin::{Context, Failure, NoConfig};
use dsh_tool_fs::{ToolFsConfig, ToolFsPlugin};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::no_lock_files::NoLockFiles;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let ctx = Context::root();
    ctx.plugin(HarnessPlugin, HarnessConfig::default()).await?;
    ctx.provide(FS, Arc::new(MemoryFileSystem::new()))?;
    ctx.plugin(NoLockFiles, NoConfig {}).await?;
    ctx.plugin(ToolFsPlugin, ToolFsConfig::default()).await?;

    let arguments = json!({ "file_path": "/Cargo.lock", "content": "" });
    let (id, tool, cancel) = ("1".into(), "write".into(), CancellationToken::new());
    let result = ctx.service(TOOLS)?.execute(ToolCall { id, tool, arguments, session: None, cancel }).await;
    assert_eq!(result.text(), "Error: lock files are written by the package manager: run it instead");
    Ok(())
}
