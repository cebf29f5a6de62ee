//! A wider sandbox for one call: what a model is told, who is asked, and how far a yes goes.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use dsh_fs::SandboxMode::{DangerFullAccess, ReadOnly, WorkspaceWrite};
use dsh_fs::{FS, SANDBOX_POLICY};
use dsh_fs_observation_policy::ObservationPolicyPlugin;
use dsh_harness::{
    APPROVAL, ApprovalOutcome, ApprovalPolicy, ApprovalRequest, AskApproval, HarnessConfig, HarnessPlugin,
    SYSTEM_PROMPT, SystemPrompt, TOOLS, ToolCall, ToolRegistry, ToolResult,
};
use dsh_plugin::{Context, Next, NoConfig};
use dsh_tool_fs::{ToolFsConfig, ToolFsPlugin};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::rig::{Rig, assert_error, assert_text, session};

const HINT: &str = "[sandbox: escalation available — retry this exact operation once with sandbox_permissions (the \
                    narrowest wider mode that suffices) + justification; the approval prompt asks the user]";

/// Answers every question like this, and keeps what was asked.
fn answering(rig: &Rig, outcome: ApprovalOutcome) -> Arc<Mutex<Vec<Arc<ApprovalRequest>>>> {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = asked.clone();
    rig.ctx
        .intercept::<AskApproval, _, _>(move |request, _: Next<AskApproval>| {
            kept.lock().unwrap().push(request);
            async move { Ok(outcome) }
        })
        .unwrap();
    asked
}

fn write_args(path: &str, mode: &str) -> Json {
    json!({ "file_path": path, "content": "x\n", "sandbox_permissions": mode, "justification": "please" })
}

fn edit_args(path: &str) -> Json {
    json!({ "file_path": path, "old_string": "out", "new_string": "in",
        "sandbox_permissions": "danger-full-access", "justification": "please" })
}

#[track_caller]
fn assert_refused(result: &ToolResult, name: &str, code: &str, text: &str) {
    assert_error(result, code, &format!("Error: {text}"));
    assert_eq!(result.error().unwrap().name.as_deref(), Some(name));
}

#[tokio::test]
async fn the_fields_are_advertised_under_a_fence_that_can_be_widened() {
    let fields = concat!(
        r#","sandbox_permissions":{"type":"string","description":"The wider sandbox mode this file operation needs. Only valid as a one-shot retry of an operation the sandbox just denied; requires justification and user approval.","enum":["workspace-write","danger-full-access"]},"#,
        r#""justification":{"type":"string","description":"Required with sandbox_permissions: one sentence for the user explaining why this exact file operation needs the wider access."}},"required":"#,
    );
    for mode in [ReadOnly, WorkspaceWrite, DangerFullAccess] {
        for can_escalate in [true, false] {
            let rig = Rig::fenced(mode, can_escalate).await;
            for tool in rig.tools.definitions() {
                let schema = tool.parameters.to_json().to_string();
                let expected = can_escalate && tool.name != "read";
                assert_eq!(schema.contains(fields), expected, "{}: {schema}", tool.name);
                assert_eq!(schema.contains("justification"), expected);
            }
        }
    }
}

#[tokio::test]
async fn a_fence_without_a_policy_service_does_not_start() {
    let files = Rig::fenced(WorkspaceWrite, true).await.files;
    let ctx = Context::root();
    ctx.plugin(HarnessPlugin, HarnessConfig::default()).await.unwrap();
    ctx.provide(FS, files).unwrap();
    let error = ctx.plugin(ToolFsPlugin, ToolFsConfig::default()).await.unwrap_err();
    let text = "tool-fs: the mounted filesystem confines but ctx.sandboxPolicy is missing";
    assert!(error.to_string().contains(text), "{error}");
}

#[tokio::test]
async fn without_an_approval_service_nothing_can_be_granted() {
    let ctx = Context::root();
    let fenced = Rig::fenced(WorkspaceWrite, true).await;
    ctx.provide(FS, fenced.files.clone()).unwrap();
    ctx.provide(SANDBOX_POLICY, fenced.ctx.service(SANDBOX_POLICY).unwrap()).unwrap();
    ctx.provide(SYSTEM_PROMPT, Arc::new(SystemPrompt::new(&ctx))).unwrap();
    let tools = Arc::new(ToolRegistry::new(&ctx, NonZeroUsize::MIN));
    ctx.provide(TOOLS, tools.clone()).unwrap();
    ctx.plugin(ToolFsPlugin, ToolFsConfig::default()).await.unwrap();
    let call = ToolCall {
        id: "c1".to_owned(),
        tool: "write".to_owned(),
        arguments: write_args("/out.txt", "danger-full-access"),
        session: Some(session("s1")),
        cancel: CancellationToken::new(),
    };
    let text =
        "sandbox escalation to \"danger-full-access\" requires approval, but no approval service is composed";
    assert_refused(&tools.execute(call).await, "ToolDenied", "DENIED", text);
}

