use dsh_plugin::{Coded, Context, NoConfig, PluginError, PluginState};

use crate::probe::{Log, logging, probe};

#[tokio::test]
async fn waiting_for_the_tree_inside_apply_is_an_error_that_says_what_to_use() {
    let (root, log) = (Context::root(), Log::default());
    let (seen, outer) = (log.clone(), root.clone());
    let plugin = probe("impatient", move |ctx| {
        let (seen, outer) = (seen.clone(), outer.clone());
        async move {
            let error = ctx.plugin(logging("child", &seen), NoConfig {}).await.unwrap_err();
            assert_eq!(
                error.to_string(),
                "plugin on plugin \"impatient\" called while plugins are being started or unloaded: it would wait for \
                 itself; use mount, what is mounted starts by itself"
            );
            seen.add(error.code().unwrap());
            // Through any handle of the tree.
            assert!(matches!(outer.settle().await, Err(PluginError::CalledWhileSettling { .. })));
            let refused = outer.compose(Vec::new()).await.unwrap_err();
            assert_eq!(refused.code(), Some("COMPOSE_REFUSED"));
            // And from a task that apply waits for.
            let inner = ctx.clone();
            let spawned = tokio::spawn(async move { inner.settle().await }).await.unwrap();
            assert!(matches!(spawned, Err(PluginError::CalledWhileSettling { .. })));
            Ok(())
        }
    });
    root.plugin(plugin, NoConfig {}).await.unwrap();
    assert_eq!(log.take(), "CALLED_WHILE_SETTLING");
}

#[tokio::test]
async fn waiting_for_the_tree_inside_an_undo_is_an_error() {
    let (root, log) = (Context::root(), Log::default());
    let (seen, outer) = (log.clone(), root.clone());
    root.effect_async("x", move || async move {
        seen.add(outer.settle().await.unwrap_err().code().unwrap());
    })
    .unwrap();
    root.dispose().await;
    assert_eq!(log.take(), "CALLED_WHILE_SETTLING");
}

#[tokio::test]
async fn a_plugin_that_disposes_itself_while_starting_is_unloaded_once_apply_has_returned() {
    let (root, log) = (Context::root(), Log::default());
    let seen = log.clone();
    let plugin = probe("brief", move |ctx| {
        let seen = seen.clone();
        async move {
            ctx.dispose().await;
            let late = seen.clone();
            ctx.effect("x", move || late.add("undone"))?;
            seen.add("applied");
            Ok(())
        }
    });
    let mounted = root.plugin(plugin, NoConfig {}).await.unwrap();
    assert_eq!(log.take(), "applied undone");
    assert_eq!(mounted.state(), PluginState::Disposed);
}

#[tokio::test]
async fn another_tree_can_be_driven_inside_apply() {
    let root = Context::root();
    let plugin = probe("nesting", |_| async {
        let log = Log::default();
        let other = Context::root();
        other.plugin(logging("inner", &log), NoConfig {}).await?;
        other.dispose().await;
        assert_eq!(log.take(), "+inner -inner");
        Ok(())
    });
    root.plugin(plugin, NoConfig {}).await.unwrap();
}
