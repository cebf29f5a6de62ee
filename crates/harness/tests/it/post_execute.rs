use dsh_harness::{Content, Execute, PostExecute, ToolResult, Verdict};
use dsh_plugin::{Context, Next, PlainError};
use serde_json::{Value as Json, json};

use crate::toys::{Toy, call, harness, told};

/// The result of a toy (the text, or a failure where it is `fail`) under one verdict.
async fn under(text: &str, verdict: Verdict) -> ToolResult {
    let (root, tools) = harness().await;
    let toy = Toy::new("toy", |args, _| async move {
        if args.text == "fail" { Err(PlainError::new("failed").into()) } else { Ok(args.text.clone()) }
    });
    tools.register(&root, toy).unwrap();
    decide(&root, verdict);
    tools.execute(call("toy", json!({ "text": text }))).await
}

fn decide(root: &Context, verdict: Verdict) {
    root.intercept::<PostExecute, _, _>(move |_, _| {
        let verdict = verdict.clone();
        async { Ok(verdict) }
    })
    .unwrap();
}

fn accept(content: Option<&str>, value: Option<Json>) -> Verdict {
    Verdict::Accept {
        content: content.map(|text| vec![text.into()]),
        value,
        contexts: vec!["noted".to_owned()],
    }
}

#[tokio::test]
async fn accepting_changes_nothing() {
    let result = under("a", Verdict::accept()).await;
    assert_eq!(
        (result.text(), result.value(), result.meta()),
        ("<a>".to_owned(), Some(json!("a")), Some(json!({"shown": "a"})))
    );
}

#[tokio::test]
async fn replaced_content_keeps_value_and_meta() {
    let result = under("a", accept(Some("short"), None)).await;
    assert_eq!(result.text(), "short");
    assert_eq!(result.value(), Some(json!("a")));
    assert_eq!(result.meta(), Some(json!({"shown": "a"})));
    assert_eq!(result.contexts, ["noted"]);
}

#[tokio::test]
async fn replaced_content_of_a_failure_stays_a_failure() {
    let result = under("fail", accept(Some("short"), None)).await;
    assert_eq!(told(&result), ("short".to_owned(), None, None));
    assert_eq!(result.error().unwrap().message, "failed");
}

#[tokio::test]
async fn a_replaced_value_is_rendered_anew() {
    let result = under("a", accept(None, Some(json!("b")))).await;
    assert_eq!(result.text(), "<b>");
    assert_eq!(result.value(), Some(json!("b")));
    assert_eq!(result.meta(), Some(json!({"shown": "b"})));
    assert_eq!(result.contexts, ["noted"]);
}

#[tokio::test]
async fn a_replaced_value_must_be_one_of_the_tools() {
    let result = under("a", accept(None, Some(json!(7)))).await;
    let (text, name, code) = told(&result);
    assert!(text.starts_with("Error: tool \"toy\" returned invalid output: invalid type: "), "{text}");
    assert_eq!((name, code), (Some("ToolOutputError"), Some("INVALID_TOOL_OUTPUT")));
    assert_eq!(result.value(), None);
}

#[tokio::test]
async fn content_and_value_cannot_both_be_replaced() {
    assert_eq!(
        told(&under("a", accept(Some("short"), Some(json!("b")))).await),
        (
            "Error: tools/post-execute accept decision cannot replace both value and content".to_owned(),
            Some("ToolPolicyError"),
            Some("INVALID_VERDICT")
        )
    );
}

#[tokio::test]
async fn a_failure_has_no_value_to_replace() {
    assert_eq!(
        told(&under("fail", accept(None, Some(json!("b")))).await),
        (
            "Error: tools/post-execute cannot replace the value of a failed result".to_owned(),
            Some("ToolPolicyError"),
            Some("INVALID_VERDICT")
        )
    );
}

#[tokio::test]
async fn blocking_shows_the_feedback_alone() {
    let feedback = vec![Content::text("say it again,"), Content::text("politely")];
    let result =
        under("a", Verdict::Block { feedback: feedback.clone(), contexts: vec!["tone".to_owned()] }).await;
    assert_eq!(result.content, feedback);
    assert_eq!(result.error().unwrap().message, "say it again,\npolitely");
    assert_eq!(told(&result), ("say it again,\npolitely".to_owned(), Some("ToolDenied"), Some("DENIED")));
    assert_eq!((result.value(), result.meta), (None, None));
    assert_eq!(result.contexts, ["tone"]);
}

#[tokio::test]
async fn blocking_without_feedback_still_has_a_message() {
    let result = under("a", Verdict::Block { feedback: Vec::new(), contexts: Vec::new() }).await;
    assert_eq!(result.content, []);
    assert_eq!(result.error().unwrap().message, "tool result blocked by post-execute policy");
}

#[tokio::test]
async fn an_outer_listener_can_overrule_an_inner_one() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::echo("toy")).unwrap();
    root.intercept::<PostExecute, _, _>(|args, next: Next<PostExecute>| async move {
        match next.run(args).await? {
            Verdict::Block { .. } => Ok(Verdict::accept()),
            accepted @ Verdict::Accept { .. } => Ok(accepted),
        }
    })
    .unwrap();
    decide(&root, Verdict::Block { feedback: vec!["no".into()], contexts: Vec::new() });
    assert_eq!(tools.execute(call("toy", json!({"text": "a"}))).await.text(), "<a>");
}

#[tokio::test]
async fn contexts_of_a_wrapper_come_before_those_of_the_verdict() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::echo("toy")).unwrap();
    root.intercept::<Execute, _, _>(|exec, next: Next<Execute>| async move {
        let mut result = next.run(exec).await?;
        result.contexts.push("wrapped".to_owned());
        Ok(result)
    })
    .unwrap();
    decide(&root, accept(None, Some(json!("b"))));
    assert_eq!(tools.execute(call("toy", json!({"text": "a"}))).await.contexts, ["wrapped", "noted"]);
}
