use dsh_plugin::{Context, Event, NoConfig, PlainError};

use crate::probe::{Log, probe};

struct Said;
impl Event for Said {
    const NAME: &'static str = "test/said";
    type Args = str;
}

fn listen(log: &Log, name: &'static str) -> impl Fn(&str) -> Result<(), dsh_plugin::Failure> + use<> {
    let log = log.clone();
    move |word| {
        log.add(format!("{name}:{word}"));
        Ok(())
    }
}

#[test]
fn listeners_are_told_in_the_order_of_registration_and_prepended_ones_latest_first() {
    let (root, log) = (Context::root(), Log::default());
    root.on::<Said>(listen(&log, "1")).unwrap();
    root.on::<Said>(listen(&log, "2")).unwrap();
    root.on_first::<Said>(listen(&log, "p1")).unwrap();
    root.on_first::<Said>(listen(&log, "p2")).unwrap();
    root.on::<Said>(listen(&log, "3")).unwrap();
    root.emit::<Said>("hi").unwrap();
    assert_eq!(log.take(), "p2:hi p1:hi 1:hi 2:hi 3:hi");
}

#[test]
fn an_event_nobody_listens_to_is_fine() {
    Context::root().emit::<Said>("hi").unwrap();
}

#[test]
fn a_listener_registered_while_an_event_is_told_hears_the_next_one() {
    let (root, log) = (Context::root(), Log::default());
    let (inner, seen) = (root.clone(), log.clone());
    root.on::<Said>(move |_| {
        inner.on::<Said>(listen(&seen, "new"))?;
        Ok(())
    })
    .unwrap();
    root.emit::<Said>("one").unwrap();
    assert_eq!(log.take(), "");
    root.emit::<Said>("two").unwrap();
    assert_eq!(log.take(), "new:two");
}

#[tokio::test]
async fn a_listener_removed_while_an_event_is_told_still_hears_it() {
    let (root, log) = (Context::root(), Log::default());
    let slot = std::sync::Arc::new(std::sync::Mutex::new(None::<dsh_plugin::EffectHandle>));
    let (remove, runtime) = (slot.clone(), tokio::runtime::Handle::current());
    root.on::<Said>(move |_| {
        if let Some(handle) = remove.lock().unwrap().take() {
            let runtime = runtime.clone();
            std::thread::spawn(move || runtime.block_on(handle.undo())).join().unwrap();
        }
        Ok(())
    })
    .unwrap();
    *slot.lock().unwrap() = Some(root.on::<Said>(listen(&log, "second")).unwrap());
    root.emit::<Said>("one").unwrap();
    assert_eq!(log.take(), "second:one");
    root.emit::<Said>("two").unwrap();
    assert_eq!(log.take(), "");
}

#[tokio::test]
async fn listeners_end_with_their_plugin() {
    let (root, log) = (Context::root(), Log::default());
    let seen = log.clone();
    let plugin = probe("p", move |ctx| {
        let seen = seen.clone();
        async move {
            ctx.on::<Said>(listen(&seen, "p"))?;
            Ok(())
        }
    });
    let mounted = root.plugin(plugin, NoConfig {}).await.unwrap();
    root.emit::<Said>("one").unwrap();
    mounted.dispose().await;
    root.emit::<Said>("two").unwrap();
    assert_eq!(log.take(), "p:one");
}

#[tokio::test]
async fn all_listeners_are_told_even_if_some_fail_and_the_first_failure_is_returned() {
    let (root, log) = (Context::root(), Log::default());
    root.on::<Said>(listen(&log, "1")).unwrap();
    let plugin = probe("bad", |ctx| async move {
        ctx.on::<Said>(|word| panic!("cannot stand {word:?}"))?;
        Ok(())
    });
    root.plugin(plugin, NoConfig {}).await.unwrap();
    root.on::<Said>(|_| Err(PlainError::new("second failure"))?).unwrap();
    root.on::<Said>(listen(&log, "4")).unwrap();
    let failure = root.emit::<Said>("hi").unwrap_err();
    assert_eq!(
        failure.to_string(),
        "a listener of plugin \"bad\" for \"test/said\" panicked: cannot stand \"hi\""
    );
    assert_eq!((failure.name(), failure.code()), ("PluginError", Some("LISTENER_PANICKED")));
    assert_eq!(log.take(), "1:hi 4:hi");
}

#[test]
fn a_listeners_own_failure_is_handed_on_as_it_is() {
    let root = Context::root();
    root.on::<Said>(|_| Err(PlainError::new("mine"))?).unwrap();
    let failure = root.emit::<Said>("hi").unwrap_err();
    assert_eq!(failure.downcast_ref::<PlainError>(), Some(&PlainError::new("mine")));
    assert_eq!((failure.name(), failure.code()), ("Error", None));
}