#[tokio::test]
async fn a_denial_says_the_mode_and_what_can_be_done() {
    let rig = Rig::fenced(WorkspaceWrite, true).await;
    let text = format!("[sandbox: file access denied under workspace-write mode]\n{HINT}");
    assert_refused(&rig.write("/out.txt", "x").await, "FsError", "FS_SANDBOX_DENIED", &text);
    assert_refused(&rig.edit("/out.txt", "out", "x").await, "FsError", "FS_SANDBOX_DENIED", &text);
    assert_text(
        &rig.write("in.txt", "x\n").await,
        "<path>/w/in.txt</path>\n<type>file</type>\n<content>\nUpdated file\n</content>",
    );
    assert_eq!(rig.files.mutations(), [("/w/in.txt".to_owned(), WorkspaceWrite, None)]);
}

#[tokio::test]
async fn a_denial_that_nobody_can_lift_offers_nothing() {
    let rig = Rig::fenced(ReadOnly, false).await;
    let text = "[sandbox: file access denied under read-only mode]";
    assert_refused(&rig.write("in.txt", "x").await, "FsError", "FS_SANDBOX_DENIED", text);
    assert_refused(&rig.edit("in.txt", "in", "x").await, "FsError", "FS_SANDBOX_DENIED", text);
}

#[tokio::test]
async fn each_session_is_held_to_its_own_mode() {
    let rig = Rig::fenced(WorkspaceWrite, true).await;
    let args = json!({ "file_path": "/w/in.txt", "content": "x\n" });
    let denied = rig.call_in(Some(session("read-only")), "write", args.clone()).await;
    let text = format!("[sandbox: file access denied under read-only mode]\n{HINT}");
    assert_refused(&denied, "FsError", "FS_SANDBOX_DENIED", &text);
    for (id, mode) in [(Some("danger-full-access"), DangerFullAccess), (None, WorkspaceWrite)] {
        assert!(!rig.call_in(id.map(session), "write", args.clone()).await.is_error());
        assert_eq!(rig.files.mutations(), [("/w/in.txt".to_owned(), mode, None)]);
    }
}

