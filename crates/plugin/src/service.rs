//! Services: values under a key, provided by one plugin and used by others.

use std::any::{Any, type_name};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::context::Context;
use crate::effect::Undo;
use crate::error::PluginError;
use crate::fiber::FiberId;

/// The key of a service: a name, and the type that is found under it.
///
/// A key is a constant of the crate that defines the service's trait. The name alone identifies the service, because
/// inject lists and messages hold names; the type is checked at each look-up.
///
/// ```
/// use dsh_plugin::ServiceKey;
///
/// pub trait Clock: Send + Sync {
///     fn seconds(&self) -> u64;
/// }
/// pub const CLOCK: ServiceKey<dyn Clock> = ServiceKey::new("clock");
/// assert_eq!(CLOCK.name(), "clock");
/// ```
pub struct ServiceKey<S: ?Sized> {
    name: &'static str,
    service: PhantomData<fn() -> *const S>,
}

impl<S: ?Sized> ServiceKey<S> {
    /// The key with this name.
    pub const fn new(name: &'static str) -> Self {
        Self { name, service: PhantomData }
    }

    /// The name, as inject lists hold it.
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl<S: ?Sized> Clone for ServiceKey<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ?Sized> Copy for ServiceKey<S> {}

impl<S: ?Sized> fmt::Debug for ServiceKey<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServiceKey<{}>({:?})", type_name::<S>(), self.name)
    }
}

impl Context {
    /// Provides `service` under `key`, as an effect of this context's plugin.
    ///
    /// The plugin itself sees it at once; others see it when the plugin is active, and are unloaded before it goes
    /// away. At most one plugin of the tree provides a key: [`PluginError::DuplicateService`] names the one that
    /// does. [`PluginError::InactiveContext`] if the plugin is not running.
    pub fn provide<S>(&self, key: ServiceKey<S>, service: Arc<S>) -> Result<(), PluginError>
    where
        S: ?Sized + Send + Sync + 'static,
    {
        let mut state = self.lock();
        state.require_live(self)?;
        if let Some(other) = state.services.get(key.name) {
            return Err(PluginError::DuplicateService { key: key.name, provider: other.provider_name });
        }
        let id = state.add_effect(self.fiber(), format!("provide {}", key.name), Undo::Service(key.name));
        let provision = Provision {
            id,
            key: key.name,
            provider: self.fiber(),
            provider_name: self.plugin_name(),
            type_name: type_name::<S>(),
            service: Box::new(service),
        };
        state.services.insert(key.name, provision);
        Ok(())
    }

    /// The service under `key`.
    ///
    /// A plugin sees what it provides itself, and what it or a plugin above it injects; the root context sees
    /// everything. Errors: [`PluginError::ServiceNotInjected`], [`PluginError::ServiceNotFound`],
    /// [`PluginError::WrongServiceType`], [`PluginError::InactiveContext`].
    pub fn service<S>(&self, key: ServiceKey<S>) -> Result<Arc<S>, PluginError>
    where
        S: ?Sized + Send + Sync + 'static,
    {
        let state = self.lock();
        state.require_readable(self)?;
        let found = state.visible(self.fiber(), key.name);
        let own = found.is_some_and(|provision| provision.provider == self.fiber());
        if !own && !state.injects(self.fiber(), key.name) {
            return Err(PluginError::ServiceNotInjected { key: key.name, plugin: self.plugin_name() });
        }
        found.ok_or(PluginError::ServiceNotFound { key: key.name })?.as_service()
    }

    /// The service under `key` if it is there now, injected or not.
    ///
    /// For what a plugin can do without: nothing unloads the plugin when the service goes away, so ask each time and
    /// do not keep it. `None` too if the key holds another type or the plugin is not running.
    pub fn try_service<S>(&self, key: ServiceKey<S>) -> Option<Arc<S>>
    where
        S: ?Sized + Send + Sync + 'static,
    {
        let state = self.lock();
        state.require_readable(self).ok()?;
        state.visible(self.fiber(), key.name)?.as_service().ok()
    }
}

/// A service in the tree.
pub(crate) struct Provision {
    /// Unique, so that a provider that came back is told from the one that was used before.
    pub(crate) id: u64,
    key: &'static str,
    pub(crate) provider: FiberId,
    provider_name: &'static str,
    type_name: &'static str,
    /// An `Arc<S>`.
    service: Box<dyn Any + Send + Sync>,
}

impl Provision {
    fn as_service<S: ?Sized + Send + Sync + 'static>(&self) -> Result<Arc<S>, PluginError> {
        self.service.downcast_ref::<Arc<S>>().cloned().ok_or_else(|| PluginError::WrongServiceType {
            key: self.key,
            provider: self.provider_name,
            provided: self.type_name,
            asked: type_name::<S>(),
        })
    }
}
