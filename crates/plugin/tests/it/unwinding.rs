use std::sync::Arc;
use std::time::Duration;

use dsh_plugin::{Coded, Context, NoConfig, PlainError, PluginState};

use crate::probe::{A, Log, Probe, logging, probe};

/// Registers effects 1, 2 (awaited), a child and 3, then ends as `end` says.
fn many_effects(log: &Log, end: &'static str) -> Probe {
    let log = log.clone();
    probe("many", move |ctx| {
        let log = log.clone();
        async move {
            let one = log.clone();
            ctx.effect("one", move || one.add("1"))?;
            let two = log.clone();
            ctx.effect_async("two", move || async move {
                two.add("2..");
                tokio::time::sleep(Duration::from_millis(2)).await;
                two.add("..2");
            })?;
            ctx.mount(logging("child", &log), NoConfig {})?;
            ctx.effect("three", move || log.add("3"))?;
            match end {
                "fails" => Err(PlainError::new("no luck"))?,
                "panics" => panic!("out of luck"),
                _ => Ok(()),
            }
        }
    })
}

#[tokio::test]
async fn effects_are_undone_newest_first_one_after_another() {
    let (root, log) = (Context::root(), Log::default());
    let mounted = root.plugin(many_effects(&log, "ends well"), NoConfig {}).await.unwrap();
    assert_eq!(log.take(), "+child");
    mounted.dispose().await;
    assert_eq!(log.take(), "3 -child 2.. ..2 1");
    mounted.dispose().await;
    assert_eq!(log.take(), "");
}

#[tokio::test]
async fn effects_are_undone_when_apply_fails_half_way() {
    let (root, log) = (Context::root(), Log::default());
    let error = root.plugin(many_effects(&log, "fails"), NoConfig {}).await.unwrap_err();
    assert_eq!(error.to_string(), "plugin \"many\" failed to start: no luck");
    assert_eq!(error.code(), Some("PLUGIN_FAILED"));
    assert_eq!(log.take(), "3 2.. ..2 1");
}

#[tokio::test]
async fn effects_are_undone_when_apply_panics() {
    let (root, log) = (Context::root(), Log::default());
    let error = root.plugin(many_effects(&log, "panics"), NoConfig {}).await.unwrap_err();
    assert_eq!(error.to_string(), "plugin \"many\" failed to start: it panicked: out of luck");
    assert_eq!(error.code(), Some("PLUGIN_PANICKED"));
    assert_eq!(log.take(), "3 2.. ..2 1");
}

#[tokio::test]
async fn a_panicking_undo_does_not_stop_the_others() {
    let (root, log) = (Context::root(), Log::default());
    let seen = log.clone();
    let plugin = probe("p", move |ctx| {
        let seen = seen.clone();
        async move {
            ctx.effect("first", move || seen.add("first"))?;
            ctx.effect("sync", || panic!("sync"))?;
            ctx.effect_async("building", || -> std::future::Ready<()> { panic!("building") })?;
            ctx.effect_async("polling", || async { panic!("polling") })?;
            Ok(())
        }
    });
    let mounted = root.plugin(plugin, NoConfig {}).await.unwrap();
    mounted.dispose().await;
    assert_eq!(log.take(), "first");
    assert_eq!(mounted.state(), PluginState::Disposed);
}

#[tokio::test]
async fn disposing_the_root_undoes_everything_and_closes_it() {
    let (root, log) = (Context::root(), Log::default());
    root.plugin(logging("one", &log), NoConfig {}).await.unwrap();
    root.plugin(logging("two", &log), NoConfig {}).await.unwrap();
    let own = log.clone();
    root.effect("own", move || own.add("-own")).unwrap();
    log.take();
    root.dispose().await;
    assert_eq!(log.take(), "-own -two -one");
    let error = root.mount(logging("three", &log), NoConfig {}).unwrap_err();
    assert_eq!(error.to_string(), "plugin \"root\" is not running: its context is inactive");
}

#[tokio::test]
async fn nothing_can_be_registered_on_a_context_that_is_not_running() {
    let (root, log) = (Context::root(), Log::default());
    let mounted = root.mount(logging("p", &log), NoConfig {}).unwrap();
    assert!(mounted.context().is_none());
    root.settle().await.unwrap();
    let ctx = mounted.context().unwrap();
    let inside = ctx.clone();
    let seen = log.clone();
    ctx.effect("late", move || {
        let refused = inside.effect("too late", || ()).unwrap_err();
        seen.add(refused.code().unwrap());
    })
    .unwrap();
    mounted.dispose().await;
    assert_eq!(log.take(), "+p INACTIVE_CONTEXT -p");
    for refused in [
        ctx.effect("x", || ()).unwrap_err(),
        ctx.provide(A, Arc::from("x")).unwrap_err(),
        ctx.service(A).unwrap_err(),
        ctx.mount(logging("x", &log), NoConfig {}).unwrap_err(),
        ctx.plugin(logging("x", &log), NoConfig {}).await.unwrap_err(),
    ] {
        assert_eq!(refused.to_string(), "plugin \"p\" is not running: its context is inactive");
        assert_eq!(refused.code(), Some("INACTIVE_CONTEXT"));
    }
    assert!(ctx.try_service(A).is_none());
}

#[tokio::test]
async fn a_context_of_an_earlier_run_stays_inactive_after_a_restart() {
    let (root, log) = (Context::root(), Log::default());
    let provider = crate::probe::providing("pa", Some(A), &log);
    let first = root.plugin(provider.clone(), NoConfig {}).await.unwrap();
    let user = root.plugin(logging("user", &log).injecting(&["a"]), NoConfig {}).await.unwrap();
    let old = user.context().unwrap();
    first.dispose().await;
    root.plugin(provider, NoConfig {}).await.unwrap();
    assert!(user.is_active());
    assert_eq!(old.effect("x", || ()).unwrap_err().code(), Some("INACTIVE_CONTEXT"));
    assert!(user.context().unwrap().effect("x", || ()).is_ok());
}

#[tokio::test]
async fn an_effect_can_be_undone_early_and_then_only_once() {
    let (root, log) = (Context::root(), Log::default());
    let seen = log.clone();
    let handle = root
        .effect_async("early", move || async move {
            tokio::task::yield_now().await;
            seen.add("undone");
        })
        .unwrap();
    assert!(handle.undo().await);
    assert!(!handle.undo().await);
    root.dispose().await;
    assert_eq!(log.take(), "undone");
}

#[tokio::test]
async fn an_effect_can_be_undone_from_inside_apply() {
    let (root, log) = (Context::root(), Log::default());
    let seen = log.clone();
    let plugin = probe("p", move |ctx| {
        let seen = seen.clone();
        async move {
            let handle = ctx.effect("x", move || seen.add("undone"))?;
            tokio::spawn(async move { handle.undo().await }).await.unwrap();
            Ok(())
        }
    });
    root.plugin(plugin, NoConfig {}).await.unwrap();
    assert_eq!(log.take(), "undone");
}
