//! A fiber: one mounted plugin, its place in the tree and what it has registered.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::effect::Effect;
use crate::error::PluginError;
use crate::plugin::Start;

/// What a mounted plugin is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PluginState {
    /// Not started: it waits for a service, for its parent, or for the next [`settle`](crate::Context::settle).
    Pending,
    /// Its `apply` is running.
    Loading,
    /// Its `apply` has returned; its services are visible to others.
    Active,
    /// Its `apply` failed and what it had registered is undone. Tried again when a service it injects is provided
    /// anew.
    Failed,
    /// Its effects are being undone.
    Unloading,
    /// Gone for good.
    Disposed,
}

impl fmt::Display for PluginState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "pending",
            Self::Loading => "loading",
            Self::Active => "active",
            Self::Failed => "failed",
            Self::Unloading => "unloading",
            Self::Disposed => "disposed",
        })
    }
}

/// Ids increase, so their order is mount order.
pub(crate) type FiberId = u64;

pub(crate) struct Fiber {
    pub(crate) name: &'static str,
    /// `None` for the root only.
    pub(crate) parent: Option<FiberId>,
    pub(crate) inject: &'static [&'static str],
    /// `None` for the root only.
    pub(crate) plugin: Option<Arc<dyn Start>>,
    pub(crate) state: PluginState,
    /// Counts the starts: a context of an earlier one is inactive.
    pub(crate) life: u64,
    /// When it was last started, among all starts of the tree; what started later is unloaded first.
    pub(crate) started: u64,
    /// When the plugin below the root that it belongs to was first started; 0 before that. Listeners that it registers
    /// while it is started stand in this order, so that one that is started anew takes its old place.
    pub(crate) rank: u64,
    /// Oldest first.
    pub(crate) effects: Vec<Effect>,
    /// The provisions it was last started with, in inject order.
    pub(crate) uses: Vec<u64>,
    /// To be disposed for good.
    pub(crate) doomed: bool,
    /// To be unloaded once, because it has another plugin or other settings now.
    pub(crate) replaced: bool,
    /// Why its last start failed, and the provisions it had then.
    pub(crate) failure: Option<(PluginError, Vec<u64>)>,
}

impl Fiber {
    pub(crate) fn new(
        name: &'static str,
        parent: FiberId,
        inject: &'static [&'static str],
        plugin: Arc<dyn Start>,
    ) -> Self {
        Self {
            name,
            parent: Some(parent),
            inject,
            plugin: Some(plugin),
            state: PluginState::Pending,
            life: 0,
            started: 0,
            rank: 0,
            effects: Vec::new(),
            uses: Vec::new(),
            doomed: false,
            replaced: false,
            failure: None,
        }
    }

    pub(crate) fn root() -> Self {
        Self {
            name: "root",
            parent: None,
            inject: &[],
            plugin: None,
            state: PluginState::Active,
            life: 0,
            started: 0,
            rank: 0,
            effects: Vec::new(),
            uses: Vec::new(),
            doomed: false,
            replaced: false,
            failure: None,
        }
    }

    /// Puts another plugin in its place, which is started instead. What was there comes back: foreign values, to be dropped outside the lock.
    pub(crate) fn replace(
        &mut self,
        name: &'static str,
        inject: &'static [&'static str],
        plugin: Arc<dyn Start>,
    ) -> Box<dyn Any + Send> {
        self.replaced = self.state == PluginState::Active;
        self.name = name;
        self.inject = inject;
        // Whatever it failed with belongs to what was there before, and would keep this from being tried.
        if self.state == PluginState::Failed {
            self.state = PluginState::Pending;
        }
        Box::new((self.plugin.replace(plugin), self.failure.take()))
    }

    /// Whether its registrations are accepted.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.state, PluginState::Loading | PluginState::Active)
    }
}
