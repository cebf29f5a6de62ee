//! Effects: reversible registrations, and how they are undone.

use std::any::TypeId;
use std::fmt;

use crate::context::Context;
use crate::driver::{driven, driven_call, is_driven};
use crate::error::PluginError;
use crate::fiber::{FiberId, PluginState};
use crate::panics::{BoxFuture, catch, catch_poll};
use crate::tree::Tree;

impl Context {
    /// Registers `undo` to be called when this context's plugin is unloaded.
    ///
    /// All that a plugin has registered is undone newest first, one after another. A panic in `undo` is logged and the
    /// rest goes on. `label` names the effect in [`tree`](Context::tree). [`PluginError::InactiveContext`] if the
    /// plugin is not running; then `undo` is dropped without being called.
    pub fn effect(
        &self,
        label: impl Into<String>,
        undo: impl FnOnce() + Send + 'static,
    ) -> Result<EffectHandle, PluginError> {
        self.add(label.into(), Undo::Call(Box::new(undo)))
    }

    /// [`effect`](Context::effect) with an undo that is awaited before the next older effect is undone.
    ///
    /// If whoever drives the tree is cancelled meanwhile, the next [`settle`](Context::settle) goes on awaiting the same
    /// future where it was left.
    pub fn effect_async<F, Fut>(&self, label: impl Into<String>, undo: F) -> Result<EffectHandle, PluginError>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.add(label.into(), Undo::Start(Box::new(move || Box::pin(undo()))))
    }

    fn add(&self, label: String, undo: Undo) -> Result<EffectHandle, PluginError> {
        let mut state = self.lock();
        if let Err(error) = state.require_live(self) {
            // The closure is foreign, and dropped after the lock.
            drop(state);
            return Err(error);
        }
        let id = state.add_effect(self.fiber(), label, undo);
        drop(state);
        Ok(EffectHandle::new(self, id))
    }
}

/// Undoes one registration before its plugin is unloaded. Dropping the handle leaves the registration as it is.
#[derive(Clone)]
pub struct EffectHandle {
    ctx: Context,
    id: u64,
}

impl EffectHandle {
    pub(crate) fn new(ctx: &Context, id: u64) -> Self {
        Self { ctx: ctx.clone(), id }
    }

    /// Undoes the registration now, and waits for it; whether it was still there.
    ///
    /// Cancelled half way, it is finished when the plugin is unloaded. Waits its turn if plugins are being started or unloaded by somebody else at this moment.
    pub async fn undo(&self) -> bool {
        let tree = self.ctx.tree_handle();
        // Inside an `apply` the turn is ours already. A task that an `apply` waits for looks like a stranger, hence
        // the state.
        let loading = || {
            tree.lock().fibers.get(&self.ctx.fiber()).is_some_and(|fiber| fiber.state == PluginState::Loading)
        };
        let _turn = if is_driven(tree) || loading() { None } else { Some(tree.driver.lock().await) };
        let effect = tree.lock().take_effect(self.ctx.fiber(), self.id);
        match effect {
            Some(effect) => {
                effect.run(tree, self.ctx.fiber(), self.ctx.plugin_name()).await;
                true
            }
            None => false,
        }
    }
}

impl fmt::Debug for EffectHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EffectHandle")
            .field("plugin", &self.ctx.name())
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

pub(crate) struct Effect {
    pub(crate) id: u64,
    pub(crate) label: String,
    pub(crate) undo: Undo,
}

pub(crate) enum Undo {
    /// A listener of this event type, whose id is the effect's.
    Listener(TypeId),
    Service(&'static str),
    /// Unloaded by the driver, step by step; there is nothing left to do when this is reached.
    Child(FiberId),
    Call(Box<dyn FnOnce() + Send>),
    Start(Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>),
    /// Begun by a driver that was cancelled.
    Begun(BoxFuture<'static, ()>),
}

impl Effect {
    /// Undoes the effect, which has been taken out of its fiber; if cancelled it is put back, begun.
    pub(crate) async fn run(self, tree: &Tree, fiber: FiberId, plugin: &'static str) {
        let Self { id, label, undo } = self;
        let outcome = match undo {
            Undo::Child(_) => Ok(()),
            Undo::Listener(slot) => {
                let gone = tree.lock().remove_listener(slot, id);
                catch(move || drop(gone))
            }
            Undo::Service(key) => {
                let gone = tree.lock().services.remove(key);
                catch(move || drop(gone))
            }
            Undo::Call(call) => driven_call(tree, || catch(call)),
            Undo::Start(start) => match driven_call(tree, || catch(start)) {
                Ok(future) => InFlight::new(tree, fiber, id, &label, future).finish().await,
                Err(message) => Err(message),
            },
            Undo::Begun(future) => InFlight::new(tree, fiber, id, &label, future).finish().await,
        };
        if let Err(message) = outcome {
            tracing::error!(plugin, effect = label, "undoing an effect panicked: {message}");
        }
    }
}

/// An undo that is being awaited. Dropped before its end, it puts itself back as the fiber's newest effect.
struct InFlight<'t> {
    tree: &'t Tree,
    fiber: FiberId,
    effect: Option<(u64, String, BoxFuture<'static, ()>)>,
}

impl<'t> InFlight<'t> {
    fn new(tree: &'t Tree, fiber: FiberId, id: u64, label: &str, future: BoxFuture<'static, ()>) -> Self {
        Self { tree, fiber, effect: Some((id, label.to_owned(), future)) }
    }

    async fn finish(mut self) -> Result<(), String> {
        let outcome = match &mut self.effect {
            Some((_, _, future)) => driven(self.tree, catch_poll(future)).await,
            None => Ok(()),
        };
        let done = self.effect.take();
        outcome.and(catch(move || drop(done)))
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if let Some((id, label, future)) = self.effect.take() {
            let effect = Effect { id, label, undo: Undo::Begun(future) };
            if let Some(fiber) = self.tree.lock().fibers.get_mut(&self.fiber) {
                fiber.effects.push(effect);
            }
        }
    }
}
