//! The file tools inside a program of one's own: what an agent loop does with a tool call.
#![expect(clippy::print_stdout, reason = "it shows what a model would see")]

use dsh_fs_local::{LocalFsConfig, LocalFsPlugin};
use dsh_fs_observation_policy::ObservationPolicyPlugin;
use dsh_harness::{HarnessConfig, HarnessPlugin, Session, SessionHeader, TOOLS, ToolCall};
use dsh_plugin::{Context, Failure, NoConfig};
use dsh_tool_fs::{ToolFsConfig, ToolFsPlugin};
use serde_json::json;
use tokio_util::sync::CancellationToken;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let ctx = Context::root();
    ctx.plugin(HarnessPlugin, HarnessConfig::default()).await?;
    ctx.plugin(LocalFsPlugin, LocalFsConfig::default()).await?;
    ctx.plugin(ObservationPolicyPlugin, NoConfig {}).await?;
    ctx.plugin(ToolFsPlugin, ToolFsConfig::default()).await?;

    let session = Session::new(SessionHeader { id: "demo".into(), cwd: env!("CARGO_MANIFEST_DIR").into() });
    let arguments = json!({ "file_path": "Cargo.toml", "limit": 5 });
    let (id, tool, cancel) = ("1".into(), "read".into(), CancellationToken::new());
    let call = ToolCall { id, tool, arguments, session: Some(session), cancel };
    let result = ctx.service(TOOLS)?.execute(call).await;
    println!("{}", result.text());
    Ok(())
}
