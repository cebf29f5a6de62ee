use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dsh_plugin::{Coded, Context, NoConfig, PlainError, PluginState};

use crate::probe::{A, Log, Probe, logging, probe, providing};

fn failing(name: &'static str) -> Probe {
    probe(name, |_| async { Err(PlainError::new("boom"))? })
}

#[tokio::test]
async fn a_plugin_that_fails_is_removed_and_its_error_is_the_source() {
    let root = Context::root();
    let error = root.plugin(failing("bad"), NoConfig {}).await.unwrap_err();
    assert_eq!(error.source().unwrap().to_string(), "boom");
    assert!(error.source().unwrap().is::<PlainError>());
    assert_eq!(error.name(), "PluginError");
    assert!(root.tree().children.is_empty());
}

#[tokio::test]
async fn a_failing_plugin_does_not_take_its_siblings_down() {
    let (root, log) = (Context::root(), Log::default());
    let one = root.mount(logging("one", &log), NoConfig {}).unwrap();
    let bad = root.mount(failing("bad"), NoConfig {}).unwrap();
    let two = root.mount(logging("two", &log), NoConfig {}).unwrap();
    let error = root.settle().await.unwrap_err();
    assert_eq!(error.to_string(), "plugin \"bad\" failed to start: boom");
    assert_eq!(
        (one.state(), bad.state(), two.state()),
        (PluginState::Active, PluginState::Failed, PluginState::Active)
    );
    assert_eq!(bad.failure().unwrap().to_string(), error.to_string());
    root.settle().await.unwrap();
}

#[tokio::test]
async fn a_failing_child_does_not_take_its_parent_down() {
    let root = Context::root();
    let parent = probe("parent", |ctx| async move {
        ctx.mount(failing("child"), NoConfig {})?;
        Ok(())
    });
    let parent = root.plugin(parent, NoConfig {}).await.unwrap();
    assert!(parent.is_active());
    let tree = root.tree();
    assert_eq!(tree.children[0].children[0].state, PluginState::Failed);
}

#[tokio::test]
async fn a_failed_plugin_is_tried_again_when_a_service_it_injects_is_provided_anew() {
    let (root, log) = (Context::root(), Log::default());
    let ready = Arc::new(AtomicBool::new(false));
    let provider = providing("pa", Some(A), &log);
    let first = root.plugin(provider.clone(), NoConfig {}).await.unwrap();
    let check = Arc::clone(&ready);
    let picky = probe("picky", move |_| {
        let ready = check.load(Ordering::Relaxed);
        async move { if ready { Ok(()) } else { Err(PlainError::new("not ready"))? } }
    });
    let picky = root.mount(picky.injecting(&["a"]), NoConfig {}).unwrap();
    root.settle().await.unwrap_err();
    ready.store(true, Ordering::Relaxed);
    root.settle().await.unwrap();
    assert_eq!(picky.state(), PluginState::Failed);
    first.dispose().await;
    root.plugin(provider, NoConfig {}).await.unwrap();
    assert_eq!(picky.state(), PluginState::Active);
    assert!(picky.failure().is_none());
}
