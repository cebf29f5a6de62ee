use std::future::pending;
use std::sync::Arc;

use dsh_harness::{
    APPROVAL, Approval, ApprovalOutcome, ApprovalPolicy, ApprovalRequest, AskApproval, Decision,
    HarnessConfig, PreExecute, SYSTEM_PROMPT, Session, ToolRegistry,
};
use dsh_plugin::{Context, Next, PlainError};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::session_log::{logged, session};
use crate::toys::{Log, Toy, call, harness, harness_with, told};

fn request(session: &Arc<Session>) -> ApprovalRequest {
    ApprovalRequest {
        session: session.clone(),
        tool: "write".to_owned(),
        call_id: Some("c1".to_owned()),
        reason: Some("escalate sandbox to danger-full-access: please".to_owned()),
        path: Some("/etc/hosts".to_owned()),
        mode: Some("danger-full-access".to_owned()),
        justification: Some("please".to_owned()),
        cancel: CancellationToken::new(),
    }
}

fn answering(root: &Context, outcome: ApprovalOutcome) {
    root.intercept::<AskApproval, _, _>(move |_, _| async move { Ok(outcome) }).unwrap();
}

/// The log without the random ids, which must be the same in both events.
fn pair(session: &Session) -> Vec<(String, Json)> {
    let mut events = logged(session);
    let ids: Vec<_> = events.iter_mut().map(|(_, data)| data["id"].take()).collect();
    assert_eq!(ids[0].as_str().unwrap().len(), 12);
    assert!(ids.windows(2).all(|two| two[0] == two[1]));
    events
}

#[tokio::test]
async fn question_and_answer_are_in_the_log() {
    use ApprovalOutcome::{AllowedOnce, Cancelled, Rejected, Unavailable};
    for (outcome, word) in [
        (AllowedOnce, "allowed-once"),
        (Rejected, "rejected"),
        (Cancelled, "cancelled"),
        (Unavailable, "unavailable"),
    ] {
        let (root, _) = harness().await;
        answering(&root, outcome);
        let session = session();
        assert_eq!(root.service(APPROVAL).unwrap().request(request(&session)).await, outcome);
        let asked = json!({
            "id": null, "toolName": "write", "callId": "c1",
            "reason": "escalate sandbox to danger-full-access: please", "path": "/etc/hosts"
        });
        assert_eq!(
            pair(&session),
            [
                ("approval/asked".to_owned(), asked),
                ("approval/decided".to_owned(), json!({"id": null, "outcome": word}))
            ]
        );
    }
}

#[tokio::test]
async fn without_an_answerer_nobody_can_be_asked() {
    let (root, _) = harness().await;
    // One that cannot reach this session's person passes it on.
    root.intercept::<AskApproval, _, _>(|asked, next: Next<AskApproval>| next.run(asked)).unwrap();
    let outcome = root.service(APPROVAL).unwrap().request(request(&session())).await;
    assert_eq!(outcome, ApprovalOutcome::Unavailable);
}

#[tokio::test]
async fn an_answerer_that_fails_or_panics_has_not_answered() {
    let (root, _) = harness().await;
    let approval = root.service(APPROVAL).unwrap();
    let failing = root
        .intercept::<AskApproval, _, _>(|_, _| async { Err(PlainError::new("out of order").into()) })
        .unwrap();
    assert_eq!(approval.request(request(&session())).await, ApprovalOutcome::Unavailable);
    failing.undo().await;
    root.intercept::<AskApproval, _, _>(|_, _| async { panic!("lost my mind") }).unwrap();
    assert_eq!(approval.request(request(&session())).await, ApprovalOutcome::Unavailable);
}

