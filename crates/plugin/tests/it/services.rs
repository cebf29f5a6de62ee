use std::sync::Arc;

use dsh_plugin::{Coded, Context, NoConfig, ServiceKey};

use crate::probe::{A, Log, logging, probe, providing};

const A_AS_NUMBER: ServiceKey<u32> = ServiceKey::new("a");

#[tokio::test]
async fn a_second_provider_of_a_key_fails_and_the_error_names_the_first() {
    let (root, log) = (Context::root(), Log::default());
    root.plugin(providing("first", Some(A), &log), NoConfig {}).await.unwrap();
    let error = root.plugin(providing("second", Some(A), &log), NoConfig {}).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "plugin \"second\" failed to start: service \"a\" is already provided by plugin \"first\""
    );
    assert_eq!(&*root.service(A).unwrap(), "first");
    let error = root.provide(A, Arc::from("third")).unwrap_err();
    assert_eq!(error.code(), Some("DUPLICATE_SERVICE"));
}

#[tokio::test]
async fn asking_for_the_wrong_type_is_an_error() {
    let root = Context::root();
    root.provide(A, Arc::from("word")).unwrap();
    let error = root.service(A_AS_NUMBER).unwrap_err();
    assert_eq!(error.to_string(), "service \"a\" of plugin \"root\" is a str, but was asked for as a u32");
    assert_eq!(error.code(), Some("WRONG_SERVICE_TYPE"));
    assert!(root.try_service(A_AS_NUMBER).is_none());
}

#[tokio::test]
async fn asking_for_what_nobody_provides_is_an_error_that_names_the_key() {
    let root = Context::root();
    let error = root.service(A).unwrap_err();
    assert_eq!(error.to_string(), "service \"a\" is not available: no active plugin provides it");
    assert_eq!(error.code(), Some("SERVICE_NOT_FOUND"));
}

#[tokio::test]
async fn a_service_must_be_injected_by_the_plugin_or_one_above_it() {
    let (root, log) = (Context::root(), Log::default());
    root.plugin(providing("pa", Some(A), &log), NoConfig {}).await.unwrap();
    let asks = probe("asks", |ctx| async move {
        ctx.service(A)?;
        Ok(())
    });
    let error = root.plugin(asks.clone(), NoConfig {}).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "plugin \"asks\" failed to start: plugin \"asks\" asks for service \"a\" without injecting it: add it to its \
         inject list"
    );
    let parent = probe("parent", move |ctx| {
        let asks = asks.clone();
        async move {
            ctx.mount(asks, NoConfig {})?;
            Ok(())
        }
    });
    root.plugin(parent.injecting(&["a"]), NoConfig {}).await.unwrap();
    assert!(
        root.tree().children.iter().all(|child| child.children.iter().all(|child| child.failure.is_none()))
    );
}

#[tokio::test]
async fn a_service_that_can_be_done_without_is_read_without_injecting_it() {
    let (root, log) = (Context::root(), Log::default());
    let other = root.plugin(logging("other", &log), NoConfig {}).await.unwrap().context().unwrap();
    assert!(other.try_service(A).is_none());
    let provider = root.plugin(providing("pa", Some(A), &log), NoConfig {}).await.unwrap();
    assert_eq!(&*other.try_service(A).unwrap(), "pa");
    provider.dispose().await;
    assert!(other.try_service(A).is_none());
}

#[tokio::test]
async fn an_active_plugin_may_provide_later() {
    let (root, log) = (Context::root(), Log::default());
    let user = root.plugin(logging("user", &log).injecting(&["a"]), NoConfig {}).await.unwrap();
    root.provide(A, Arc::from("late")).unwrap();
    assert!(!user.is_active());
    root.settle().await.unwrap();
    assert!(user.is_active());
}
