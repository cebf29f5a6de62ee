//! A wider sandbox for one call: asked for in the arguments, decided by a person, before anything is done.
//!
//! The fields are in the schemas only where they can be granted, but the schemas are open and a model may send them all the
//! same.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use dsh_fs::shown_name::shown;
use dsh_fs::{
    CallPolicy, FileSystem, FsCall, FsError, FsErrorCode, FsKind, FsOp, FsTarget, Owner, SANDBOX_POLICY,
    SandboxMode, SandboxPolicy, WriteGuard,
};
use dsh_harness::{
    APPROVAL, Approval, ApprovalOutcome, ApprovalRequest, Execution, ObjectSchema, Schema, Session,
    ToolArgsError, ToolDenied,
};
use dsh_plugin::{Coded, Context, Failure, PlainError};
use serde_json::Value as Json;

use crate::actor::fs_call;
use crate::remedy::with_remedy;

/// The modes that a call may ask for, whatever its own is.
const MODES: [SandboxMode; 2] = [SandboxMode::WorkspaceWrite, SandboxMode::DangerFullAccess];

/// Which policy the calls of the tools run under, and how it is widened.
#[derive(Clone)]
pub(crate) struct Sandbox {
    ctx: Context,
    fs: Arc<dyn FileSystem>,
}

/// What a call has asked for, not granted yet.
pub(crate) struct Wider {
    standing: CallPolicy,
    mode: SandboxMode,
    justification: String,
    approval: Arc<Approval>,
    session: Arc<Session>,
}

impl Sandbox {
    /// Fails if the backend has a fence but nobody knows its policy.
    pub(crate) fn new(ctx: &Context, fs: &Arc<dyn FileSystem>) -> Result<Self, Failure> {
        let sandbox = Self { ctx: ctx.clone(), fs: fs.clone() };
        if fs.sandbox_mode().is_some() && sandbox.policy().is_none() {
            let message = "tool-fs: the mounted filesystem confines but ctx.sandboxPolicy is missing";
            return Err(PlainError::new(message).into());
        }
        Ok(sandbox)
    }

    /// Adds the two fields where a call can be granted more.
    pub(crate) fn advertise(&self, parameters: ObjectSchema) -> ObjectSchema {
        if !self.policy().is_some_and(|policy| policy.can_escalate()) {
            return parameters;
        }
        parameters
            .optional(
                "sandbox_permissions",
                Schema::enum_of(
                    "The wider sandbox mode this file operation needs. Only valid as a one-shot retry of an operation \
                     the sandbox just denied; requires justification and user approval.",
                    MODES.map(SandboxMode::as_str),
                ),
            )
            .optional(
                "justification",
                Schema::string(
                    "Required with sandbox_permissions: one sentence for the user explaining why this exact file \
                     operation needs the wider access.",
                ),
            )
    }

    /// The circumstances of a call under its session's standing policy.
    pub(crate) fn call(&self, exec: &Execution) -> FsCall {
        let owner = exec.session.as_ref().map(Owner::of);
        let policy = self.policy().map(|policy| policy.standing(owner.as_ref()));
        FsCall { policy, ..fs_call(exec) }
    }

    /// What the arguments ask for beyond that, if they ask properly and there is somebody who could grant it. Nobody is asked
    /// yet.
    pub(crate) fn wider(&self, exec: &Execution) -> Result<Option<Wider>, Failure> {
        let Some((mode, justification)) = asked(&exec.arguments)? else { return Ok(None) };
        let Some(policy) = self.policy() else {
            return Err(unavailable("no sandboxing filesystem to escalate").into());
        };
        if !policy.can_escalate() {
            return Err(unavailable("the process is confined by the kernel").into());
        }
        let mode = mode.as_str().and_then(SandboxMode::parse).filter(|mode| MODES.contains(mode));
        let mode = mode.ok_or_else(|| {
            let modes = Json::from_iter(MODES.map(SandboxMode::as_str));
            ToolArgsError::new(format!("invalid arguments: \"sandbox_permissions\" must be one of {modes}"))
        })?;
        let standing = policy.standing(exec.session.as_ref().map(Owner::of).as_ref());
        let word = mode.as_str();
        if mode <= standing.mode {
            let current = standing.mode.as_str();
            return Err(ToolArgsError::new(format!(
                "sandbox escalation to \"{word}\" is not strictly wider than this call's current \"{current}\" mode"
            ))
            .into());
        }
        let denied =
            |why| ToolDenied::new(format!("sandbox escalation to \"{word}\" requires approval, but {why}"));
        let approval = self.ctx.try_service(APPROVAL);
        let approval = approval.ok_or_else(|| denied("no approval service is composed"))?;
        let session = exec.session.clone();
        let session = session.ok_or_else(|| denied("the call has no agent to route it through"))?;
        let justification = justification.to_owned();
        Ok(Some(Wider { standing, mode, justification, approval, session }))
    }

