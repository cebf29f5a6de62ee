//! [`ObjectFsPlugin`]: the backend as a plugin.

use std::sync::Arc;

use dsh_fs::FS;
use dsh_plugin::{Context, Failure, Plugin};

use crate::{ObjectFileSystem, ObjectFsConfig};

/// Provides a workspace in an object store as the service [`FS`], once the store has shown that it keeps the conditions of
/// writes. Injects nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectFsPlugin;

impl Plugin for ObjectFsPlugin {
    type Config = ObjectFsConfig;

    fn name(&self) -> &'static str {
        "fs-object"
    }

    async fn apply(&self, ctx: Context, config: ObjectFsConfig) -> Result<(), Failure> {
        let fs = ObjectFileSystem::new(&config)?;
        fs.probe().await?;
        ctx.provide(FS, Arc::new(fs))?;
        Ok(())
    }
}
