use dsh_harness::{
    Decision, Execute, PostExecute, PreExecute, ResultPublished, Session, SessionHeader, Verdict,
};
use dsh_plugin::{Next, PlainError};
use serde_json::json;
use std::sync::Arc;

use crate::toys::{Log, Toy, call, harness, told};

#[tokio::test]
async fn the_stages_come_in_order_around_each_other() {
    let (root, tools) = harness().await;
    let log = Log::default();
    let body = log.clone();
    let toy = Toy::new("toy", move |args, _| {
        body.add("body");
        async move { Ok(args.text.clone()) }
    });
    tools.register(&root, toy).unwrap();
    for layer in ["outer", "inner"] {
        let seen = log.clone();
        root.intercept::<PreExecute, _, _>(move |args, next: Next<PreExecute>| {
            seen.add(format!("pre {layer}"));
            next.run(args)
        })
        .unwrap();
        let seen = log.clone();
        root.intercept::<Execute, _, _>(move |exec, next: Next<Execute>| {
            let seen = seen.clone();
            async move {
                seen.add(format!("> {layer}"));
                let result = next.run(exec).await;
                seen.add(format!("< {layer}"));
                result
            }
        })
        .unwrap();
        let seen = log.clone();
        root.intercept::<PostExecute, _, _>(move |args, next: Next<PostExecute>| {
            seen.add(format!("post {layer} {}", args.result.text()));
            next.run(args)
        })
        .unwrap();
    }
    let seen = log.clone();
    tools
        .guard(&root, move |exec| {
            seen.add(format!("guard {}", exec.call_id));
            None
        })
        .unwrap();
    let seen = log.clone();
    root.on::<ResultPublished>(move |published| {
        seen.add(format!("result {} {}", published.exec.tool, published.result.text()));
        Ok(())
    })
    .unwrap();

    assert_eq!(tools.execute(call("toy", json!({"text": "a"}))).await.text(), "<a>");
    assert_eq!(
        log.take(),
        [
            "pre outer",
            "pre inner",
            "guard c1",
            "> outer",
            "> inner",
            "body",
            "< inner",
            "< outer",
            "post outer <a>",
            "post inner <a>",
            "result toy <a>",
        ]
    );
}

#[tokio::test]
async fn a_denied_call_skips_the_body_and_reaches_post_execute() {
    let (root, tools) = harness().await;
    let log = Log::default();
    tools.register(&root, Toy::slow("toy", &log)).unwrap();
    root.intercept::<PreExecute, _, _>(|_, _| async {
        Ok(Decision::Deny { reason: "not on Sundays".to_owned() })
    })
    .unwrap();
    let seen = log.clone();
    tools
        .guard(&root, move |_| {
            seen.add("guard");
            None
        })
        .unwrap();
    let seen = log.clone();
    root.intercept::<PostExecute, _, _>(move |args, next: Next<PostExecute>| {
        seen.add(format!("post {}", args.result.text()));
        next.run(args)
    })
    .unwrap();
    let result = tools.execute(call("toy", json!({}))).await;
    assert_eq!(told(&result), ("Error: not on Sundays".to_owned(), Some("ToolDenied"), Some("DENIED")));
    assert_eq!(log.take(), ["post Error: not on Sundays"]);
}

#[tokio::test]
async fn the_first_guard_that_refuses_wins_and_none_can_allow() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::echo("toy")).unwrap();
    tools.guard(&root, |_| None).unwrap();
    tools.guard(&root, |exec| exec.arguments.get("text").map(|_| "no texts".to_owned())).unwrap();
    tools.guard(&root, |_| Some("never".to_owned())).unwrap();
    let refused = |text: &str| (format!("Error: {text}"), Some("ToolDenied"), Some("DENIED"));
    assert_eq!(told(&tools.execute(call("toy", json!({"text": "a"}))).await), refused("no texts"));
    assert_eq!(told(&tools.execute(call("toy", json!({}))).await), refused("never"));
}

#[tokio::test]
async fn a_guard_that_panics_lets_nothing_through() {
    let (root, tools) = harness().await;
    let log = Log::default();
    tools.register(&root, Toy::slow("toy", &log)).unwrap();
    tools.guard(&root, |_| panic!("lost my mind")).unwrap();
    let result = tools.execute(call("toy", json!({}))).await;
    assert_eq!(
        told(&result),
        (
            "Error: a tool guard panicked: lost my mind".to_owned(),
            Some("InternalError"),
            Some("INTERNAL_ERROR")
        )
    );
    assert!(log.take().is_empty());
}

#[tokio::test]
async fn listeners_see_calls_of_unknown_tools() {
    let (root, tools) = harness().await;
    let log = Log::default();
    let seen = log.clone();
    root.intercept::<PreExecute, _, _>(move |args, next: Next<PreExecute>| {
        seen.add(format!("pre {}", args.exec.tool));
        next.run(args)
    })
    .unwrap();
    let seen = log.clone();
    root.intercept::<Execute, _, _>(move |exec, next: Next<Execute>| {
        seen.add(format!("execute {}", exec.tool));
        next.run(exec)
    })
    .unwrap();
    let unknown = |name: &str| {
        (format!("Error: unknown tool \"{name}\""), Some("ToolNotFoundError"), Some("UNKNOWN_TOOL"))
    };
    assert_eq!(told(&tools.execute(call("cat", json!({}))).await), unknown("cat"));
    assert_eq!(told(&tools.execute(call("", json!(null))).await), unknown(""));
    assert_eq!(log.take(), ["pre cat", "execute cat", "pre ", "execute "]);
}

