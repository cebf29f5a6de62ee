use std::sync::Arc;

use dsh_harness::{
    HarnessConfig, SYSTEM_PROMPT, Session, SessionHeader, ToolFilter, ToolRegistry, ToolsChanged,
};
use dsh_plugin::{Context, PlainError};
use serde_json::json;

use crate::toys::{Log, Toy, call, harness, harness_with, told};

fn session(id: &str) -> Arc<Session> {
    Session::new(SessionHeader { id: id.to_owned(), cwd: "/w".into() })
}

fn allow(names: &[&str]) -> ToolFilter {
    ToolFilter { allow: Some(names.iter().map(ToString::to_string).collect()), deny: None }
}

fn deny(names: &[&str]) -> ToolFilter {
    ToolFilter { allow: None, deny: Some(names.iter().map(ToString::to_string).collect()) }
}

fn seen(tools: &ToolRegistry, session: Option<&Session>) -> String {
    let names: Vec<_> = tools.definitions_for(session).into_iter().map(|tool| tool.name).collect();
    names.join(" ")
}

async fn three() -> (Context, Arc<ToolRegistry>) {
    let (root, tools) = harness().await;
    for name in ["one", "two", "three"] {
        tools.register(&root, Toy::echo(name)).unwrap();
    }
    (root, tools)
}

#[tokio::test]
async fn a_hidden_tool_is_not_listed_and_a_call_of_it_is_one_of_an_unknown_tool() {
    let (root, tools) = three().await;
    let (restricted, other) = (session("s"), session("s"));
    tools.restrict(&root, &restricted, deny(&["two"])).unwrap();
    assert_eq!(seen(&tools, Some(&restricted)), "one three");
    assert!(tools.get_for("two", Some(&restricted)).is_none());
    let call_by = |session: Option<&Arc<Session>>| {
        let mut asked = call("two", json!({}));
        asked.session = session.cloned();
        tools.execute(asked)
    };
    let refused = call_by(Some(&restricted)).await;
    let unknown = ("Error: unknown tool \"two\"".to_owned(), Some("ToolNotFoundError"), Some("UNKNOWN_TOOL"));
    assert_eq!(told(&refused), unknown);
    // Another session with the same id is another session; no session is nobody.
    assert_eq!(seen(&tools, Some(&other)), "one three two");
    assert_eq!((call_by(Some(&other)).await.text(), call_by(None).await.text()), ("<>".into(), "<>".into()));
    assert_eq!(tools.definitions().len(), 3);
}

#[tokio::test]
async fn every_restriction_must_admit_a_tool_and_each_is_lifted_alone() {
    let (root, tools) = three().await;
    let session = session("s");
    let first = tools.restrict(&root, &session, allow(&["one", "two"])).unwrap();
    let plugin = dsh_harness::SpillLocalPlugin::new("/tmp".into());
    let owner = root.plugin(plugin, dsh_harness::SpillLocalConfig::default()).await.unwrap();
    tools.restrict(&owner.context().unwrap(), &session, deny(&["one"])).unwrap();
    assert_eq!(seen(&tools, Some(&session)), "two");
    assert!(first.undo().await);
    assert_eq!(seen(&tools, Some(&session)), "three two");
    owner.dispose().await;
    assert_eq!(seen(&tools, Some(&session)), "one three two");
    tools
        .restrict(&root, &session, ToolFilter { deny: Some(vec!["one".into()]), ..allow(&["one"]) })
        .unwrap();
    assert_eq!(seen(&tools, Some(&session)), "");
}

#[tokio::test]
async fn a_tool_that_is_mounted_later_is_under_it_too() {
    let (root, tools) = three().await;
    let session = session("s");
    tools.restrict(&root, &session, allow(&["one"])).unwrap();
    tools.register(&root, Toy::echo("four")).unwrap();
    assert_eq!(seen(&tools, Some(&session)), "one");
}

#[tokio::test]
async fn the_prompt_stays_the_same() {
    let config = HarnessConfig { persona: "Use one, two or three.".to_owned(), ..HarnessConfig::default() };
    let (root, tools) = harness_with(config).await;
    tools.register(&root, Toy::echo("one")).unwrap();
    let prompt = root.service(SYSTEM_PROMPT).unwrap();
    let before = prompt.render();
    tools.restrict(&root, &session("s"), deny(&["one"])).unwrap();
    assert_eq!(prompt.render(), before);
}

#[tokio::test]
async fn restricting_and_lifting_are_told() {
    let (root, tools) = three().await;
    let log = Log::default();
    let told = log.clone();
    root.on::<ToolsChanged>(move |()| {
        told.add("change");
        Ok(())
    })
    .unwrap();
    let session = session("s");
    let handle = tools.restrict(&root, &session, deny(&["one"])).unwrap();
    assert_eq!(log.take(), ["change"]);
    handle.undo().await;
    assert_eq!(log.take(), ["change"]);
}

#[tokio::test]
async fn one_that_a_listener_fails_on_is_lifted_again() {
    let (root, tools) = three().await;
    root.on::<ToolsChanged>(|()| Err(PlainError::new("no changes please").into())).unwrap();
    let session = session("s");
    let error = tools.restrict(&root, &session, deny(&["one"])).unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), seen(&tools, Some(&session)).as_str()),
        ("no changes please", "one three two")
    );
}

#[tokio::test]
async fn a_filter_that_filters_nothing_and_names_that_are_not_there_are_errors() {
    let (root, tools) = three().await;
    let session = session("s");
    let refused = |filter| tools.restrict(&root, &session, filter).unwrap_err().to_string();
    assert_eq!(
        refused(ToolFilter::default()),
        "tools.restrict({}) is a no-op: pass `allow` and/or `deny` (an empty filter is almost always a \
         materialized-empty-config bug)"
    );
    assert_eq!(
        refused(allow(&["one", "fuor"])),
        "tools.restrict() names unknown global tool \"fuor\"; known global tools: one, three, two"
    );
    assert_eq!(
        refused(ToolFilter { deny: Some(vec!["b".into()]), ..allow(&["a"]) }),
        "tools.restrict() names unknown global tools \"a\", \"b\"; known global tools: one, three, two"
    );
    let (root, tools) = harness().await;
    assert_eq!(
        tools.restrict(&root, &session, deny(&["a"])).unwrap_err().to_string(),
        "tools.restrict() names unknown global tool \"a\"; known global tools: (none)"
    );
    assert_eq!(seen(&tools, Some(&session)), "");
}
