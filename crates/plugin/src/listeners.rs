//! The lists of listeners that events and waterfalls share.

use std::any::{Any, TypeId};
use std::sync::Arc;

use crate::context::Context;
use crate::effect::{EffectHandle, Undo};
use crate::error::PluginError;
use crate::tree::State;

/// Where a new listener goes.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    First,
    Last,
}

#[derive(Clone)]
pub(crate) struct Listener {
    /// The id of the effect that it is.
    id: u64,
    pub(crate) plugin: &'static str,
    /// What the slot's event type says it is.
    pub(crate) call: Arc<dyn Any + Send + Sync>,
}

impl Context {
    /// Puts a listener into the list of `E`, as an effect of this context's plugin.
    pub(crate) fn listen<E: 'static>(
        &self,
        label: String,
        place: Place,
        call: Arc<dyn Any + Send + Sync>,
    ) -> Result<EffectHandle, PluginError> {
        let mut state = self.lock();
        state.require_live(self)?;
        let slot = TypeId::of::<E>();
        let id = state.add_effect(self.fiber(), label, Undo::Listener(slot));
        let listener = Listener { id, plugin: self.plugin_name(), call };
        let list = Arc::make_mut(state.listeners.entry(slot).or_default());
        match place {
            Place::First => list.insert(0, listener),
            Place::Last => list.push(listener),
        }
        drop(state);
        Ok(EffectHandle::new(self, id))
    }

    /// The listeners of `E` as they are now; later changes do not touch the snapshot.
    pub(crate) fn listeners_of<E: 'static>(&self) -> Arc<Vec<Listener>> {
        self.lock().listeners.get(&TypeId::of::<E>()).cloned().unwrap_or_default()
    }
}

impl State {
    /// Takes a listener out; the caller drops it after the lock, for it may be the last owner of foreign values.
    pub(crate) fn remove_listener(&mut self, slot: TypeId, id: u64) -> Option<Listener> {
        let list = Arc::make_mut(self.listeners.get_mut(&slot)?);
        let at = list.iter().position(|listener| listener.id == id)?;
        Some(list.remove(at))
    }
}
