//! The handle through which everything is done, and the handle of a mounted plugin.

use std::fmt;
use std::sync::{Arc, MutexGuard};

use crate::effect::Undo;
use crate::error::PluginError;
use crate::fiber::{Fiber, FiberId, PluginState};
use crate::plugin::{Plugin, Prepared, Start};
use crate::registry::Configured;
use crate::tree::{State, Tree};

/// A plugin's view of the tree: what it registers through this handle is its own and ends with it.
///
/// Cloning is cheap. A handle is good for one run of its plugin: after the plugin has been unloaded, registering
/// through it is [`PluginError::InactiveContext`], also when the plugin has been started anew in between. Dispatching
/// events stays possible, so that work that outlives its plugin can finish.
///
/// The tree lives as long as a handle to it does, and what plugins registered may hold handles: call
/// [`dispose`](Context::dispose) on the root when done, dropping it undoes nothing.
#[derive(Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

struct Inner {
    tree: Arc<Tree>,
    fiber: FiberId,
    life: u64,
    name: &'static str,
}

impl Context {
    /// The root of a new tree. It is active from the start, and named `root`.
    pub fn root() -> Self {
        let (tree, fiber) = Tree::new();
        Self::new(Arc::new(tree), fiber, 0, "root")
    }

    /// The name of this context's plugin, or `root`.
    pub fn name(&self) -> &str {
        self.inner.name
    }

    /// Registers `plugin` as a child of this context's plugin. It starts at the next [`settle`](Context::settle), or,
    /// when called from inside an `apply`, by itself once that has returned.
    ///
    /// Mounting one plugin several times is allowed. [`PluginError::InactiveContext`] if this context's plugin is not
    /// running.
    pub fn mount<P: Plugin>(&self, plugin: P, config: P::Config) -> Result<Mounted, PluginError> {
        self.mount_erased(Arc::new(Prepared { plugin: Arc::new(plugin), config }))
    }

    /// [`mount`](Context::mount) for a row that a [`Registry`](crate::Registry) has configured.
    pub fn mount_row(&self, row: Configured) -> Result<Mounted, PluginError> {
        self.mount_erased(row.into_plugin())
    }

    fn mount_erased(&self, plugin: Arc<dyn Start>) -> Result<Mounted, PluginError> {
        // Foreign code, so before the lock.
        let (name, inject) = (plugin.name(), plugin.inject());
        let mut state = self.lock();
        state.require_live(self)?;
        let fiber = state.next_id();
        state.fibers.insert(fiber, Fiber::new(name, self.fiber(), inject, plugin));
        state.add_effect(self.fiber(), format!("plugin {name}"), Undo::Child(fiber));
        Ok(Mounted::new(self.tree_handle(), fiber, name))
    }

    pub(crate) fn new(tree: Arc<Tree>, fiber: FiberId, life: u64, name: &'static str) -> Self {
        Self { inner: Arc::new(Inner { tree, fiber, life, name }) }
    }

    pub(crate) fn tree_handle(&self) -> &Arc<Tree> {
        &self.inner.tree
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.inner.tree.lock()
    }

    pub(crate) fn fiber(&self) -> FiberId {
        self.inner.fiber
    }

    pub(crate) fn life(&self) -> u64 {
        self.inner.life
    }

    pub(crate) fn plugin_name(&self) -> &'static str {
        self.inner.name
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("plugin", &self.inner.name).finish_non_exhaustive()
    }
}

/// A mounted plugin, as the one who mounted it sees it. Dropping the handle changes nothing.
#[derive(Clone)]
pub struct Mounted {
    tree: Arc<Tree>,
    fiber: FiberId,
    name: &'static str,
}

impl Mounted {
    /// The plugin's name.
    pub fn name(&self) -> &str {
        self.name
    }

    /// What the plugin is doing.
    pub fn state(&self) -> PluginState {
        self.tree.lock().fibers.get(&self.fiber).map_or(PluginState::Disposed, |fiber| fiber.state)
    }

    /// Whether the plugin is running and its services are visible.
    pub fn is_active(&self) -> bool {
        self.state() == PluginState::Active
    }

    /// The injected services that no active plugin provides now, in inject order.
    pub fn missing(&self) -> Vec<&'static str> {
        self.tree.lock().missing(self.fiber)
    }

    /// Why the plugin is [`Failed`](PluginState::Failed), if it is.
    pub fn failure(&self) -> Option<PluginError> {
        self.tree.lock().failure(self.fiber)
    }

    /// The context of the plugin's present run, if it is running.
    pub fn context(&self) -> Option<Context> {
        let life = {
            let state = self.tree.lock();
            let fiber = state.fibers.get(&self.fiber)?;
            fiber.is_running().then_some(fiber.life)?
        };
        Some(Context::new(Arc::clone(&self.tree), self.fiber, life, self.name))
    }

    /// Unloads the plugin for good, and first all that use its services. Does nothing if it is gone already.
    ///
    /// From inside an `apply` or an undo function this only asks for it: it happens as soon as that has returned.
    pub async fn dispose(&self) {
        self.tree.dispose(self.fiber).await;
    }

    pub(crate) fn new(tree: &Arc<Tree>, fiber: FiberId, name: &'static str) -> Self {
        Self { tree: Arc::clone(tree), fiber, name }
    }

    pub(crate) fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    pub(crate) fn plugin_name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn fiber(&self) -> FiberId {
        self.fiber
    }
}

impl fmt::Debug for Mounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mounted")
            .field("plugin", &self.name)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
