//! The lists of listeners that events and waterfalls share.

use std::any::{Any, TypeId};
use std::sync::Arc;

use crate::context::Context;
use crate::effect::{EffectHandle, Undo};
use crate::error::PluginError;
use crate::tree::State;

/// Where a new listener goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    First,
    Last,
}

#[derive(Clone)]
pub(crate) struct Listener {
    /// The id of the effect that it is.
    id: u64,
    place: Place,
    /// That of its plugin, or its own id if the plugin was running already: both count the same moments.
    rank: u64,
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
        let starting = state.is_loading(self.fiber());
        let rank = state.fibers.get(&self.fiber()).filter(|_| starting).map_or(id, |fiber| fiber.rank);
        let listener = Listener { id, place, rank, plugin: self.plugin_name(), call };
        let list = Arc::make_mut(state.listeners.entry(slot).or_default());
        let at = match place {
            // Before whatever was started later, though that may have been registered before.
            Place::Last if starting => {
                list.iter().position(|other| other.place == place && other.rank > rank)
            }
            Place::Last => None,
            Place::First if starting => {
                list.iter().position(|other| other.place != place || other.rank <= rank)
            }
            Place::First => Some(0),
        };
        list.insert(at.unwrap_or(list.len()), listener);
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
