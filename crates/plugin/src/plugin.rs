//! What a plugin is.

use std::any::Any;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::coded::Failure;
use crate::context::Context;
use crate::panics::BoxFuture;

/// A unit of behaviour that can be mounted, unloaded and started again.
///
/// # Contract
///
/// - [`apply`](Plugin::apply) registers what the plugin does: services, listeners, children, effects. Each
///   registration through its context belongs to the plugin and is undone, newest first, when the plugin is unloaded
///   or when `apply` fails or panics half way. What is not registered is not undone: a task that `apply` spawns needs
///   an [`effect`](Context::effect) that stops it.
/// - `apply` runs when every service in [`inject`](Plugin::inject) is provided by an active plugin. When one of them
///   goes away the plugin is unloaded, and started again when it is back, so `apply` may run many times; the
///   configuration is the same until somebody [updates](crate::Mounted::update) it. It never runs twice at once for one mount; keep what belongs to one run in the closures that
///   `apply` registers, not in `self`.
/// - `apply` must not wait for the tree: [`settle`](Context::settle), [`plugin`](Context::plugin) and
///   [`compose`](Context::compose) inside it are errors. It mounts children with [`mount`](Context::mount); they start
///   once it has returned.
/// - Cancelling: the future may be dropped at any `await` when the caller that drives the tree is cancelled. Then
///   what it had registered is undone, and `apply` is run again by the next `settle`.
pub trait Plugin: Send + Sync + 'static {
    /// The settings. In a composition file they are read with serde, so defaults are serde defaults
    /// (`#[serde(default, rename_all = "camelCase")]`); the schema is for documentation. Keys the type does not have are
    /// refused whether or not it says `deny_unknown_fields`, and a key that is `null` counts as absent.
    type Config: DeserializeOwned + JsonSchema + Clone + Send + Sync + 'static;

    /// The name in messages and in the tree, such as `fs-local`.
    fn name(&self) -> &'static str;

    /// The names of the services without which the plugin does not run.
    fn inject(&self) -> &'static [&'static str] {
        &[]
    }

    /// Starts the plugin: registers what it does through `ctx`.
    fn apply(&self, ctx: Context, config: Self::Config) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// The configuration of a plugin without settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoConfig {}

/// A plugin together with its configuration, its type erased.
pub(crate) trait Start: Send + Sync + 'static {
    fn name(&self) -> &'static str;
    fn inject(&self) -> &'static [&'static str];
    fn config(&self) -> &dyn Any;
    /// The same plugin with other settings, if they are of its type.
    fn with_config(&self, config: Box<dyn Any>) -> Option<Arc<dyn Start>>;
    fn start(self: Arc<Self>, ctx: Context) -> BoxFuture<'static, Result<(), Failure>>;
}

pub(crate) struct Prepared<P: Plugin> {
    pub(crate) plugin: Arc<P>,
    pub(crate) config: P::Config,
}

impl<P: Plugin> Start for Prepared<P> {
    fn name(&self) -> &'static str {
        self.plugin.name()
    }

    fn inject(&self) -> &'static [&'static str] {
        self.plugin.inject()
    }

    fn config(&self) -> &dyn Any {
        &self.config
    }

    fn with_config(&self, config: Box<dyn Any>) -> Option<Arc<dyn Start>> {
        let config = *config.downcast::<P::Config>().ok()?;
        Some(Arc::new(Self { plugin: Arc::clone(&self.plugin), config }))
    }

    fn start(self: Arc<Self>, ctx: Context) -> BoxFuture<'static, Result<(), Failure>> {
        Box::pin(async move { self.plugin.apply(ctx, self.config.clone()).await })
    }
}
