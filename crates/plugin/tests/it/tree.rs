use dsh_plugin::{Context, NoConfig, PlainError};

use crate::probe::{A, Log, logging, probe, providing};

#[tokio::test]
async fn the_tree_can_be_printed() {
    let (root, log) = (Context::root(), Log::default());
    let parent = {
        let log = log.clone();
        probe("parent", move |ctx| {
            let log = log.clone();
            async move {
                ctx.mount(providing("child", Some(A), &log), NoConfig {})?;
                ctx.mount(probe("bad", |_| async { Err(PlainError::new("boom"))? }), NoConfig {})?;
                Ok(())
            }
        })
    };
    root.plugin(parent, NoConfig {}).await.unwrap();
    root.plugin(logging("waiting", &log).injecting(&["a", "b", "c"]), NoConfig {}).await.unwrap();
    root.effect("own", || ()).unwrap();
    assert_eq!(
        root.tree().to_string(),
        "root (active)\n  \
           - own\n  \
           parent (active)\n    \
             child (active)\n      \
               - log\n      \
               - provide a\n    \
             bad (failed: plugin \"bad\" failed to start: boom)\n  \
           waiting (pending, waits for b, c)\n"
    );
}
