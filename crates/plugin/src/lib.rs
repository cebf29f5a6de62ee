#![doc = include_str!("../README.md")]
//!
//! # Where things are
//!
//! - [`Plugin`]: the contract of a plugin. Read this first.
//! - [`Context`]: mounting and unloading ([`mount`](Context::mount), [`plugin`](Context::plugin),
//!   [`settle`](Context::settle), [`dispose`](Context::dispose)) and other settings later
//!   ([`Mounted::update`]); services ([`provide`](Context::provide),
//!   [`service`](Context::service)); events ([`on`](Context::on), [`emit`](Context::emit)); waterfalls
//!   ([`intercept`](Context::intercept), [`waterfall`](Context::waterfall)); effects ([`effect`](Context::effect),
//!   [`effect_async`](Context::effect_async)); the tree as a value ([`tree`](Context::tree)).
//! - [`ServiceKey`], [`Event`], [`Waterfall`], [`Next`]: what is typed, and by what.
//! - [`Registry`], `Composition` (feature `composition`), [`Context::compose`]: plugins by name, from a file;
//!   [`MountedRows::reload`]: others instead, while the tree runs.
//! - [`Coded`], [`Failure`]: what any failure says of itself; [`panics`]: what a panic of foreign code becomes.
//!
//! # What is not here, and why
//!
//! No background task and no runtime: whoever calls `settle`, `plugin`, `compose` or `dispose` does the work, in a
//! decided order, so that a program starts the same way each time. No second scope in which one key means another
//! service. No hot reload of code, and nobody who watches the composition file: that is the program's. No event that awaits its listeners one after another:
//! what must be awaited is a waterfall.

mod coded;
mod compose;
#[cfg(feature = "composition")]
mod composition;
mod composition_error;
mod context;
mod diagnostics;
mod driver;
mod effect;
mod error;
mod event;
mod fiber;
mod known;
mod listeners;
mod node;
pub mod panics;
mod plugin;
mod registry;
mod row_plan;
mod rows;
mod service;
mod settings;
mod step;
mod tree;
mod update;
mod waterfall;
#[cfg(feature = "composition")]
mod yaml;

pub use coded::{Coded, Failure, PlainError};
#[cfg(feature = "composition")]
pub use composition::Composition;
pub use composition_error::{CompositionError, CompositionErrorKind};
pub use context::{Context, Mounted};
pub use diagnostics::TreeNode;
pub use effect::EffectHandle;
pub use error::PluginError;
pub use event::Event;
pub use fiber::PluginState;
pub use plugin::{NoConfig, Plugin};
pub use registry::{Configured, Registry, RowSchema};
pub use rows::{MountedRows, RowChanges};
pub use service::ServiceKey;
pub use waterfall::{Next, Waterfall};
