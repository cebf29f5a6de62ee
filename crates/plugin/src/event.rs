//! Events: told to every listener, in order.

use std::sync::Arc;

use crate::coded::Failure;
use crate::context::Context;
use crate::effect::EffectHandle;
use crate::error::PluginError;
use crate::listeners::Place;
use crate::panics::catch;

/// An event that listeners are told of. The type is the event's identity; it has no values.
///
/// ```
/// use dsh_plugin::Event;
///
/// /// A file was saved. Emitted with its path.
/// pub struct Saved;
/// impl Event for Saved {
///     const NAME: &'static str = "editor/saved";
///     type Args = str;
/// }
/// ```
pub trait Event: 'static {
    /// The name in messages.
    const NAME: &'static str;
    /// What a listener is told.
    type Args: ?Sized;
}

impl Context {
    /// Registers a listener of `E` behind those that are there, as an effect of this context's plugin.
    ///
    /// The order is that of registration across all plugins; a plugin that is started anew takes its old place among
    /// them. [`PluginError::InactiveContext`] if the plugin is not
    /// running.
    pub fn on<E: Event>(
        &self,
        listener: impl Fn(&E::Args) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Result<EffectHandle, PluginError> {
        self.listen::<E>(format!("on {}", E::NAME), Place::Last, erase::<E>(listener))
    }

    /// [`on`](Context::on) in front of those that are there: of several, the latest comes first.
    pub fn on_first<E: Event>(
        &self,
        listener: impl Fn(&E::Args) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Result<EffectHandle, PluginError> {
        self.listen::<E>(format!("on {}", E::NAME), Place::First, erase::<E>(listener))
    }

    /// Tells every listener of `E`, one after another, before it returns.
    ///
    /// The listeners are those of this moment: what listeners register or remove meanwhile counts from the next
    /// dispatch on. All are told even if one fails; the first failure is returned, the others are logged. A panic is
    /// the failure [`PluginError::ListenerPanicked`].
    pub fn emit<E: Event>(&self, args: &E::Args) -> Result<(), Failure> {
        let mut first: Option<Failure> = None;
        for listener in self.listeners_of::<E>().iter() {
            let Some(call) = listener.call.downcast_ref::<Erased<E>>() else { continue };
            let outcome = catch(|| call.0.hear(args)).unwrap_or_else(|message| {
                Err(PluginError::ListenerPanicked { event: E::NAME, plugin: listener.plugin, message }.into())
            });
            match outcome {
                Ok(()) => {}
                Err(failure) if first.is_none() => first = Some(failure),
                Err(failure) => {
                    tracing::error!(
                        event = E::NAME,
                        plugin = listener.plugin,
                        "a further listener failed: {failure}"
                    );
                }
            }
        }
        first.map_or(Ok(()), Err)
    }
}

/// A trait of its own, because `dyn Fn(&E::Args)` would ask that `E::Args` be `'static`.
trait Hear<E: Event>: Send + Sync {
    fn hear(&self, args: &E::Args) -> Result<(), Failure>;
}

impl<E: Event, F: Fn(&E::Args) -> Result<(), Failure> + Send + Sync> Hear<E> for F {
    fn hear(&self, args: &E::Args) -> Result<(), Failure> {
        self(args)
    }
}

struct Erased<E: Event>(Box<dyn Hear<E>>);

fn erase<E: Event>(
    listener: impl Fn(&E::Args) -> Result<(), Failure> + Send + Sync + 'static,
) -> Arc<dyn std::any::Any + Send + Sync> {
    Arc::new(Erased::<E>(Box::new(listener)))
}
