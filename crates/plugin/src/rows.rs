//! The mounted rows of a composition, and how they become other rows while the tree runs.

use std::fmt;
use std::sync::Arc;

use tokio::sync::MutexGuard;

use crate::composition_error::{CompositionError, CompositionErrorKind, Place};
use crate::context::{Context, Mounted};
use crate::driver::log;
use crate::error::PluginError;
use crate::fiber::{FiberId, PluginState};
use crate::registry::Configured;
use crate::row_plan::{Plan, plan};
use crate::tree::{State, Tree};

/// The rows that [`compose`](Context::compose) has mounted. Dropping it changes nothing.
pub struct MountedRows {
    ctx: Context,
    rows: Vec<Row>,
}

struct Row {
    configured: Configured,
    place: Place,
    mounted: Mounted,
}

/// What a [`reload`](MountedRows::reload) has done, by the names that the compositions give the rows, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowChanges {
    /// Rows that were not there before.
    pub added: Vec<String>,
    /// Rows that were started anew: because they changed, or because of a row that was added before them.
    pub restarted: Vec<String>,
    /// Rows that are gone.
    pub removed: Vec<String>,
}

impl RowChanges {
    /// Whether all rows were as they should be already.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl MountedRows {
    /// Exchanges the rows for `rows`, so that the tree is what a fresh start with these would have made of it; what need
    /// not be touched keeps running.
    ///
    /// A row is known again by its `id`, or else by its name (the second of one name as the second). One that is as it
    /// was keeps running, unless a service that it injects comes from a row that does not. One with other settings, or
    /// another plugin in its place, is unloaded and started anew where it stands: its listeners are asked when they were
    /// asked before. Where a row is added, or moved, the rows behind it are started anew too, because the order of the
    /// file is the order in which listeners are asked.
    ///
    /// All or nothing: if a row fails to start or waits for a service that nobody provides, the rows that were there are
    /// brought back (what had to be unloaded starts anew) and the error says which row and why. Should that fail too, it
    /// is logged, and what runs is seen in [`tree`](Context::tree).
    ///
    /// Nothing here waits for work that is under way in a plugin; whoever calls sees to that. If the returned future is
    /// dropped half way, the rows are as far as it came, and the next reload goes on from there. Called from inside an
    /// `apply` or an undo function it is [`Refused`](CompositionErrorKind::Refused).
    pub async fn reload(&mut self, rows: Vec<Configured>) -> Result<RowChanges, CompositionError> {
        let ctx = self.ctx.clone();
        let _turn = turn(&ctx, "reload").await?;
        let before: Vec<Configured> = self.rows.iter().map(|row| row.configured.clone()).collect();
        match self.change_to(rows).await {
            Ok(changes) => Ok(changes),
            Err(error) => {
                if let Err(worse) = self.change_to(before).await {
                    tracing::error!("the rows that were there could not be brought back: {worse}");
                }
                Err(error)
            }
        }
    }

    pub(crate) fn none(ctx: &Context) -> Self {
        Self { ctx: ctx.clone(), rows: Vec::new() }
    }

    /// [`reload`](Self::reload) without a way back. The caller has the turn.
    pub(crate) async fn change_to(&mut self, rows: Vec<Configured>) -> Result<RowChanges, CompositionError> {
        let tree = Arc::clone(self.ctx.tree_handle());
        let before: Vec<&Configured> = self.rows.iter().map(|row| &row.configured).collect();
        let Plan { stays, changes } = plan(&before, &rows);
        self.doom_all_but(&stays);
        let mut old = std::mem::take(&mut self.rows).into_iter().enumerate();
        let mut rows = rows.into_iter().enumerate();
        for (stays, (index, configured)) in stays.into_iter().zip(rows.by_ref()) {
            let Some((_, row)) = old.find(|(old, _)| *old == stays) else { break };
            self.rows.push(row.becomes(configured, index, &tree));
        }
        drop(old);
        let failures = tree.drive().await;
        self.check_failures()?;
        log(failures);
        for (index, configured) in rows {
            let place = configured.place_at(index);
            let mounted =
                self.ctx.mount_row(configured.clone()).map_err(|error| failed(place.clone(), error))?;
            self.rows.push(Row { configured, place, mounted });
            let failures = tree.drive().await;
            self.check_failures()?;
            log(failures);
        }
        self.check_waiting()?;
        Ok(changes)
    }

    pub(crate) async fn unmount(&mut self) {
        while let Some(row) = self.rows.last() {
            let tree = row.mounted.tree();
            tree.doom(row.mounted.fiber());
            log(tree.drive().await);
            self.rows.pop();
        }
    }

    pub(crate) fn doom_all(&self) {
        self.doom_all_but(&[]);
    }

    fn doom_all_but(&self, stays: &[usize]) {
        for (index, row) in self.rows.iter().enumerate() {
            if !stays.contains(&index) {
                row.mounted.tree().doom(row.mounted.fiber());
            }
        }
    }

    fn check_failures(&self) -> Result<(), CompositionError> {
        let state = self.ctx.lock();
        let failure =
            self.rows.iter().find_map(|row| Some((&row.place, state.failure_below(row.mounted.fiber())?)));
        drop(state);
        failure.map_or(Ok(()), |(place, error)| Err(failed(place.clone(), error)))
    }

    fn check_waiting(&self) -> Result<(), CompositionError> {
        let mut waiting = self.rows.iter().filter(|row| row.mounted.state() == PluginState::Pending);
        let Some(first) = waiting.next() else { return Ok(()) };
        let mut message = waits(&first.mounted);
        for row in waiting {
            if let Some(other) = &row.place.row {
                message = format!("{message}; {other} {}", waits(&row.mounted));
            }
        }
        Err(CompositionError::new(CompositionErrorKind::RowWaiting, first.place.clone(), message))
    }
}

impl fmt::Debug for MountedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rows.iter().map(|row| &row.mounted)).finish()
    }
}

impl Row {
    /// The row as it is to be from now on; where that is another plugin or other settings, the driver starts it anew.
    fn becomes(self, configured: Configured, index: usize, tree: &Arc<Tree>) -> Self {
        let place = configured.place_at(index);
        if self.configured.same_as(&configured) && self.mounted.failure().is_none() {
            // Not the new one's plugin: the one that runs.
            return Self { place, ..self };
        }
        let mounted = tree.replace(self.mounted.fiber(), configured.plugin());
        Self { configured, place, mounted }
    }
}

/// Waits until this caller may drive.
pub(crate) async fn turn<'c>(
    ctx: &'c Context,
    call: &'static str,
) -> Result<MutexGuard<'c, ()>, CompositionError> {
    ctx.turn(call).await.map_err(|error| {
        CompositionError::new(CompositionErrorKind::Refused, Place::default(), error.to_string())
            .caused_by(error)
    })
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
