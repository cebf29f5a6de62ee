//! Mounting the rows of a composition, all or none.

use std::sync::Arc;

use crate::composition_error::{CompositionError, CompositionErrorKind, Place};
use crate::context::{Context, Mounted};
use crate::driver::log;
use crate::error::PluginError;
use crate::fiber::{FiberId, PluginState};
use crate::registry::Configured;
use crate::tree::{State, Tree};

impl Context {
    /// Mounts rows one after another, each once the one before has started or is waiting for a service.
    ///
    /// All or nothing: if a row or a plugin below it fails to start, or a row still waits for a service when all have
    /// been mounted, everything mounted by this call is unmounted in reverse order, and the error names the row and
    /// its place. If the returned future is dropped half way, the next [`settle`](Context::settle) unmounts it.
    pub async fn compose(&self, rows: Vec<Configured>) -> Result<(), CompositionError> {
        let tree = self.tree_handle();
        let _turn = self.turn("compose").await.map_err(|error| {
            CompositionError::new(CompositionErrorKind::Refused, Place::default(), error.to_string())
                .caused_by(error)
        })?;
        let mut mounted = Rows { tree, rows: Vec::new() };
        match self.mount_all(rows, &mut mounted).await {
            Ok(()) => {
                mounted.rows.clear();
                Ok(())
            }
            Err(error) => {
                mounted.unmount().await;
                Err(error)
            }
        }
    }

    async fn mount_all(&self, rows: Vec<Configured>, mounted: &mut Rows<'_>) -> Result<(), CompositionError> {
        for (index, row) in rows.into_iter().enumerate() {
            let place = row.place_at(index);
            let row = self.mount_row(row).map_err(|error| failed(place.clone(), error))?;
            mounted.rows.push((place, row));
            let failures = mounted.tree.drive().await;
            mounted.check_failures()?;
            log(failures);
        }
        mounted.check_waiting()
    }
}

/// The rows mounted so far. Dropped while it holds some, it asks for them to be unmounted.
struct Rows<'t> {
    tree: &'t Arc<Tree>,
    rows: Vec<(Place, Mounted)>,
}

impl Rows<'_> {
    fn check_failures(&self) -> Result<(), CompositionError> {
        let state = self.tree.lock();
        let failure =
            self.rows.iter().find_map(|(place, row)| Some((place, state.failure_below(row.fiber())?)));
        drop(state);
        failure.map_or(Ok(()), |(place, error)| Err(failed(place.clone(), error)))
    }

    fn check_waiting(&self) -> Result<(), CompositionError> {
        let mut waiting = self.rows.iter().filter(|(_, row)| row.state() == PluginState::Pending);
        let Some((place, row)) = waiting.next() else { return Ok(()) };
        let mut message = waits(row);
        for (place, row) in waiting {
            if let Some(other) = &place.row {
                message = format!("{message}; {other} {}", waits(row));
            }
        }
        Err(CompositionError::new(CompositionErrorKind::RowWaiting, place.clone(), message))
    }

    async fn unmount(&mut self) {
        while let Some((_, row)) = self.rows.last() {
            self.tree.doom(row.fiber());
            log(self.tree.drive().await);
            self.rows.pop();
        }
    }
}

impl Drop for Rows<'_> {
    fn drop(&mut self) {
        for (_, row) in &self.rows {
            self.tree.doom(row.fiber());
        }
    }
}

impl State {
    /// The failure of a fiber or of the first one below it that has one.
    fn failure_below(&self, id: FiberId) -> Option<PluginError> {
        let below = self.fibers.iter().filter(|(_, fiber)| fiber.parent == Some(id));
        self.failure(id)
            .or_else(|| below.map(|(child, _)| *child).find_map(|child| self.failure_below(child)))
    }
}

fn failed(place: Place, error: PluginError) -> CompositionError {
    CompositionError::new(CompositionErrorKind::RowFailed, place, error.to_string()).caused_by(error)
}

fn waits(row: &Mounted) -> String {
    let missing: Vec<String> = row.missing().iter().map(|key| format!("\"{key}\"")).collect();
    format!("waits for a service that no plugin provides: {}", missing.join(", "))
}
