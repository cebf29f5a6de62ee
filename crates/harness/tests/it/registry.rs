use dsh_harness::{TOOLS, ToolsChanged};
use dsh_plugin::{Context, Failure, NoConfig, PlainError, Plugin};
use serde_json::json;
use std::sync::Arc;

use crate::toys::{Log, Toy, call, harness, told};

/// Registers a toy for as long as it is mounted.
struct ToyPlugin;

impl Plugin for ToyPlugin {
    type Config = NoConfig;

    fn name(&self) -> &'static str {
        "toy-plugin"
    }

    fn inject(&self) -> &'static [&'static str] {
        &["tools"]
    }

    async fn apply(&self, ctx: Context, _: NoConfig) -> Result<(), Failure> {
        let tools = ctx.service(TOOLS)?;
        tools.register(&ctx, Toy::echo("toy"))?;
        tools.guard(&ctx, |exec| (exec.tool == "other").then(|| "not while the toy is here".to_owned()))
    }
}

#[tokio::test]
async fn a_tool_lives_as_long_as_its_plugin() {
    let (root, tools) = harness().await;
    let log = Log::default();
    let seen = log.clone();
    root.on::<ToolsChanged>(move |()| {
        seen.add("change");
        Ok(())
    })
    .unwrap();

    let mounted = root.plugin(ToyPlugin, NoConfig {}).await.unwrap();
    assert_eq!(tools.execute(call("toy", json!({"text": "a"}))).await.text(), "<a>");
    assert_eq!(log.take(), ["change"]);

    mounted.dispose().await;
    assert_eq!(
        told(&tools.execute(call("toy", json!({}))).await),
        ("Error: unknown tool \"toy\"".to_owned(), Some("ToolNotFoundError"), Some("UNKNOWN_TOOL"))
    );
    assert_eq!(tools.definitions(), []);
    assert_eq!(log.take(), ["change"]);
}

#[tokio::test]
async fn a_guard_lives_as_long_as_its_plugin() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::echo("other")).unwrap();
    let mounted = root.plugin(ToyPlugin, NoConfig {}).await.unwrap();
    assert_eq!(tools.execute(call("other", json!({}))).await.text(), "Error: not while the toy is here");
    mounted.dispose().await;
    assert_eq!(tools.execute(call("other", json!({"text": "b"}))).await.text(), "<b>");
}

#[tokio::test]
async fn a_name_is_taken_once() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::echo("read")).unwrap();
    let error = tools.register(&root, Toy::echo("read")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "tool \"read\" is already registered (for a per-agent variant, register through that agent's `agent.ctx` instead)"
    );
    assert_eq!(tools.definitions().len(), 1);
}

#[tokio::test]
async fn definitions_are_sorted_by_utf16_code_units() {
    let (root, tools) = harness().await;
    // U+1F600 is D83D DE00 in UTF-16 and so comes before U+FF5E; by code points it would come after.
    for name in ["write", "\u{ff5e}", "edit", "\u{1f600}", "Read"] {
        tools.register(&root, Toy::echo(name)).unwrap();
    }
    let names: Vec<_> = tools.definitions().into_iter().map(|definition| definition.name).collect();
    assert_eq!(names, ["Read", "edit", "write", "\u{1f600}", "\u{ff5e}"]);
}

#[tokio::test]
async fn a_failing_change_listener_takes_the_tool_out_again() {
    let (root, tools) = harness().await;
    let listener = root.on::<ToolsChanged>(|()| Err(PlainError::new("not now").into())).unwrap();
    assert_eq!(tools.register(&root, Toy::echo("toy")).unwrap_err().to_string(), "not now");
    assert!(tools.get("toy").is_none());
    listener.undo().await;
    tools.register(&root, Toy::echo("toy")).unwrap();
}

#[tokio::test]
async fn a_disposed_owner_cannot_register() {
    let (root, tools) = harness().await;
    let mounted = root.plugin(ToyPlugin, NoConfig {}).await.unwrap();
    let owner = mounted.context().unwrap();
    mounted.dispose().await;
    let error = tools.register(&owner, Toy::echo("late")).unwrap_err();
    assert_eq!(error.code(), Some("INACTIVE_CONTEXT"));
    assert!(tools.get("late").is_none());
    let guarded = tools.guard(&owner, |_| Some("never".to_owned()));
    assert_eq!(guarded.unwrap_err().code(), Some("INACTIVE_CONTEXT"));
    tools.register(&root, Toy::echo("toy")).unwrap();
    assert!(!tools.execute(call("toy", json!({}))).await.is_error());
}

#[tokio::test]
async fn presenters_are_soft() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::echo("toy")).unwrap();
    assert_eq!(tools.present_call("toy", &json!({"text": "a"})), Some(json!({"title": "Toy a"})));
    assert_eq!(tools.present_call("toy", &json!({"text": 1})), None);
    assert_eq!(tools.present_call("toy", &json!({"text": "unpresentable"})), None);
    assert_eq!(tools.present_call("nobody", &json!({})), None);

    let fine = tools.execute(call("toy", json!({"text": "a"}))).await;
    let wrong = tools.execute(call("toy", json!({"text": 1}))).await;
    assert_eq!(tools.present_result("toy", &json!({}), &fine), Some(json!({"card": "<a>"})));
    assert_eq!(tools.present_result("toy", &json!({}), &wrong), None);
    assert_eq!(tools.present_result("toy", &json!(5), &fine), None);
}

#[tokio::test]
async fn the_registry_is_one_and_the_same_service() {
    let (root, tools) = harness().await;
    assert!(Arc::ptr_eq(&tools, &root.service(TOOLS).unwrap()));
}