#[tokio::test]
async fn a_yes_is_for_this_operation_on_this_file_once() {
    let rig = Rig::fenced(WorkspaceWrite, true).await;
    let asked = answering(&rig, ApprovalOutcome::AllowedOnce);
    let edit = json!({ "file_path": "../out.txt", "old_string": "out", "new_string": "in",
        "sandbox_permissions": "danger-full-access", "justification": "\"because\"\n\u{202e}I say so" });
    assert_text(&rig.call("edit", edit).await, "The file /out.txt has been updated successfully.");
    assert_eq!(
        rig.files.mutations(),
        [("/out.txt".to_owned(), DangerFullAccess, Some(PathBuf::from("/")))],
        "no link is followed after the yes"
    );
    {
        let asked = asked.lock().unwrap();
        let [asked] = asked.as_slice() else { panic!("asked once") };
        assert!(Arc::ptr_eq(&asked.session, &rig.session));
        assert_eq!(asked.tool, "edit");
        assert_eq!(asked.call_id.as_deref(), Some("c1"));
        assert_eq!(
            asked.reason.as_deref(),
            Some(r#"escalate sandbox to danger-full-access: "because"\n\u{202e}I say so"#)
        );
        assert_eq!(asked.path.as_deref(), Some("/out.txt"));
        assert_eq!(asked.mode.as_deref(), Some("danger-full-access"));
        assert_eq!(asked.justification.as_deref(), Some("\"because\"\n\u{202e}I say so"));
    }
    let text = format!("[sandbox: file access denied under workspace-write mode]\n{HINT}");
    assert_refused(&rig.write("/out.txt", "x").await, "FsError", "FS_SANDBOX_DENIED", &text);
    let kinds: Vec<_> = rig.session.log().events().into_iter().map(|event| event.kind).collect();
    assert_eq!(
        kinds,
        ["tool/call", "approval/asked", "approval/decided", "tool/result", "tool/call", "tool/result"]
    );
}

#[tokio::test]
async fn the_narrower_of_the_wider_modes_is_granted_as_such() {
    let rig = Rig::fenced(ReadOnly, true).await;
    answering(&rig, ApprovalOutcome::AllowedOnce);
    assert!(!rig.call("write", write_args("in.txt", "workspace-write")).await.is_error());
    assert_eq!(rig.files.mutations(), [("/w/in.txt".to_owned(), WorkspaceWrite, Some(PathBuf::from("/")))]);
    let text = format!("[sandbox: file access denied under workspace-write mode]\n{HINT}");
    let denied = rig.call("write", write_args("/out.txt", "workspace-write")).await;
    assert_refused(&denied, "FsError", "FS_SANDBOX_DENIED", &text);
}

#[tokio::test]
async fn without_a_yes_nothing_is_done() {
    for (outcome, text) in [
        (ApprovalOutcome::Rejected, "the user rejected escalating this operation to \"danger-full-access\""),
        (ApprovalOutcome::Cancelled, "approval for escalating to \"danger-full-access\" was cancelled"),
        (
            ApprovalOutcome::Unavailable,
            "sandbox escalation to \"danger-full-access\" requires approval, but no approval channel is available",
        ),
    ] {
        let rig = Rig::fenced(WorkspaceWrite, true).await;
        let asked = answering(&rig, outcome);
        let refused = rig.call("write", write_args("/out.txt", "danger-full-access")).await;
        assert_refused(&refused, "ToolDenied", "DENIED", text);
        assert_eq!((rig.files.mutations(), asked.lock().unwrap().len()), (vec![], 1));
    }
}

#[tokio::test]
async fn what_cannot_be_granted_is_not_asked() {
    let rig = Rig::fenced(WorkspaceWrite, true).await;
    let asked = answering(&rig, ApprovalOutcome::AllowedOnce);
    for (args, text) in [
        (
            json!({ "file_path": "n", "content": "", "sandbox_permissions": "danger-full-access" }),
            "invalid escalation: sandbox_permissions requires a justification",
        ),
        (
            json!({ "file_path": "n", "content": "", "justification": "why" }),
            "invalid escalation: justification is only valid together with sandbox_permissions",
        ),
        (
            json!({ "file_path": "n", "content": "", "sandbox_permissions": "danger-full-access",
                "justification": " \n" }),
            "invalid justification: expected a non-empty sentence",
        ),
        (
            write_args("n", "read-only"),
            "invalid arguments: \"sandbox_permissions\" must be one of [\"workspace-write\",\"danger-full-access\"]",
        ),
        (
            write_args("n", "workspace-write"),
            "sandbox escalation to \"workspace-write\" is not strictly wider than this call's current \
             \"workspace-write\" mode",
        ),
    ] {
        assert_refused(&rig.call("write", args).await, "ToolArgsError", "INVALID_ARGS", text);
    }
    let routeless = rig.call_in(None, "write", write_args("/out.txt", "danger-full-access")).await;
    let text = "sandbox escalation to \"danger-full-access\" requires approval, but the call has no agent to route it \
                through";
    assert_refused(&routeless, "ToolDenied", "DENIED", text);
    assert_eq!((rig.files.mutations(), asked.lock().unwrap().len()), (vec![], 0));
}

#[tokio::test]
async fn nobody_is_asked_for_what_the_read_rules_deny() {
    let rig = Rig::fenced(WorkspaceWrite, true).await;
    let asked = answering(&rig, ApprovalOutcome::AllowedOnce);
    rig.files.hide("/out.txt");
    let text = "cannot write \"/out.txt\": file access denied by the read rules";
    let write = rig.call("write", write_args("../out.txt", "danger-full-access")).await;
    assert_refused(&write, "FsError", "FS_SANDBOX_DENIED", text);
    let edit = rig.call("edit", edit_args("/out.txt")).await;
    assert_refused(&edit, "FsError", "FS_SANDBOX_DENIED", text);
    assert_eq!((rig.files.mutations(), asked.lock().unwrap().len()), (vec![], 0));
    assert!(!rig.call("write", write_args("/new.txt", "danger-full-access")).await.is_error());
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn nobody_is_asked_before_the_file_was_read() {
    let rig = Rig::fenced(WorkspaceWrite, true).await;
    rig.ctx.plugin(ObservationPolicyPlugin, NoConfig {}).await.unwrap();
    let asked = answering(&rig, ApprovalOutcome::AllowedOnce);
    let text = "cannot overwrite existing \"/out.txt\" without reading it first — read the file, then retry";
    let write = rig.call("write", write_args("/out.txt", "danger-full-access")).await;
    assert_refused(&write, "FsError", "FS_NOT_OBSERVED", text);
    let text = "edit requires reading \"/out.txt\" first — read the file, then retry";
    let edit = rig.call("edit", edit_args("/out.txt")).await;
    assert_refused(&edit, "FsError", "FS_NOT_OBSERVED", text);
    assert_eq!((rig.files.mutations(), asked.lock().unwrap().len()), (vec![], 0));
    rig.read("/out.txt").await;
    assert!(!rig.call("edit", edit_args("/out.txt")).await.is_error());
    assert!(!rig.call("write", write_args("/out.txt", "danger-full-access")).await.is_error());
    assert!(!rig.call("write", write_args("/new.txt", "danger-full-access")).await.is_error());
    assert_eq!(asked.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn under_a_kernel_fence_nobody_is_asked() {
    let rig = Rig::fenced(WorkspaceWrite, false).await;
    let asked = answering(&rig, ApprovalOutcome::AllowedOnce);
    let text =
        "sandbox_permissions is not available in this composition (the process is confined by the kernel)";
    let refused = rig.call("write", write_args("/out.txt", "danger-full-access")).await;
    assert_refused(&refused, "ToolArgsError", "INVALID_ARGS", text);
    assert_eq!(asked.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn where_people_are_not_asked_it_is_rejected() {
    let rig = Rig::fenced(WorkspaceWrite, true).await;
    answering(&rig, ApprovalOutcome::AllowedOnce);
    rig.ctx.service(APPROVAL).unwrap().set_policy(&rig.session, ApprovalPolicy::Never);
    let refused = rig.call("write", write_args("/out.txt", "danger-full-access")).await;
    let text = "the user rejected escalating this operation to \"danger-full-access\"";
    assert_refused(&refused, "ToolDenied", "DENIED", text);
}
