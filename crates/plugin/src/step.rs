//! What a driver does next: decided from the state alone.
//!
//! Order of unloading: what must go stops being visible at once, so that all who use it must go too; then whatever
//! started last goes first. A plugin starts after those whose services it uses and after the one that mounted it, so
//! users are unloaded before their providers. What a plugin mounted is unloaded where it stands among its effects.

use std::any::Any;
use std::sync::Arc;

use crate::effect::{Effect, Undo};
use crate::error::PluginError;
use crate::fiber::{Fiber, FiberId, PluginState};
use crate::plugin;
use crate::tree::State;

pub(crate) enum Step {
    Start(Start),
    /// Undo this effect, which has been taken out of its fiber.
    Undo {
        fiber: FiberId,
        plugin: &'static str,
        effect: Effect,
    },
}

pub(crate) struct Start {
    pub(crate) fiber: FiberId,
    pub(crate) life: u64,
    pub(crate) name: &'static str,
    pub(crate) plugin: Arc<dyn plugin::Start>,
}

/// What a step took out of the state: foreign values, to be dropped after the lock.
pub(crate) type Gone = Vec<Box<dyn Any + Send>>;

impl State {
    /// The next step; `None` when nothing can change.
    pub(crate) fn next_step(&mut self, gone: &mut Gone) -> Option<Step> {
        loop {
            self.begin_unloads();
            let Some(fiber) = self.next_to_unload() else { break };
            if let Some(step) = self.unload_further(fiber, gone) {
                return Some(step);
            }
        }
        self.next_to_start().and_then(|(fiber, uses)| self.begin_start(fiber, uses, gone))
    }

    /// Records how the start of a fiber ended.
    pub(crate) fn started(&mut self, fiber: FiberId, failure: Option<PluginError>) {
        let Some(fiber) = self.fibers.get_mut(&fiber) else { return };
        match failure {
            None => fiber.state = PluginState::Active,
            Some(error) => {
                fiber.failure = Some((error, fiber.uses.clone()));
                fiber.state = PluginState::Unloading;
            }
        }
    }

    /// Whether the fiber or one above it is being started or unloaded.
    pub(crate) fn in_transition(&self, fiber: FiberId) -> bool {
        self.lineage(fiber)
            .any(|(_, fiber)| matches!(fiber.state, PluginState::Loading | PluginState::Unloading))
    }

    /// Whether the fiber is being started.
    pub(crate) fn is_loading(&self, fiber: FiberId) -> bool {
        self.fibers.get(&fiber).is_some_and(|fiber| fiber.state == PluginState::Loading)
    }

    /// Takes one effect out of a fiber.
    pub(crate) fn take_effect(&mut self, fiber: FiberId, effect: u64) -> Option<Effect> {
        let effects = &mut self.fibers.get_mut(&fiber)?.effects;
        let at = effects.iter().position(|candidate| candidate.id == effect)?;
        Some(effects.remove(at))
    }

    /// Marks all that must go. That hides their services, so that more must go.
    fn begin_unloads(&mut self) {
        loop {
            let going: Vec<FiberId> =
                self.fibers.iter().filter(|(_, fiber)| self.must_go(fiber)).map(|(id, _)| *id).collect();
            if going.is_empty() {
                return;
            }
            for id in going {
                if let Some(fiber) = self.fibers.get_mut(&id) {
                    fiber.state = PluginState::Unloading;
                    fiber.replaced = false;
                }
            }
        }
    }

    fn must_go(&self, fiber: &Fiber) -> bool {
        match fiber.state {
            PluginState::Pending | PluginState::Failed => fiber.doomed,
            // No driver is starting it, or it would not ask for a step: left by one that was cancelled.
            PluginState::Loading => true,
            // A service that was replaced has been gone in between, and that was a step.
            PluginState::Active => fiber.doomed || fiber.replaced || self.resolve(fiber).is_none(),
            PluginState::Unloading | PluginState::Disposed => false,
        }
    }

    /// The unloading fiber that started last, apart from those whose newest effect is a child that still exists: that is
    /// doomed and comes first.
    fn next_to_unload(&mut self) -> Option<FiberId> {
        let mut unloading: Vec<(u64, FiberId)> = self
            .fibers
            .iter()
            .filter(|(_, fiber)| fiber.state == PluginState::Unloading)
            .map(|(id, fiber)| (fiber.started, *id))
            .collect();
        unloading.sort_unstable();
        for (_, id) in unloading.into_iter().rev() {
            let Some(child) = self.newest_child(id) else { return Some(id) };
            let child = self.fibers.get_mut(&child)?;
            if !child.doomed {
                child.doomed = true;
                self.begin_unloads();
                return self.next_to_unload();
            }
        }
        None
    }

    /// The child that is a fiber's newest effect, if it still exists.
    fn newest_child(&self, fiber: FiberId) -> Option<FiberId> {
        match self.fibers.get(&fiber)?.effects.last()?.undo {
            Undo::Child(child) if self.fibers.contains_key(&child) => Some(child),
            _ => None,
        }
    }

    /// Takes the newest effect out of an unloading fiber, or, when there is none left, ends the unloading.
    fn unload_further(&mut self, id: FiberId, gone: &mut Gone) -> Option<Step> {
        let fiber = self.fibers.get_mut(&id)?;
        if let Some(effect) = fiber.effects.pop() {
            return Some(Step::Undo { fiber: id, plugin: fiber.name, effect });
        }
        if !fiber.doomed {
            fiber.state = if fiber.failure.is_some() { PluginState::Failed } else { PluginState::Pending };
            return None;
        }
        fiber.state = PluginState::Disposed;
        if let Some(parent) = fiber.parent {
            if let Some(parent) = self.fibers.get_mut(&parent) {
                parent.effects.retain(|effect| !matches!(effect.undo, Undo::Child(child) if child == id));
            }
            if let Some(fiber) = self.fibers.remove(&id) {
                gone.push(Box::new(fiber));
            }
        }
        None
    }

    /// The first fiber in mount order that can start, and the provisions it starts with.
    ///
    /// Asked when there is nothing left to unload; then every fiber has a parent that is active.
    fn next_to_start(&self) -> Option<(FiberId, Vec<u64>)> {
        self.fibers.iter().find_map(|(id, fiber)| {
            let uses = self.resolve(fiber)?;
            let ready = match fiber.state {
                PluginState::Pending => true,
                PluginState::Failed => fiber.failure.as_ref().is_none_or(|(_, tried)| *tried != uses),
                _ => false,
            };
            ready.then_some((*id, uses))
        })
    }

    fn begin_start(&mut self, id: FiberId, uses: Vec<u64>, gone: &mut Gone) -> Option<Step> {
        let started = self.next_id();
        let parent = self.fibers.get(&id)?.parent?;
        let above = self.fibers.get(&parent).map_or(0, |parent| parent.rank);
        let fiber = self.fibers.get_mut(&id)?;
        if fiber.rank == 0 {
            fiber.rank = if above == 0 { started } else { above };
        }
        let plugin = Arc::clone(fiber.plugin.as_ref()?);
        fiber.state = PluginState::Loading;
        fiber.life += 1;
        fiber.started = started;
        fiber.uses = uses;
        if let Some(failure) = fiber.failure.take() {
            gone.push(Box::new(failure));
        }
        Some(Step::Start(Start { fiber: id, life: fiber.life, name: fiber.name, plugin }))
    }
}