#[tokio::test]
async fn a_question_is_withdrawn_while_it_is_pending() {
    let (root, _) = harness().await;
    let session = session();
    let asked = request(&session);
    let cancel = asked.cancel.clone();
    root.intercept::<AskApproval, _, _>(move |_, _| {
        let cancel = cancel.clone();
        async move {
            cancel.cancel();
            pending().await
        }
    })
    .unwrap();
    let approval = root.service(APPROVAL).unwrap();
    assert_eq!(approval.request(asked).await, ApprovalOutcome::Cancelled);
    assert_eq!(pair(&session)[1].1, json!({"id": null, "outcome": "cancelled"}));
}

#[tokio::test]
async fn an_answer_to_a_question_that_is_withdrawn_counts_for_nothing() {
    let (root, _) = harness().await;
    let asked = request(&session());
    let cancel = asked.cancel.clone();
    root.intercept::<AskApproval, _, _>(move |_, _| {
        cancel.cancel();
        async { Ok(ApprovalOutcome::AllowedOnce) }
    })
    .unwrap();
    let approval = root.service(APPROVAL).unwrap();
    assert_eq!(approval.request(asked.clone()).await, ApprovalOutcome::Cancelled);
    assert_eq!(approval.request(asked).await, ApprovalOutcome::Cancelled, "cancelled before it was asked");
}

#[tokio::test]
async fn the_policy_never_rejects_without_asking() {
    let config = HarnessConfig { approval_policy: ApprovalPolicy::Never, ..HarnessConfig::default() };
    let (root, _) = harness_with(config).await;
    answering(&root, ApprovalOutcome::AllowedOnce);
    let (approval, session) = (root.service(APPROVAL).unwrap(), session());
    assert_eq!(approval.request(request(&session)).await, ApprovalOutcome::Rejected);
    assert_eq!(pair(&session)[1].1, json!({"id": null, "outcome": "rejected"}));
}

#[tokio::test]
async fn a_session_may_have_a_policy_of_its_own() {
    let (root, _) = harness().await;
    answering(&root, ApprovalOutcome::AllowedOnce);
    let (approval, one, other) = (root.service(APPROVAL).unwrap(), session(), session());
    approval.set_policy(&one, ApprovalPolicy::Ask);
    assert_eq!(logged(&one), []);
    approval.set_policy(&one, ApprovalPolicy::Never);
    assert_eq!(logged(&one), [("approval/policy".to_owned(), json!({"policy": "never"}))]);
    assert_eq!(approval.request(request(&one)).await, ApprovalOutcome::Rejected);
    assert_eq!(approval.request(request(&other)).await, ApprovalOutcome::AllowedOnce);
}

#[tokio::test]
async fn the_runtime_context_says_what_to_expect() {
    let (root, _) = harness().await;
    let (approval, prompt, session) =
        (root.service(APPROVAL).unwrap(), root.service(SYSTEM_PROMPT).unwrap(), session());
    let before = "Current runtime context. This snapshot supersedes earlier runtime-context snapshots.\n\n";
    assert_eq!(
        prompt.render_context(Some(&session)),
        format!(
            "{before}Approval policy: ask. Operations that require approval may ask through the configured answerers; \
             without an available answerer, the request fails closed."
        )
    );
    approval.set_policy(&session, ApprovalPolicy::Never);
    assert_eq!(
        prompt.render_context(Some(&session)),
        format!(
            "{before}Approval prompts are disabled in this session: actions that require approval are rejected \
             automatically — do not request sandbox escalation (do not set `sandbox_permissions`)."
        )
    );
    assert_eq!(prompt.render_context(None), "");
}

#[test]
fn the_policy_is_one_of_two_words() {
    let read = |value| serde_json::from_value::<HarnessConfig>(json!({ "approvalPolicy": value }));
    assert_eq!(read(json!("ask")).unwrap().approval_policy, ApprovalPolicy::Ask);
    assert_eq!(read(json!("never")).unwrap().approval_policy, ApprovalPolicy::Never);
    for wrong in [json!("sometimes"), json!(1), json!(null)] {
        assert_eq!(
            read(wrong).unwrap_err().to_string(),
            "approval policy must be one of \"ask\" or \"never\""
        );
    }
}