#[tokio::test]
async fn unfit_arguments_never_reach_the_body() {
    let (root, tools) = harness().await;
    let log = Log::default();
    tools.register(&root, Toy::slow("toy", &log)).unwrap();
    let result = tools.execute(call("toy", json!({"text": null}))).await;
    assert_eq!(
        told(&result),
        (
            "Error: invalid arguments: \"text\" must be a string".to_owned(),
            Some("ToolArgsError"),
            Some("INVALID_ARGS")
        )
    );
    assert!(log.take().is_empty());
}

#[tokio::test]
async fn the_body_sees_the_call_it_belongs_to() {
    let (root, tools) = harness().await;
    let session = Session::new(SessionHeader { id: "s1".to_owned(), cwd: "/w".into() });
    let expected = session.clone();
    let toy = Toy::new("toy", move |_, exec| {
        let same = exec.session.as_ref().is_some_and(|session| Arc::ptr_eq(session, &expected));
        async move { Ok(format!("{} {} {same}", exec.call_id, exec.arguments)) }
    });
    tools.register(&root, toy).unwrap();
    let mut call = call("toy", json!({"text": "a", "extra": [1]}));
    call.session = Some(session.clone());
    assert_eq!(tools.execute(call).await.text(), r#"<c1 {"text":"a","extra":[1]} true>"#);
    assert_eq!(session.header().id, "s1");
}

#[tokio::test]
async fn a_listener_that_fails_ends_the_call_with_its_error() {
    let log = Log::default();
    for slot in ["pre", "execute", "post"] {
        let (root, tools) = harness().await;
        tools.register(&root, Toy::echo("toy")).unwrap();
        let seen = log.clone();
        root.intercept::<PostExecute, _, _>(move |args, next: Next<PostExecute>| {
            seen.add("post");
            next.run(args)
        })
        .unwrap();
        let seen = log.clone();
        root.on::<ResultPublished>(move |_| {
            seen.add("result");
            Ok(())
        })
        .unwrap();
        match slot {
            "pre" => {
                root.intercept::<PreExecute, _, _>(|_, _| async { Err(PlainError::new("broke").into()) })
            }
            "execute" => {
                root.intercept::<Execute, _, _>(|_, _| async { Err(PlainError::new("broke").into()) })
            }
            _ => root.intercept::<PostExecute, _, _>(|_, _| async { Err(PlainError::new("broke").into()) }),
        }
        .unwrap();
        let result = tools.execute(call("toy", json!({}))).await;
        assert_eq!(told(&result), ("Error: broke".to_owned(), None, None));
        let stages = if slot == "post" { vec!["post", "result"] } else { vec!["result"] };
        assert_eq!(log.take(), stages, "{slot}");
    }
}

#[tokio::test]
async fn a_listener_that_panics_ends_the_call_with_an_error() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::echo("toy")).unwrap();
    root.intercept::<Execute, _, _>(|_, _| async { panic!("oh") }).unwrap();
    assert_eq!(
        told(&tools.execute(call("toy", json!({}))).await),
        (
            "Error: a listener of plugin \"root\" for \"tools/execute\" panicked: oh".to_owned(),
            Some("PluginError"),
            Some("LISTENER_PANICKED")
        )
    );
}

#[tokio::test]
async fn a_wrapper_cannot_change_what_policy_has_judged() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::echo("toy")).unwrap();
    root.intercept::<Execute, _, _>(|exec, next: Next<Execute>| async move {
        let changed = dsh_harness::Execution {
            arguments: Arc::new(json!({"text": "smuggled"})),
            tool: "other".to_owned(),
            ..(*exec).clone()
        };
        next.run(Arc::new(changed)).await
    })
    .unwrap();
    assert_eq!(tools.execute(call("toy", json!({"text": "a"}))).await.text(), "<a>");
}

#[tokio::test]
async fn a_wrapper_may_answer_itself() {
    let (root, tools) = harness().await;
    let log = Log::default();
    tools.register(&root, Toy::slow("toy", &log)).unwrap();
    root.intercept::<Execute, _, _>(|_, _| async {
        let mut result =
            dsh_harness::ToolResult::success(vec!["from the cache".into()], json!({"cached": true}));
        result.contexts.push("as of yesterday".to_owned());
        Ok(result)
    })
    .unwrap();
    root.intercept::<PostExecute, _, _>(|_, _| async {
        Ok(Verdict::Accept { content: None, value: None, contexts: vec!["and judged".to_owned()] })
    })
    .unwrap();
    let result = tools.execute(call("toy", json!({}))).await;
    assert_eq!(result.text(), "from the cache");
    assert_eq!(result.value(), Some(json!({"cached": true})));
    assert_eq!(result.contexts, ["as of yesterday", "and judged"]);
    assert!(log.take().is_empty());
}

#[tokio::test]
async fn a_failing_observer_changes_nothing() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::echo("toy")).unwrap();
    let log = Log::default();
    root.on::<ResultPublished>(|_| Err(PlainError::new("disk full").into())).unwrap();
    root.on::<ResultPublished>(|_| panic!("oh")).unwrap();
    let seen = log.clone();
    root.on::<ResultPublished>(move |published| {
        seen.add(published.result.text());
        Ok(())
    })
    .unwrap();
    assert_eq!(tools.execute(call("toy", json!({"text": "a"}))).await.text(), "<a>");
    assert_eq!(log.take(), ["<a>"]);
}
