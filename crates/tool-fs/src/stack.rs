//! The three steps that every tool takes beside its own work: resolve the path, ask for a guard, tell what is known.

use std::sync::Arc;

use dsh_fs::shown_name::is_marked;
use dsh_fs::{
    EditIntent, FS, FileSystem, FsCall, FsError, FsErrorCode, FsObservation, FsTarget, FsVersion, Intent,
    Observation, Observed, WriteGuard, WriteIntent,
};
use dsh_harness::{Execution, Meta, ToolArgsError, ToolError};
use dsh_plugin::{Context, Failure};
use serde_json::json;

use crate::actor::{ToolActor, cwd};
use crate::config::ToolFsConfig;
use crate::escalation::Sandbox;
use crate::hints::{Hints, Refused};
use crate::remedy::with_remedy;
use crate::seen_blocks::BlockScan;

/// Said where a guard is required and there is nobody to give one.
pub(crate) const NO_POLICY: &str = "mutation requires a guard, but no policy answered";

/// What the tools stand on: the backend, and the context through which policies are asked and told.
#[derive(Clone)]
pub(crate) struct Stack {
    ctx: Context,
    pub(crate) fs: Arc<dyn FileSystem>,
    pub(crate) sandbox: Sandbox,
    require_guard: bool,
    /// With `editHints`.
    hints: Option<Arc<Hints>>,
}

impl Stack {
    pub(crate) fn new(ctx: Context, config: &ToolFsConfig) -> Result<Self, Failure> {
        let fs = ctx.service(FS)?;
        let sandbox = Sandbox::new(&ctx, &fs)?;
        let hints = config.edit_hints.then(|| Arc::new(Hints::new(fs.clone(), config.read_limit.get())));
        Ok(Self { ctx, fs, sandbox, require_guard: config.require_guard, hints })
    }

    /// What came of a step; a refusal is told with a hint, where there are hints and there is one.
    pub(crate) async fn hinted<T, E: Into<Failure>>(
        &self,
        result: Result<T, E>,
        refused: Refused<'_>,
    ) -> Result<T, Failure> {
        let failure = match result {
            Ok(done) => return Ok(done),
            Err(failure) => failure.into(),
        };
        Err(match &self.hints {
            Some(hints) => hints.told(failure, refused).await,
            None => failure,
        })
    }

    /// Takes note of a text while it is read, where there are hints.
    pub(crate) fn block_scan(&self) -> Option<BlockScan> {
        self.hints.as_ref().map(|_| BlockScan::default())
    }

    /// A session was shown the file that `blocks` passed through.
    pub(crate) fn shown(&self, target: &FsTarget, blocks: Option<BlockScan>, exec: &Execution) {
        if let (Some(hints), Some(blocks)) = (&self.hints, blocks) {
            hints.shown(target, blocks, exec);
        }
    }

    /// A session has left the file with this text.
    pub(crate) fn wrote(&self, target: &FsTarget, after: &str, exec: &Execution) {
        if let Some(hints) = &self.hints {
            hints.wrote(target, after, exec);
        }
    }

    /// What the path means for this caller. The path is passed on untrimmed. A name as `glob` and `grep` show one that is
    /// not plain text means nothing.
    pub(crate) async fn resolve(
        &self,
        path: &str,
        exec: &Execution,
        call: &FsCall,
    ) -> Result<FsTarget, FsError> {
        if is_marked(path) {
            let why = "the name is not plain text and was shown escaped; no file can be opened by it";
            return Err(FsError::new(FsErrorCode::NotFound, format!("cannot resolve \"{path}\": {why}")));
        }
        self.fs.resolve(path, cwd(exec), call).await
    }

    /// The guard for a whole-file write; `None` where nobody decides. A decider's refusal passes as it is.
    pub(crate) async fn write_guard(
        &self,
        target: &FsTarget,
        exec: &Arc<Execution>,
    ) -> Result<Option<WriteGuard>, Failure> {
        let guard = self.ctx.waterfall::<WriteIntent, _, _>(intent(target, exec), async |_| Ok(None)).await?;
        self.needed(guard)
    }

    /// The version that a file to be edited must still have; `None` where nobody decides. A decider's refusal
    /// carries its remedy.
    pub(crate) async fn edit_guard(
        &self,
        target: &FsTarget,
        exec: &Arc<Execution>,
    ) -> Result<Option<FsVersion>, Failure> {
        let guard = self.ctx.waterfall::<EditIntent, _, _>(intent(target, exec), async |_| Ok(None)).await;
        self.needed(guard.map_err(with_remedy)?)
    }

    /// Tells what a read found.
    pub(crate) fn observed(
        &self,
        target: &FsTarget,
        observation: FsObservation,
        exec: &Arc<Execution>,
    ) -> Result<(), Failure> {
        self.ctx.emit::<Observed>(&Observation {
            target: target.clone(),
            observation,
            actor: Some(Arc::new(ToolActor(exec.clone()))),
        })
    }

    /// Tells what a mutation left behind. When a listener fails the call fails, but the change is made: the error
    /// result says so, and the log too.
    pub(crate) fn committed(
        &self,
        target: &FsTarget,
        version: FsVersion,
        durable: bool,
        exec: &Arc<Execution>,
    ) -> Result<(), ToolError> {
        self.observed(target, FsObservation::Present(version), exec).map_err(|failure| {
            let path = target.display_path();
            tracing::error!(path, %failure, "the change is committed, but a listener of fs/observed failed");
            ToolError::from(failure).with_meta(committed(path, durable))
        })
    }

    fn needed<G>(&self, guard: Option<G>) -> Result<Option<G>, Failure> {
        if guard.is_none() && self.require_guard {
            return Err(FsError::new(FsErrorCode::NotObserved, NO_POLICY).into());
        }
        Ok(guard)
    }
}

/// What an error result says of a change that is made all the same.
pub(crate) fn committed(path: &str, durable: bool) -> Meta {
    let mut said = json!({ "committed": true, "path": path });
    if !durable {
        said["durable"] = false.into();
    }
    said.into()
}

/// Refuses a path of nothing but white space, which no backend need see.
pub(crate) fn non_blank(file_path: &str) -> Result<(), ToolArgsError> {
    if file_path.trim().is_empty() {
        return Err(ToolArgsError::new("file_path must be a non-empty string"));
    }
    Ok(())
}

fn intent(target: &FsTarget, exec: &Arc<Execution>) -> Intent {
    Intent { target: target.clone(), actor: Some(Arc::new(ToolActor(exec.clone()))) }
}
