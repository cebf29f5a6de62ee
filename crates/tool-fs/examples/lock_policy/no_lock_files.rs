//! A policy of one's own: nothing whose name ends in `.lock` is written or edited.

use std::path::Path;

use dsh_fs::{EditIntent, FsError, FsErrorCode, FsTarget, WriteIntent};
use dsh_plugin::{Context, Failure, NoConfig, Plugin};

pub(crate) struct NoLockFiles;

impl Plugin for NoLockFiles {
    type Config = NoConfig;

    fn name(&self) -> &'static str {
        "no-lock-files"
    }

    async fn apply(&self, ctx: Context, _: NoConfig) -> Result<(), Failure> {
        ctx.intercept_first::<WriteIntent, _, _>(|intent, next| async move {
            refuse(&intent.target)?;
            next.run(intent).await
        })?;
        ctx.intercept_first::<EditIntent, _, _>(|intent, next| async move {
            refuse(&intent.target)?;
            next.run(intent).await
        })?;
        Ok(())
    }
}

fn refuse(target: &FsTarget) -> Result<(), Failure> {
    if Path::new(target.display_path()).extension().is_some_and(|extension| extension == "lock") {
        let why = "lock files are written by the package manager: run it instead";
        return Err(FsError::new(FsErrorCode::PermissionDenied, why).into());
    }
    Ok(())
}