    /// The circumstances under which the call may work on `target`: those it had, or wider ones, once a person has agreed to
    /// this operation on this very file. It comes last before the mutation: nobody is asked for what is refused anyway.
    pub(crate) async fn granted(
        &self,
        wider: Option<Wider>,
        target: &FsTarget,
        guard: Option<&WriteGuard>,
        exec: &Execution,
        call: FsCall,
    ) -> Result<FsCall, Failure> {
        let Some(Wider { standing, mode, justification, approval, session }) = wider else { return Ok(call) };
        self.hopeless(target, guard, &call).await.map_or(Ok(()), Err)?;
        let word = mode.as_str();
        let request = ApprovalRequest {
            session,
            tool: exec.tool.clone(),
            call_id: Some(exec.call_id.clone()),
            reason: Some(format!("escalate sandbox to {word}: {}", one_line(&justification))),
            path: Some(self.place(target)),
            mode: Some(word.to_owned()),
            justification: Some(justification),
            cancel: exec.cancel.clone(),
        };
        let refused = match approval.request(request).await {
            ApprovalOutcome::AllowedOnce => {
                // No link is followed any more: should something move, the call fails rather than reach another file.
                let root = Arc::from(Path::new("/"));
                return Ok(FsCall { policy: Some(CallPolicy { mode, ..standing }), ..call.beneath(root) });
            }
            ApprovalOutcome::Rejected => format!("the user rejected escalating this operation to \"{word}\""),
            ApprovalOutcome::Cancelled => format!("approval for escalating to \"{word}\" was cancelled"),
            ApprovalOutcome::Unavailable => format!(
                "sandbox escalation to \"{word}\" requires approval, but no approval channel is available"
            ),
        };
        Err(ToolDenied::new(refused).into())
    }

    /// How a mutation's failure is told: a denial by the sandbox with its marker and what can be done about it, any other as
    /// it is.
    pub(crate) fn told(&self, error: FsError, target: &FsTarget, call: &FsCall) -> Failure {
        let mode = call.policy.as_ref().map(|policy| policy.mode).or_else(|| self.fs.sandbox_mode());
        let Some(mode) = mode.filter(|_| error.code() == FsErrorCode::SandboxDenied) else {
            return error.into();
        };
        // Read rules hold in every mode, so a wider one is no way out.
        if self.denied_by_rules(target) {
            return error.into();
        }
        let can_escalate = self.policy().is_some_and(|policy| policy.can_escalate());
        let hinted = can_escalate && mode < SandboxMode::DangerFullAccess;
        Denied { error, mode, hinted }.into()
    }

    /// Why no mode would let the operation through, as the fence or the backend would say it.
    async fn hopeless(
        &self,
        target: &FsTarget,
        guard: Option<&WriteGuard>,
        call: &FsCall,
    ) -> Option<Failure> {
        let path = target.display_path();
        if self.denied_by_rules(target) {
            return Some(FsError::denied_by_read_rules(FsOp::Write, path).into());
        }
        if guard != Some(&WriteGuard::CreateIfAbsent) {
            return None;
        }
        // What cannot be looked at may be written all the same.
        let found = self.fs.stat(target, call).await.ok().flatten()?;
        (found.kind == FsKind::File).then(|| with_remedy(FsError::exists(path).into()))
    }

    fn denied_by_rules(&self, target: &FsTarget) -> bool {
        let Some(rules) = self.fs.read_rules() else { return false };
        let place = self.fs.process_path(target).unwrap_or_else(|| target.display_path().into());
        !rules.permits(&place, false) || !rules.permits_name(Path::new(target.display_path()), false)
    }

    /// Asked for each time: nothing unloads the tools when it goes away, and then the backend's own word counts.
    fn policy(&self) -> Option<Arc<dyn SandboxPolicy>> {
        self.fs.sandbox_mode()?;
        self.ctx.try_service(SANDBOX_POLICY)
    }

    /// Where the file really is, for people.
    fn place(&self, target: &FsTarget) -> String {
        let place = self.fs.process_path(target);
        let bytes = place
            .as_ref()
            .map_or(target.display_path().as_bytes(), |place| place.as_os_str().as_encoded_bytes());
        shown(bytes).into_owned()
    }
}

/// The agent's words for people: they cannot break the line or hide in it.
fn one_line(words: &str) -> String {
    let mut line = String::with_capacity(words.len());
    for character in words.chars() {
        match character {
            '"' | '\'' => line.push(character),
            _ => line.extend(character.escape_debug()),
        }
    }
    line
}

/// The two fields of a call that has both.
fn asked(arguments: &Json) -> Result<Option<(&Json, &str)>, ToolArgsError> {
    Err(ToolArgsError::new(match (arguments.get("sandbox_permissions"), arguments.get("justification")) {
        (None, None) => return Ok(None),
        (Some(_), None) => "invalid escalation: sandbox_permissions requires a justification",
        (None, Some(_)) => {
            "invalid escalation: justification is only valid together with sandbox_permissions"
        }
        (Some(mode), Some(why)) => match why.as_str().filter(|why| !why.trim().is_empty()) {
            Some(why) => return Ok(Some((mode, why))),
            None => "invalid justification: expected a non-empty sentence",
        },
    }))
}

fn unavailable(why: &str) -> ToolArgsError {
    ToolArgsError::new(format!("sandbox_permissions is not available in this composition ({why})"))
}

/// A denial as the model sees it. The backend's own sentence, which names the path, is the source.
#[derive(Debug)]
struct Denied {
    error: FsError,
    mode: SandboxMode,
    hinted: bool,
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[sandbox: file access denied under {} mode]", self.mode.as_str())?;
        if self.hinted {
            f.write_str(
                "\n[sandbox: escalation available — retry this exact operation once with sandbox_permissions (the \
                 narrowest wider mode that suffices) + justification; the approval prompt asks the user]",
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for Denied {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl Coded for Denied {
    fn name(&self) -> &str {
        self.error.name()
    }

    fn code(&self) -> Option<&str> {
        Coded::code(&self.error)
    }
}
