use std::sync::Arc;

use dsh_plugin::{Context, NoConfig, PluginState};

use crate::probe::{A, B, Log, logging, probe, providing};

#[tokio::test]
async fn a_plugin_waits_for_what_it_injects_and_starts_when_it_is_there() {
    let (root, log) = (Context::root(), Log::default());
    let user = root.plugin(logging("user", &log).injecting(&["a", "b"]), NoConfig {}).await.unwrap();
    assert_eq!((user.state(), user.missing()), (PluginState::Pending, vec!["a", "b"]));

    root.plugin(providing("pa", Some(A), &log), NoConfig {}).await.unwrap();
    assert_eq!((user.state(), user.missing()), (PluginState::Pending, vec!["b"]));

    root.plugin(providing("pb", Some(B), &log), NoConfig {}).await.unwrap();
    assert_eq!((user.state(), user.missing()), (PluginState::Active, vec![]));
    assert_eq!(log.take(), "+pa +pb +user");
}

#[tokio::test]
async fn a_plugin_is_unloaded_before_its_service_goes_and_started_again_when_it_returns() {
    let (root, log) = (Context::root(), Log::default());
    let provider = root.plugin(providing("pa", Some(A), &log), NoConfig {}).await.unwrap();
    let user = root.plugin(logging("user", &log).injecting(&["a"]), NoConfig {}).await.unwrap();
    log.take();

    provider.dispose().await;
    assert_eq!(log.take(), "-user -pa");
    assert_eq!((provider.state(), user.state()), (PluginState::Disposed, PluginState::Pending));

    root.plugin(providing("pa2", Some(A), &log), NoConfig {}).await.unwrap();
    assert_eq!(log.take(), "+pa2 +user");
    assert!(user.is_active());
}

#[tokio::test]
async fn a_plugin_is_restarted_when_its_service_is_replaced_within_one_settle() {
    let (root, log) = (Context::root(), Log::default());
    let first = root.plugin(providing("pa", Some(A), &log), NoConfig {}).await.unwrap();
    root.plugin(logging("user", &log).injecting(&["a"]), NoConfig {}).await.unwrap();
    root.mount(providing("pa2", Some(A), &log).injecting(&["b"]), NoConfig {}).unwrap();
    log.take();

    let swap = probe("swap", move |ctx| {
        let first = first.clone();
        async move {
            first.dispose().await;
            ctx.provide(B, Arc::from("go"))?;
            Ok(())
        }
    });
    root.plugin(swap, NoConfig {}).await.unwrap();
    assert_eq!(log.take(), "-user -pa +pa2 +user");
}

#[tokio::test]
async fn a_chain_unloads_from_its_end_and_loads_from_its_beginning() {
    let (root, log) = (Context::root(), Log::default());
    root.mount(logging("end", &log).injecting(&["b"]), NoConfig {}).unwrap();
    root.mount(providing("middle", Some(B), &log).injecting(&["a"]), NoConfig {}).unwrap();
    let beginning = root.mount(providing("beginning", Some(A), &log), NoConfig {}).unwrap();
    root.settle().await.unwrap();
    assert_eq!(log.take(), "+beginning +middle +end");

    beginning.dispose().await;
    assert_eq!(log.take(), "-end -middle -beginning");
}

#[tokio::test]
async fn a_chain_within_one_subtree_unloads_users_first_too() {
    let (root, log) = (Context::root(), Log::default());
    let parent = {
        let log = log.clone();
        probe("parent", move |ctx| {
            let log = log.clone();
            async move {
                // The user is mounted before the provider: plain reverse order would take the provider first.
                ctx.mount(logging("user", &log).injecting(&["a"]), NoConfig {})?;
                ctx.mount(providing("provider", Some(A), &log), NoConfig {})?;
                ctx.effect("parent", move || log.add("-parent"))?;
                Ok(())
            }
        })
    };
    let parent = root.plugin(parent, NoConfig {}).await.unwrap();
    assert_eq!(log.take(), "+provider +user");
    parent.dispose().await;
    assert_eq!(log.take(), "-parent -user -provider");
}

#[tokio::test]
async fn a_service_is_hidden_from_others_until_its_provider_is_active() {
    let root = Context::root();
    let (outside, log) = (root.clone(), Log::default());
    let seen = log.clone();
    let provider = probe("provider", move |ctx| {
        let (outside, seen) = (outside.clone(), seen.clone());
        async move {
            ctx.provide(A, Arc::from("word"))?;
            seen.add(format!("own={:?}", ctx.service(A)?));
            seen.add(format!("other={:?}", outside.try_service(A)));
            Ok(())
        }
    });
    root.plugin(provider, NoConfig {}).await.unwrap();
    assert_eq!(log.take(), "own=\"word\" other=None");
    assert_eq!(&*root.service(A).unwrap(), "word");
}

#[tokio::test]
async fn a_plugin_being_unloaded_can_still_read_the_service_it_was_started_with() {
    let (root, log) = (Context::root(), Log::default());
    let provider = root.plugin(providing("pa", Some(A), &log), NoConfig {}).await.unwrap();
    let seen = log.clone();
    let user = probe("user", move |ctx| {
        let (late, seen) = (ctx.clone(), seen.clone());
        async move {
            ctx.effect("last words", move || seen.add(format!("{:?}", late.service(A).unwrap())))?;
            Ok(())
        }
    });
    root.plugin(user.injecting(&["a"]), NoConfig {}).await.unwrap();
    log.take();
    provider.dispose().await;
    assert_eq!(log.take(), "\"pa\" -pa");
}

#[tokio::test]
async fn children_start_after_their_parent_and_in_mount_order() {
    let (root, log) = (Context::root(), Log::default());
    let parent = {
        let log = log.clone();
        probe("parent", move |ctx| {
            let log = log.clone();
            async move {
                ctx.mount(logging("one", &log), NoConfig {})?;
                ctx.mount(logging("two", &log), NoConfig {})?;
                log.add("parent-done");
                Ok(())
            }
        })
    };
    root.plugin(parent, NoConfig {}).await.unwrap();
    assert_eq!(log.take(), "parent-done +one +two");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_plugins_mounted_from_many_tasks_all_start_once() {
    let (root, log) = (Context::root(), Log::default());
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let (root, plugin) = (root.clone(), logging("p", &log));
            tokio::spawn(async move { root.plugin(plugin, NoConfig {}).await.unwrap().is_active() })
        })
        .collect();
    for task in tasks {
        assert!(task.await.unwrap());
    }
    assert_eq!(log.take().matches("+p").count(), 20);
}

#[tokio::test]
async fn of_several_users_of_a_service_the_one_that_started_last_is_unloaded_first() {
    let (root, log) = (Context::root(), Log::default());
    let provider = root.plugin(providing("pa", Some(A), &log), NoConfig {}).await.unwrap();
    for name in ["one", "two", "three"] {
        root.plugin(logging(name, &log).injecting(&["a"]), NoConfig {}).await.unwrap();
    }
    log.take();
    provider.dispose().await;
    assert_eq!(log.take(), "-three -two -one -pa");
}
