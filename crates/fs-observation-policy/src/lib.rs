//! Read before edit, as a plugin: what a session has not seen it cannot overwrite.
//!
//! The policy listens to the three `fs/*` events and nothing else. It does no IO: it remembers, per session and file,
//! what the tools last saw or wrote, and turns that into the guard under which the backend performs the next
//! mutation. The backend does the comparison, atomically. Without this plugin the tools work unguarded.
//!
//! | event | unseen | seen absent | seen in version v | no session |
//! |---|---|---|---|---|
//! | `fs/write-intent` → | create if absent | create if absent | replace if v | create if absent |
//! | `fs/edit-intent` → | `FS_NOT_OBSERVED` | `FS_NOT_FOUND` | v | `FS_NOT_OBSERVED` |
//! | `fs/observed` | remembered | remembered | remembered | ignored |
//!
//! Mount it after the backend and before anything else that could decide: the first decider of a slot wins.

mod observations;

use std::sync::Arc;

use dsh_fs::{
    EditIntent, FsError, FsErrorCode, FsObservation, FsOp, FsVersion, Intent, Observed, WriteGuard,
    WriteIntent,
};
use dsh_plugin::{Context, Failure, NoConfig, Plugin};

use crate::observations::Observations;

/// The policy as a plugin. It has no configuration, needs no service and provides none.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObservationPolicyPlugin;

impl Plugin for ObservationPolicyPlugin {
    type Config = NoConfig;

    fn name(&self) -> &'static str {
        "fs-observation-policy"
    }

    async fn apply(&self, ctx: Context, _config: NoConfig) -> Result<(), Failure> {
        let observations = Arc::new(Observations::default());
        // Registered first, so undone last: whatever a late listener still records dies with the plugin.
        let state = observations.clone();
        ctx.effect("observations", move || state.forget_all())?;

        let state = observations.clone();
        ctx.on::<Observed>(move |seen| {
            state.record(seen);
            Ok(())
        })?;
        let state = observations.clone();
        ctx.intercept::<WriteIntent, _, _>(move |intent, _next| {
            let guard = write_guard(state.of(&intent));
            async move { Ok(Some(guard)) }
        })?;
        ctx.intercept::<EditIntent, _, _>(move |intent, _next| {
            let decision = edit_guard(observations.of(&intent), &intent);
            async move { decision.map(Some).map_err(Into::into) }
        })?;
        Ok(())
    }
}

fn write_guard(seen: Option<FsObservation>) -> WriteGuard {
    match seen {
        Some(FsObservation::Present(version)) => WriteGuard::ReplaceIfVersion(version),
        Some(FsObservation::Absent) | None => WriteGuard::CreateIfAbsent,
    }
}

fn edit_guard(seen: Option<FsObservation>, intent: &Intent) -> Result<FsVersion, FsError> {
    let path = intent.target.display_path();
    match seen {
        Some(FsObservation::Present(version)) => Ok(version),
        Some(FsObservation::Absent) => Err(FsError::not_found(FsOp::Edit, path)),
        None => {
            Err(FsError::new(FsErrorCode::NotObserved, format!("edit requires reading \"{path}\" first")))
        }
    }
}
