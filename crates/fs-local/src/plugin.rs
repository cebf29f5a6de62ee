//! [`LocalFsPlugin`]: the backend as a plugin.

use std::sync::Arc;

use dsh_fs::FS;
use dsh_plugin::{Context, Failure, Plugin};

use crate::{LocalFileSystem, LocalFsConfig};

/// Provides the host disk as the service [`FS`]. Injects nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalFsPlugin;

impl Plugin for LocalFsPlugin {
    type Config = LocalFsConfig;

    fn name(&self) -> &'static str {
        "fs-local"
    }

    async fn apply(&self, ctx: Context, config: LocalFsConfig) -> Result<(), Failure> {
        let fs = LocalFileSystem::new(config)?;
        ctx.provide(FS, Arc::new(fs))?;
        Ok(())
    }
}
