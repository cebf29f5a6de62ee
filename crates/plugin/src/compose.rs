//! Mounting the rows of a composition, all or none.

use crate::composition_error::CompositionError;
use crate::context::Context;
use crate::registry::Configured;
use crate::rows::{MountedRows, turn};

impl Context {
    /// Mounts rows one after another, each once the one before has started or is waiting for a service.
    ///
    /// All or nothing: if a row or a plugin below it fails to start, or a row still waits for a service when all have
    /// been mounted, everything mounted by this call is unmounted in reverse order, and the error names the row and
    /// its place. If the returned future is dropped half way, the next [`settle`](Context::settle) unmounts it.
    ///
    /// What comes back exchanges the rows for others later; dropping it changes nothing.
    pub async fn compose(&self, rows: Vec<Configured>) -> Result<MountedRows, CompositionError> {
        let _turn = turn(self, "compose").await?;
        let mut unfinished = Unfinished(MountedRows::none(self));
        match unfinished.0.change_to(rows).await {
            Ok(_) => {
                let none = MountedRows::none(self);
                Ok(std::mem::replace(&mut unfinished.0, none))
            }
            Err(error) => {
                unfinished.0.unmount().await;
                Err(error)
            }
        }
    }
}

/// Dropped while it holds rows, it asks for them to be unmounted.
struct Unfinished(MountedRows);

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.0.doom_all();
    }
}
