//! The state that all contexts of one tree share, and what can be read off it.
//!
//! Invariant: no foreign code (plugins, listeners, undo functions, destructors of what they hold) runs while the
//! state is locked. What is taken out of the state is dropped by whoever took it, after the lock.

use std::any::TypeId;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::context::Context;
use crate::effect::{Effect, Undo};
use crate::error::PluginError;
use crate::fiber::{Fiber, FiberId, PluginState};
use crate::listeners::Listener;
use crate::service::Provision;

pub(crate) struct Tree {
    // A std mutex: held for a few steps at a time and never across an await.
    state: Mutex<State>,
    /// Held by whoever starts and unloads plugins. Asynchronous, because it is held while plugins start, and fair.
    pub(crate) driver: tokio::sync::Mutex<()>,
}

impl Tree {
    pub(crate) fn new() -> (Self, FiberId) {
        let mut state = State::default();
        let root = state.next_id();
        state.fibers.insert(root, Fiber::root());
        (Self { state: Mutex::new(state), driver: tokio::sync::Mutex::new(()) }, root)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing foreign runs under the lock, so a poisoned state is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
pub(crate) struct State {
    last_id: u64,
    /// Ordered by id, which is mount order.
    pub(crate) fibers: BTreeMap<FiberId, Fiber>,
    pub(crate) services: HashMap<&'static str, Provision>,
    /// By event type. Shared, so that a dispatch takes its snapshot without copying.
    pub(crate) listeners: HashMap<TypeId, Arc<Vec<Listener>>>,
}

impl State {
    pub(crate) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Fails unless `ctx` belongs to the present run of its plugin and that run takes registrations.
    pub(crate) fn require_live(&self, ctx: &Context) -> Result<(), PluginError> {
        match self.fibers.get(&ctx.fiber()) {
            Some(fiber) if fiber.is_running() && fiber.life == ctx.life() => Ok(()),
            _ => Err(PluginError::InactiveContext { plugin: ctx.plugin_name() }),
        }
    }

    /// Fails unless `ctx` belongs to the present run of its plugin; one that is being unloaded can still look around.
    pub(crate) fn require_readable(&self, ctx: &Context) -> Result<(), PluginError> {
        match self.fibers.get(&ctx.fiber()) {
            Some(fiber)
                if (fiber.is_running() || fiber.state == PluginState::Unloading)
                    && fiber.life == ctx.life() =>
            {
                Ok(())
            }
            _ => Err(PluginError::InactiveContext { plugin: ctx.plugin_name() }),
        }
    }

    /// Adds an effect to a fiber that has been found live; its id.
    pub(crate) fn add_effect(&mut self, fiber: FiberId, label: String, undo: Undo) -> u64 {
        let id = self.next_id();
        if let Some(fiber) = self.fibers.get_mut(&fiber) {
            fiber.effects.push(Effect { id, label, undo });
        }
        id
    }

    /// The fiber and those above it, up to the root.
    pub(crate) fn lineage(&self, fiber: FiberId) -> impl Iterator<Item = (FiberId, &Fiber)> {
        let mut next = Some(fiber);
        std::iter::from_fn(move || {
            let id = next?;
            let fiber = self.fibers.get(&id)?;
            next = fiber.parent;
            Some((id, fiber))
        })
    }

    /// The service as `fiber` sees it: an active plugin's, its own, or one that its run (or that of a plugin above)
    /// was started with and whose provider waits for it to unload.
    pub(crate) fn visible(&self, fiber: FiberId, key: &str) -> Option<&Provision> {
        let provision = self.services.get(key)?;
        let seen = self.is_active(provision.provider)
            || provision.provider == fiber
            || self.lineage(fiber).any(|(_, fiber)| fiber.uses.contains(&provision.id));
        seen.then_some(provision)
    }

    /// Whether `fiber` or one above it injects `key`. The root may read anything, for itself only.
    pub(crate) fn injects(&self, fiber: FiberId, key: &str) -> bool {
        self.fibers.get(&fiber).is_some_and(|fiber| fiber.parent.is_none())
            || self.lineage(fiber).any(|(_, fiber)| fiber.inject.contains(&key))
    }

    /// The provisions a fiber would be started with now, in inject order; `None` if one is missing.
    pub(crate) fn resolve(&self, fiber: &Fiber) -> Option<Vec<u64>> {
        fiber.inject.iter().map(|key| self.active_provision(key)).collect()
    }

    /// The injected services that no active plugin provides.
    pub(crate) fn missing(&self, fiber: FiberId) -> Vec<&'static str> {
        let inject = self.fibers.get(&fiber).map_or(&[][..], |fiber| fiber.inject);
        inject.iter().copied().filter(|key| self.active_provision(key).is_none()).collect()
    }

    pub(crate) fn failure(&self, fiber: FiberId) -> Option<PluginError> {
        let fiber = self.fibers.get(&fiber)?;
        fiber.failure.as_ref().map(|(error, _)| error.clone())
    }

    pub(crate) fn is_active(&self, fiber: FiberId) -> bool {
        self.fibers.get(&fiber).is_some_and(|fiber| fiber.state == PluginState::Active)
    }

    fn active_provision(&self, key: &str) -> Option<u64> {
        self.services
            .get(key)
            .filter(|provision| self.is_active(provision.provider))
            .map(|provision| provision.id)
    }
}
