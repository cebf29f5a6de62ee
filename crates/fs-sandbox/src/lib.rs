#![doc = include_str!("../README.md")]

mod config;
mod fence;
mod fold;
mod git;
mod plugin;
mod policy;
mod protected;
mod read_rules;

pub use config::{ConfigError, SandboxConfig};
pub use fence::Fence;
pub use plugin::{Place, SandboxPlugin};
pub use policy::{MODE_EVENT, StandingPolicy, override_of, set_sandbox_mode};
pub use protected::Protected;
pub use read_rules::{PathRules, RuleError};
