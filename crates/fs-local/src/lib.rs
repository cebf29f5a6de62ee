#![doc = include_str!("../README.md")]

mod address;
mod config;
mod edit;
mod folders;
mod guard;
mod identity;
mod list;
mod local;
mod lock;
mod open;
mod os_error;
mod plugin;
mod publish;
mod resolve;
mod scan;
mod stage;
mod stat;
mod stream;
mod work;
mod write;

pub use config::{ConfigError, LocalFsConfig, MAX_DIFF_BASIS_BYTES};
pub use local::LocalFileSystem;
pub use plugin::LocalFsPlugin;
pub use stage::is_stage_name;
