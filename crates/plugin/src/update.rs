//! Other settings, or another plugin, for one that is mounted.

use std::any::{Any, type_name};
use std::sync::Arc;

use crate::context::{Context, Mounted};
use crate::driver::log;
use crate::error::PluginError;
use crate::fiber::FiberId;
use crate::plugin::Start;
use crate::tree::Tree;

impl Mounted {
    /// Gives the plugin other settings: it is unloaded, after all that use its services, and started anew with them, and
    /// so are those. Its listeners keep their place among the others. One that does not run takes them when it starts.
    ///
    /// If it fails to start with them, it is started with those it had, and the failure is returned; others' failures are
    /// logged. Other errors, all before anything is touched: [`PluginError::WrongConfigType`] if these are not the
    /// settings of this plugin, [`PluginError::InactiveContext`] if it is gone,
    /// [`PluginError::CalledWhileSettling`] from inside an `apply` or an undo function.
    ///
    /// If the returned future is dropped half way, the next [`settle`](Context::settle) goes on with the new settings.
    pub async fn update<C: Any + Send>(&self, config: C) -> Result<(), PluginError> {
        let (name, tree) = (self.plugin_name(), self.tree());
        let ctx = Context::new(Arc::clone(tree), self.fiber(), 0, name);
        let _turn = ctx.turn("update").await?;
        let before = tree.lock().fibers.get(&self.fiber()).and_then(|fiber| fiber.plugin.clone());
        let before = before.ok_or(PluginError::InactiveContext { plugin: name })?;
        let wrong = PluginError::WrongConfigType { plugin: name, given: type_name::<C>() };
        let after = before.with_config(Box::new(config)).ok_or(wrong)?;
        tree.replace(self.fiber(), after);
        let failures = tree.drive().await;
        let Some(failure) = self.failure() else {
            log(failures);
            return Ok(());
        };
        tree.replace(self.fiber(), before);
        log(tree.drive().await);
        Err(failure)
    }
}

impl Tree {
    /// Has the driver start `plugin` in place of what is mounted there.
    pub(crate) fn replace(self: &Arc<Self>, fiber: FiberId, plugin: Arc<dyn Start>) -> Mounted {
        // Foreign code, so before the lock.
        let (name, inject) = (plugin.name(), plugin.inject());
        let replaced = self.lock().fibers.get_mut(&fiber).map(|fiber| fiber.replace(name, inject, plugin));
        // And so is this, after it.
        drop(replaced);
        Mounted::new(self, fiber, name)
    }
}
