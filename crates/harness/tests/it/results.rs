use dsh_harness::{Content, ErrorInfo, ToolArgsError, ToolError, ToolResult};
use dsh_plugin::{Coded, Failure, PlainError};
use serde_json::json;

use crate::toys::{Toy, call, harness, told};

#[derive(Debug)]
struct Odd;

impl std::fmt::Display for Odd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cannot read \"/w/a\": not found")
    }
}

impl std::error::Error for Odd {}

impl Coded for Odd {
    fn name(&self) -> &'static str {
        "FsError"
    }

    fn code(&self) -> Option<&str> {
        Some("FS_NOT_FOUND")
    }
}

#[tokio::test]
async fn a_success_has_content_value_and_meta() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::echo("toy")).unwrap();
    let result = tools.execute(call("toy", json!({"text": "a"}))).await;
    assert!(!result.is_error());
    assert_eq!(result.error(), None);
    assert_eq!(result.content, [Content::text("<a>")]);
    assert_eq!(result.value(), Some(json!("a")));
    assert_eq!(result.meta(), Some(json!({"shown": "a"})));
    assert!(result.contexts.is_empty());
    let dsh_harness::Outcome::Success(value) = &result.outcome else { panic!() };
    assert_eq!(value.as_any().downcast_ref::<String>().unwrap(), "a");
}

#[tokio::test]
async fn a_coded_failure_keeps_its_name_and_code() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::new("toy", |_, _| async { Err(Odd.into()) })).unwrap();
    let result = tools.execute(call("toy", json!({}))).await;
    assert_eq!(
        told(&result),
        ("Error: cannot read \"/w/a\": not found".to_owned(), Some("FsError"), Some("FS_NOT_FOUND"))
    );
    assert_eq!(result.error().unwrap().message, "cannot read \"/w/a\": not found");
    assert_eq!(result.value(), None);
    assert_eq!(result.meta, None);
}

#[tokio::test]
async fn a_plain_failure_has_neither() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::new("toy", |_, _| async { Err(PlainError::new("no").into()) })).unwrap();
    assert_eq!(told(&tools.execute(call("toy", json!({}))).await), ("Error: no".to_owned(), None, None));
}

#[tokio::test]
async fn a_failure_may_carry_meta() {
    let (root, tools) = harness().await;
    let toy = Toy::new("toy", |_, _| async {
        Err(ToolError::from(Odd).with_meta(json!({"committed": true, "path": "/w/a"})))
    });
    tools.register(&root, toy).unwrap();
    let result = tools.execute(call("toy", json!({}))).await;
    assert!(result.is_error());
    assert_eq!(result.meta(), Some(json!({"committed": true, "path": "/w/a"})));
}

#[tokio::test]
async fn a_value_error_is_told_word_for_word() {
    let (root, tools) = harness().await;
    let toy =
        Toy::new("toy", |_, _| async { Err(ToolArgsError::new("offset must be a positive integer").into()) });
    tools.register(&root, toy).unwrap();
    assert_eq!(
        told(&tools.execute(call("toy", json!({}))).await),
        ("Error: offset must be a positive integer".to_owned(), Some("ToolArgsError"), Some("INVALID_ARGS"))
    );
}

#[tokio::test]
async fn a_panicking_body_is_an_error_result() {
    let (root, tools) = harness().await;
    let internal = |text: &str| (format!("Error: {text}"), Some("InternalError"), Some("INTERNAL_ERROR"));
    tools.register(&root, Toy::new("late", |_, _| async { panic!("boom") })).unwrap();
    // Panics before there is a future.
    tools
        .register(
            &root,
            Toy::new("early", |args, _| {
                assert!(!args.text.is_empty(), "no text at {}", 1);
                async { Ok(String::new()) }
            }),
        )
        .unwrap();
    tools.register(&root, Toy::new("strange", |_, _| async { std::panic::panic_any(7) })).unwrap();
    let result = |name: &'static str| {
        let tools = tools.clone();
        async move { tools.execute(call(name, json!({}))).await }
    };
    assert_eq!(told(&result("late").await), internal("tool \"late\" panicked: boom"));
    assert_eq!(told(&result("early").await), internal("tool \"early\" panicked: no text at 1"));
    assert_eq!(
        told(&result("strange").await),
        internal("tool \"strange\" panicked: a value that is not text")
    );
}

#[tokio::test]
async fn a_panicking_renderer_is_an_error_result() {
    let (root, tools) = harness().await;
    tools.register(&root, Toy::echo("toy")).unwrap();
    for (text, start) in [
        ("unrenderable", "Error: tool \"toy\" returned invalid output: output.render failed: "),
        ("metaless", "Error: tool \"toy\" returned invalid output: output.presentationMeta failed: "),
    ] {
        let result = tools.execute(call("toy", json!({ "text": text }))).await;
        let (shown, name, code) = told(&result);
        assert!(shown.starts_with(start), "{shown}");
        assert_eq!((name, code), (Some("ToolOutputError"), Some("INVALID_TOOL_OUTPUT")));
    }
}

#[test]
fn text_blocks_are_joined_by_a_newline() {
    let result = ToolResult::success(vec!["a".into(), Content::text("b\n"), "c".into()], ());
    assert_eq!(result.text(), "a\nb\n\nc");
}

#[test]
fn a_value_that_cannot_be_json_is_no_value() {
    let strange = std::collections::HashMap::from([((1, 2), 3)]);
    assert_eq!(ToolResult::success(Vec::new(), strange).value(), None);
}

#[test]
fn any_failure_can_be_told() {
    let failure: Failure = Odd.into();
    let info = ErrorInfo::of(&*failure);
    assert_eq!(info, ErrorInfo::named("cannot read \"/w/a\": not found", "FsError", "FS_NOT_FOUND"));
    assert_eq!(ErrorInfo::of(&PlainError::new("x")), ErrorInfo::plain("x"));
    let error = ToolError::from(failure);
    assert_eq!(error.failure().code(), Some("FS_NOT_FOUND"));
    assert_eq!(error.meta(), None);
}
