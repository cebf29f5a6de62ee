use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dsh_plugin::{Context, NoConfig, PluginState};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::probe::{A, Log, logging, probe, providing};

const SOON: Duration = Duration::from_millis(5);

#[tokio::test]
async fn a_start_that_was_cut_off_is_rolled_back_and_tried_again() {
    let (root, log) = (Context::root(), Log::default());
    let (runs, seen) = (Arc::new(AtomicUsize::new(0)), log.clone());
    let slow_once = probe("slow", move |ctx| {
        let (run, seen) = (runs.fetch_add(1, Ordering::Relaxed), seen.clone());
        async move {
            seen.add(format!("+{run}"));
            ctx.effect("x", move || seen.add(format!("-{run}")))?;
            if run == 0 {
                std::future::pending::<()>().await;
            }
            Ok(())
        }
    });
    let mounted = root.mount(slow_once, NoConfig {}).unwrap();
    timeout(SOON, root.settle()).await.unwrap_err();
    assert_eq!(mounted.state(), PluginState::Loading);
    root.settle().await.unwrap();
    assert!(mounted.is_active());
    assert_eq!(log.take(), "+0 -0 +1");
}

#[tokio::test]
async fn an_undo_that_was_cut_off_is_finished_not_repeated_and_nothing_older_runs_before_it() {
    let (root, log) = (Context::root(), Log::default());
    let (gate, seen) = (Arc::new(Notify::new()), log.clone());
    let opened = Arc::clone(&gate);
    let plugin = probe("p", move |ctx| {
        let (gate, seen) = (Arc::clone(&opened), seen.clone());
        async move {
            let old = seen.clone();
            ctx.effect("old", move || old.add("old"))?;
            ctx.effect_async("slow", move || async move {
                seen.add("begin");
                gate.notified().await;
                seen.add("end");
            })?;
            Ok(())
        }
    });
    let mounted = root.plugin(plugin, NoConfig {}).await.unwrap();
    timeout(SOON, mounted.dispose()).await.unwrap_err();
    timeout(SOON, root.settle()).await.unwrap_err();
    assert_eq!(log.take(), "begin");
    assert_eq!(mounted.state(), PluginState::Unloading);
    gate.notify_one();
    root.settle().await.unwrap();
    assert_eq!(log.take(), "end old");
    assert_eq!(mounted.state(), PluginState::Disposed);
}

#[tokio::test]
async fn an_early_undo_that_was_cut_off_is_finished_when_the_plugin_is_unloaded() {
    let (root, log) = (Context::root(), Log::default());
    let (gate, seen) = (Arc::new(Notify::new()), log.clone());
    let opened = Arc::clone(&gate);
    let handle = root
        .effect_async("slow", move || async move {
            seen.add("begin");
            opened.notified().await;
            seen.add("end");
        })
        .unwrap();
    timeout(SOON, handle.undo()).await.unwrap_err();
    gate.notify_one();
    root.dispose().await;
    assert_eq!(log.take(), "begin end");
}

#[tokio::test]
async fn a_cut_off_at_every_point_of_a_whole_life_leaves_nothing_behind() {
    /// Polls `future` at most `polls` times, then drops it.
    async fn cut<F: Future>(future: F, polls: usize) {
        let mut future = std::pin::pin!(future);
        for _ in 0..polls {
            let done =
                std::future::poll_fn(|cx| std::task::Poll::Ready(future.as_mut().poll(cx).is_ready())).await;
            if done {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    for polls in 0..30 {
        let (root, log) = (Context::root(), Log::default());
        let (seen, live) = (log.clone(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&live);
        let user = probe("user", move |ctx| {
            let (count, seen) = (Arc::clone(&count), seen.clone());
            async move {
                for step in 0..3 {
                    count.fetch_add(1, Ordering::Relaxed);
                    let (count, seen) = (Arc::clone(&count), seen.clone());
                    ctx.effect_async(format!("{step}"), move || async move {
                        tokio::task::yield_now().await;
                        seen.add(format!("{step}"));
                        tokio::task::yield_now().await;
                        count.fetch_sub(1, Ordering::Relaxed);
                    })?;
                    tokio::task::yield_now().await;
                }
                ctx.mount(logging("child", &seen), NoConfig {})?;
                Ok(())
            }
        });
        let provider = root.mount(providing("pa", Some(A), &log), NoConfig {}).unwrap();
        let user = root.mount(user.injecting(&["a"]), NoConfig {}).unwrap();
        cut(root.settle(), polls).await;
        root.settle().await.unwrap();
        assert!(user.is_active(), "after {polls} polls");
        assert_eq!(live.load(Ordering::Relaxed), 3, "after {polls} polls");
        log.take();
        // A future that is never polled has asked for nothing.
        cut(provider.dispose(), polls.max(1)).await;
        root.settle().await.unwrap();
        assert_eq!(log.take(), "-child 2 1 0 -pa", "after {polls} polls");
        assert_eq!(live.load(Ordering::Relaxed), 0, "after {polls} polls");
        assert_eq!(user.state(), PluginState::Pending);
    }
}

#[tokio::test]
async fn a_driver_that_waits_its_turn_can_be_cancelled() {
    let (root, log) = (Context::root(), Log::default());
    let gate = Arc::new(Notify::new());
    let opened = Arc::clone(&gate);
    let slow = probe("slow", move |_| {
        let gate = Arc::clone(&opened);
        async move {
            gate.notified().await;
            Ok(())
        }
    });
    let outer = root.clone();
    let first = tokio::spawn(async move { outer.plugin(slow, NoConfig {}).await.unwrap().is_active() });
    tokio::task::yield_now().await;
    timeout(SOON, root.plugin(logging("late", &log), NoConfig {})).await.unwrap_err();
    gate.notify_one();
    assert!(first.await.unwrap());
    assert_eq!(log.take(), "");
}
