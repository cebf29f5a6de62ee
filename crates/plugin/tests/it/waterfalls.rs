use dsh_plugin::{Context, Failure, Next, NoConfig, PlainError, Waterfall};

use crate::probe::{Log, probe};

struct Shout;
impl Waterfall for Shout {
    const NAME: &'static str = "test/shout";
    type Args = String;
    type Answer = String;
}

async fn ask(ctx: &Context) -> Result<String, Failure> {
    ctx.waterfall::<Shout, _, _>("q".to_owned(), |args| async move { Ok(format!("[{args}]")) }).await
}

type Answering = std::pin::Pin<Box<dyn Future<Output = Result<String, Failure>> + Send>>;

/// A listener that marks what goes in and what comes out.
fn mark(name: &'static str) -> impl Fn(String, Next<Shout>) -> Answering {
    move |args, next| {
        Box::pin(async move {
            let answer = next.run(format!("{args}>{name}")).await?;
            Ok(format!("{answer}<{name}"))
        })
    }
}

#[tokio::test]
async fn each_listener_gets_what_the_one_before_passed_on_and_answers_come_back_in_reverse() {
    let root = Context::root();
    root.intercept::<Shout, _, _>(mark("1")).unwrap();
    root.intercept::<Shout, _, _>(mark("2")).unwrap();
    root.intercept_first::<Shout, _, _>(mark("p1")).unwrap();
    root.intercept_first::<Shout, _, _>(mark("p2")).unwrap();
    assert_eq!(ask(&root).await.unwrap(), "[q>p2>p1>1>2]<2<1<p1<p2");
}

#[tokio::test]
async fn without_listeners_the_innermost_step_answers() {
    assert_eq!(ask(&Context::root()).await.unwrap(), "[q]");
}

#[tokio::test]
async fn a_listener_that_does_not_ask_further_decides_alone() {
    let root = Context::root();
    root.intercept::<Shout, _, _>(mark("1")).unwrap();
    root.intercept::<Shout, _, _>(|_, _| async { Ok("decided".to_owned()) }).unwrap();
    root.intercept::<Shout, _, _>(|_, _| async { panic!("not asked") }).unwrap();
    assert_eq!(ask(&root).await.unwrap(), "decided<1");
}

#[tokio::test]
async fn the_list_is_that_of_the_moment_of_the_dispatch() {
    let root = Context::root();
    let inner = root.clone();
    root.intercept::<Shout, _, _>(move |args, next| {
        inner.intercept::<Shout, _, _>(mark("new")).unwrap();
        next.run(args)
    })
    .unwrap();
    assert_eq!(ask(&root).await.unwrap(), "[q]");
    assert_eq!(ask(&root).await.unwrap(), "[q>new]<new");
}

#[tokio::test]
async fn a_panic_while_building_or_polling_the_future_is_a_failure_that_names_event_and_plugin() {
    let root = Context::root();
    let building = probe("builder", |ctx| async move {
        ctx.intercept::<Shout, _, _>(|_, _| -> std::future::Ready<Result<String, Failure>> {
            panic!("building")
        })?;
        Ok(())
    });
    let mounted = root.plugin(building, NoConfig {}).await.unwrap();
    let failure = ask(&root).await.unwrap_err();
    assert_eq!(failure.to_string(), "a listener of plugin \"builder\" for \"test/shout\" panicked: building");
    assert_eq!(failure.code(), Some("LISTENER_PANICKED"));
    mounted.dispose().await;

    let polling = probe("poller", |ctx| async move {
        ctx.intercept::<Shout, _, _>(|_, _| async {
            tokio::task::yield_now().await;
            panic!("polling {}", 2)
        })?;
        Ok(())
    });
    root.plugin(polling, NoConfig {}).await.unwrap();
    let failure = ask(&root).await.unwrap_err();
    assert_eq!(failure.to_string(), "a listener of plugin \"poller\" for \"test/shout\" panicked: polling 2");
}

#[tokio::test]
async fn the_innermost_steps_panic_is_not_blamed_on_a_listener() {
    let root = Context::root();
    root.intercept::<Shout, _, _>(mark("1")).unwrap();
    let failure =
        root.waterfall::<Shout, _, _>(String::new(), |_| async { panic!("deep down") }).await.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "the innermost step of \"test/shout\", dispatched by plugin \"root\", panicked: deep down"
    );
    assert_eq!(failure.code(), Some("INNERMOST_PANICKED"));
}

#[tokio::test]
async fn an_outer_listener_can_handle_a_failure_of_an_inner_one() {
    let (root, log) = (Context::root(), Log::default());
    let seen = log.clone();
    root.intercept::<Shout, _, _>(move |args, next: Next<Shout>| {
        let seen = seen.clone();
        async move {
            match next.run(args).await {
                Err(failure) => {
                    seen.add(failure.to_string());
                    Ok("handled".to_owned())
                }
                answer => answer,
            }
        }
    })
    .unwrap();
    root.intercept::<Shout, _, _>(|_, _| async { Err(PlainError::new("inner"))? }).unwrap();
    assert_eq!(ask(&root).await.unwrap(), "handled");
    assert_eq!(log.take(), "inner");
}

#[tokio::test]
async fn the_plugins_that_listen_can_be_listed_in_order() {
    let root = Context::root();
    for name in ["one", "two"] {
        let plugin = probe(name, move |ctx| async move {
            ctx.intercept::<Shout, _, _>(mark(name))?;
            Ok(())
        });
        root.plugin(plugin, NoConfig {}).await.unwrap();
    }
    root.intercept_first::<Shout, _, _>(mark("r")).unwrap();
    assert_eq!(root.interceptors::<Shout>(), ["root", "one", "two"]);
}

#[tokio::test]
async fn a_listener_can_be_removed_by_its_handle() {
    let root = Context::root();
    let handle = root.intercept::<Shout, _, _>(mark("1")).unwrap();
    assert!(handle.undo().await);
    assert_eq!(ask(&root).await.unwrap(), "[q]");
    assert!(root.tree().effects.is_empty());
}
