//! What can go wrong in the runtime itself.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::coded::Coded;

/// A failure of the runtime. Cheap to clone; its [name](Coded::name) is `PluginError`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PluginError {
    /// `INACTIVE_CONTEXT`: a registration or a look-up through a context whose plugin is not running: it was
    /// unloaded or disposed, or it has been started anew since this handle was given out.
    InactiveContext {
        /// The plugin the context belongs to.
        plugin: &'static str,
    },
    /// `DUPLICATE_SERVICE`: somebody already provides this key.
    DuplicateService {
        /// The service key.
        key: &'static str,
        /// The plugin that provides it.
        provider: &'static str,
    },
    /// `SERVICE_NOT_FOUND`: nobody provides this key, or its provider is not active.
    ServiceNotFound {
        /// The service key.
        key: &'static str,
    },
    /// `SERVICE_NOT_INJECTED`: a plugin asks for a service that neither it nor a plugin above it injects, so that
    /// nothing would unload it before the service goes away.
    ServiceNotInjected {
        /// The service key.
        key: &'static str,
        /// The plugin that asks.
        plugin: &'static str,
    },
    /// `WRONG_SERVICE_TYPE`: two [`ServiceKey`](crate::ServiceKey)s have one name and different types.
    WrongServiceType {
        /// The service key.
        key: &'static str,
        /// The plugin that provides it.
        provider: &'static str,
        /// The type that was provided.
        provided: &'static str,
        /// The type that was asked for.
        asked: &'static str,
    },
    /// `WRONG_CONFIG_TYPE`: [`update`](crate::Mounted::update) was given settings of another plugin.
    WrongConfigType {
        /// The plugin that was to be updated.
        plugin: &'static str,
        /// The type that was given.
        given: &'static str,
    },
    /// `CALLED_WHILE_SETTLING`: `settle`, `plugin`, `compose`, `update` or `reload` called from inside an `apply` or an undo function,
    /// where waiting for the tree to settle would be waiting for oneself.
    CalledWhileSettling {
        /// The method that was called.
        call: &'static str,
        /// The plugin whose context it was called on.
        plugin: &'static str,
    },
    /// `PLUGIN_FAILED`: `apply` returned an error, which is the [source](Error::source).
    ApplyFailed {
        /// The plugin that failed to start.
        plugin: &'static str,
        /// What `apply` returned.
        source: Arc<dyn Coded>,
    },
    /// `PLUGIN_PANICKED`: `apply` panicked.
    ApplyPanicked {
        /// The plugin that failed to start.
        plugin: &'static str,
        /// The panic message.
        message: String,
    },
    /// `LISTENER_PANICKED`: a listener of an event or a waterfall panicked.
    ListenerPanicked {
        /// The event's name.
        event: &'static str,
        /// The plugin that registered the listener.
        plugin: &'static str,
        /// The panic message.
        message: String,
    },
    /// `INNERMOST_PANICKED`: the innermost step of a waterfall panicked.
    InnermostPanicked {
        /// The waterfall's name.
        event: &'static str,
        /// The plugin that dispatched the waterfall.
        plugin: &'static str,
        /// The panic message.
        message: String,
    },
}

impl fmt::Display for PluginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InactiveContext { plugin } => {
                write!(f, "plugin \"{plugin}\" is not running: its context is inactive")
            }
            Self::DuplicateService { key, provider } => {
                write!(f, "service \"{key}\" is already provided by plugin \"{provider}\"")
            }
            Self::ServiceNotFound { key } => {
                write!(f, "service \"{key}\" is not available: no active plugin provides it")
            }
            Self::ServiceNotInjected { key, plugin } => {
                write!(
                    f,
                    "plugin \"{plugin}\" asks for service \"{key}\" without injecting it: add it to its inject list"
                )
            }
            Self::WrongServiceType { key, provider, provided, asked } => write!(
                f,
                "service \"{key}\" of plugin \"{provider}\" is a {provided}, but was asked for as a {asked}"
            ),
            Self::WrongConfigType { plugin, given } => {
                write!(f, "plugin \"{plugin}\" has settings of another type than {given}")
            }
            Self::CalledWhileSettling { call, plugin } => write!(
                f,
                "{call} on plugin \"{plugin}\" called while plugins are being started or unloaded: it would wait for \
                 itself; use mount, what is mounted starts by itself"
            ),
            Self::ApplyFailed { plugin, source } => {
                write!(f, "plugin \"{plugin}\" failed to start: {source}")
            }
            Self::ApplyPanicked { plugin, message } => {
                write!(f, "plugin \"{plugin}\" failed to start: it panicked: {message}")
            }
            Self::ListenerPanicked { event, plugin, message } => {
                write!(f, "a listener of plugin \"{plugin}\" for \"{event}\" panicked: {message}")
            }
            Self::InnermostPanicked { event, plugin, message } => {
                write!(
                    f,
                    "the innermost step of \"{event}\", dispatched by plugin \"{plugin}\", panicked: {message}"
                )
            }
        }
    }
}

impl Error for PluginError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::ApplyFailed { source, .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}

impl Coded for PluginError {
    fn name(&self) -> &'static str {
        "PluginError"
    }

    fn code(&self) -> Option<&str> {
        Some(match self {
            Self::InactiveContext { .. } => "INACTIVE_CONTEXT",
            Self::DuplicateService { .. } => "DUPLICATE_SERVICE",
            Self::ServiceNotFound { .. } => "SERVICE_NOT_FOUND",
            Self::ServiceNotInjected { .. } => "SERVICE_NOT_INJECTED",
            Self::WrongServiceType { .. } => "WRONG_SERVICE_TYPE",
            Self::WrongConfigType { .. } => "WRONG_CONFIG_TYPE",
            Self::CalledWhileSettling { .. } => "CALLED_WHILE_SETTLING",
            Self::ApplyFailed { .. } => "PLUGIN_FAILED",
            Self::ApplyPanicked { .. } => "PLUGIN_PANICKED",
            Self::ListenerPanicked { .. } => "LISTENER_PANICKED",
            Self::InnermostPanicked { .. } => "INNERMOST_PANICKED",
        })
    }
}
