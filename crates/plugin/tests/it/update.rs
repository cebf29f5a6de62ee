//! Other settings for a plugin that is mounted.

use dsh_plugin::{Coded, Context, Failure, NoConfig, PlainError, Plugin, PluginState};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::probe::{A, Log, Roll, logging, probe};

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Number {
    number: u32,
}

/// Logs its number, provides it and answers [`Roll`] with it; 13 it does not start with.
struct Counter(Log);

impl Plugin for Counter {
    type Config = Number;

    fn name(&self) -> &'static str {
        "counter"
    }

    async fn apply(&self, ctx: Context, Number { number }: Number) -> Result<(), Failure> {
        let (log, gone) = (self.0.clone(), self.0.clone());
        log.add(format!("+{number}"));
        ctx.effect("number", move || gone.add(format!("-{number}")))?;
        if number == 13 {
            return Err(PlainError::new("unlucky").into());
        }
        ctx.provide(A, std::sync::Arc::from(number.to_string()))?;
        ctx.on::<Roll>(move |()| {
            log.add(number.to_string());
            Ok(())
        })?;
        Ok(())
    }
}

#[tokio::test]
async fn all_that_it_registered_is_undone_and_it_starts_anew_with_those_who_use_it() {
    let (root, log) = (Context::root(), Log::default());
    let counter = root.plugin(Counter(log.clone()), Number { number: 1 }).await.unwrap();
    root.plugin(Counter(log.clone()), Number { number: 2 }).await.unwrap_err();
    root.plugin(logging("user", &log).injecting(&["a"]), NoConfig {}).await.unwrap();
    log.take();
    counter.update(Number { number: 3 }).await.unwrap();
    assert_eq!(log.take(), "-user -1 +3 +user");
    assert_eq!((&*root.service(A).unwrap(), counter.state()), ("3", PluginState::Active));
}

#[tokio::test]
async fn its_listeners_keep_their_place_first_and_last() {
    let (root, log) = (Context::root(), Log::default());
    let first = probe("first", {
        let log = log.clone();
        move |ctx| {
            let log = log.clone();
            async move {
                for word in ["f1", "f2"] {
                    let log = log.clone();
                    ctx.on_first::<Roll>(move |()| {
                        log.add(word);
                        Ok(())
                    })?;
                }
                Ok(())
            }
        }
    });
    let first = root.plugin(first, NoConfig {}).await.unwrap();
    let counter = root.plugin(Counter(log.clone()), Number { number: 1 }).await.unwrap();
    let late = log.clone();
    root.on_first::<Roll>(move |()| {
        late.add("late");
        Ok(())
    })
    .unwrap();
    let last = log.clone();
    root.on::<Roll>(move |()| {
        last.add("last");
        Ok(())
    })
    .unwrap();
    log.take();
    let roll = || {
        root.emit::<Roll>(&()).unwrap();
        log.take()
    };
    assert_eq!(roll(), "late f2 f1 1 last");
    counter.update(Number { number: 2 }).await.unwrap();
    log.take();
    assert_eq!(roll(), "late f2 f1 2 last");
    first.update(NoConfig {}).await.unwrap();
    assert_eq!(roll(), "late f2 f1 2 last");
}

#[tokio::test]
async fn settings_it_cannot_start_with_are_taken_back() {
    let (root, log) = (Context::root(), Log::default());
    let counter = root.plugin(Counter(log.clone()), Number { number: 1 }).await.unwrap();
    log.take();
    let error = counter.update(Number { number: 13 }).await.unwrap_err();
    assert_eq!(error.to_string(), "plugin \"counter\" failed to start: unlucky");
    assert_eq!(log.take(), "-1 +13 -13 +1");
    assert!(counter.is_active());
}

#[tokio::test]
async fn settings_of_another_type_and_a_plugin_that_is_gone_are_errors() {
    let (root, log) = (Context::root(), Log::default());
    let counter = root.plugin(Counter(log.clone()), Number { number: 1 }).await.unwrap();
    log.take();
    let error = counter.update(NoConfig {}).await.unwrap_err();
    assert_eq!(error.code(), Some("WRONG_CONFIG_TYPE"));
    assert_eq!(
        error.to_string(),
        "plugin \"counter\" has settings of another type than dsh_plugin::plugin::NoConfig"
    );
    assert_eq!(log.take(), "");
    counter.dispose().await;
    let error = counter.update(Number { number: 2 }).await.unwrap_err();
    assert_eq!(error.code(), Some("INACTIVE_CONTEXT"));
}

#[tokio::test]
async fn one_that_waits_takes_them_when_it_starts() {
    let (root, log) = (Context::root(), Log::default());
    let waiting = root.plugin(logging("user", &log).injecting(&["a"]), NoConfig {}).await.unwrap();
    waiting.update(NoConfig {}).await.unwrap();
    assert_eq!((log.take(), waiting.state()), (String::new(), PluginState::Pending));
    root.plugin(Counter(log.clone()), Number { number: 1 }).await.unwrap();
    assert_eq!(log.take(), "+1 +user");
}