/// A harness in which every call needs approval, and what such a call of `toy` comes to.
fn toy_asked(root: &Context, tools: &ToolRegistry, reason: Option<&str>) -> Log {
    let log = Log::default();
    tools.register(root, Toy::slow("toy", &log)).unwrap();
    let reason = reason.map(str::to_owned);
    root.intercept::<PreExecute, _, _>(move |_, _| {
        let reason = reason.clone();
        async { Ok(Decision::Ask { reason }) }
    })
    .unwrap();
    log
}

#[tokio::test]
async fn a_call_that_a_policy_has_asked_about_runs_after_a_yes() {
    let (root, tools) = harness().await;
    let log = toy_asked(&root, &tools, Some("it is Sunday"));
    let seen = log.clone();
    root.intercept::<AskApproval, _, _>(move |asked, _| {
        seen.add(format!("{} {:?} {:?}", asked.tool, asked.call_id, asked.reason));
        async { Ok(ApprovalOutcome::AllowedOnce) }
    })
    .unwrap();
    let session = session();
    let mut asked = call("toy", json!({"text": "0"}));
    asked.session = Some(session.clone());
    assert_eq!(tools.execute(asked).await.text(), "<0>");
    assert_eq!(log.take(), ["toy Some(\"c1\") Some(\"it is Sunday\")", "+0", "-0"]);
    let kinds: Vec<_> = logged(&session).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["tool/call", "approval/asked", "approval/decided", "tool/result"]);
}

#[tokio::test]
async fn a_call_that_a_policy_has_asked_about_does_not_run_without_a_yes() {
    for (outcome, text) in [
        (ApprovalOutcome::Rejected, "Error: the user rejected tool \"toy\""),
        (ApprovalOutcome::Cancelled, "Error: approval for tool \"toy\" was cancelled"),
        (
            ApprovalOutcome::Unavailable,
            "Error: tool \"toy\" requires approval, but no approval channel is available",
        ),
    ] {
        let (root, tools) = harness().await;
        let log = toy_asked(&root, &tools, None);
        answering(&root, outcome);
        let mut asked = call("toy", json!({}));
        let routeless = tools.execute(asked.clone()).await;
        asked.session = Some(session());
        let denied = |text: &str| (text.to_owned(), Some("ToolDenied"), Some("DENIED"));
        assert_eq!(told(&tools.execute(asked).await), denied(text));
        assert_eq!(
            told(&routeless),
            denied("Error: tool \"toy\" requires approval, but the call has no agent to route it through")
        );
        assert!(log.take().is_empty());
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_it_is_asked_about_is_aborted() {
    let (root, tools) = harness().await;
    toy_asked(&root, &tools, None);
    let mut asked = call("toy", json!({}));
    asked.session = Some(session());
    let cancel = asked.cancel.clone();
    root.intercept::<AskApproval, _, _>(move |_, _| {
        cancel.cancel();
        pending()
    })
    .unwrap();
    let text = "Error: tool call aborted before dispatch".to_owned();
    let aborted = (text, Some("AbortError"), Some("ABORTED_BEFORE_DISPATCH"));
    assert_eq!(told(&tools.execute(asked).await), aborted);
}

#[tokio::test]
async fn without_an_approval_service_a_question_is_a_refusal() {
    for (reason, text) in
        [(Some("not today"), "not today"), (None, "tool \"toy\" requires approval (not yet supported)")]
    {
        let root = Context::root();
        let tools = ToolRegistry::new(&root, std::num::NonZeroUsize::MIN);
        toy_asked(&root, &tools, reason);
        assert_eq!(tools.execute(call("toy", json!({}))).await.text(), format!("Error: {text}"));
    }
}

#[tokio::test]
async fn the_service_can_be_made_without_its_plugin() {
    let root = Context::root();
    answering(&root, ApprovalOutcome::AllowedOnce);
    let approval = Approval::new(&root, ApprovalPolicy::Ask);
    assert_eq!(approval.request(request(&session())).await, ApprovalOutcome::AllowedOnce);
}
