//! A policy of one's own: nothing whose name ends in `.lock` is written or edited.

use std::sync::Arc;

use dsh_fs::{EditIntent, FS, FsTarget, MemoryFileSystem, WriteIntent};
use dsh_harness::{HarnessConfig, HarnessPlugin, TOOLS, ToolCall};
use dsh_plugin::{Context, Failure, NoConfig, PlainError, Plugin};
use dsh_tool_fs::{ToolFsConfig, ToolFsPlugin};
use serde_json::json;
use tokio_util::sync::CancellationToken;

struct NoLockFiles;

impl Plugin for NoLockFiles {
    type Config = NoConfig;

    fn name(&self) -> &'static str {
        "no-lock-files"
    }

    async fn apply(&self, ctx: Context, _: NoConfig) -> Result<(), Failure> {
        ctx.intercept_first::<WriteIntent, _, _>(|intent, next| async move {
            refuse(&intent.target)?;
            next.run(intent).await
        })?;
        ctx.intercept_first::<EditIntent, _, _>(|intent, next| async move {
            refuse(&intent.target)?;
            next.run(intent).await
        })?;
        Ok(())
    }
}

fn refuse(target: &FsTarget) -> Result<(), Failure> {
    match target.display_path().strip_suffix(".lock") {
        Some(_) => Err(PlainError::new("lock files are written by the package manager").into()),
        None => Ok(()),
    }
}

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
    assert_eq!(result.text(), "Error: lock files are written by the package manager");
    Ok(())
}
