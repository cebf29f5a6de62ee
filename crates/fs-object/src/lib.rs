#![doc = include_str!("../README.md")]

mod address;
mod again;
mod config;
mod connect;
mod edit;
mod error;
mod folders;
mod listing;
mod object;
mod plugin;
mod probe;
mod publish;
mod read;
mod store;
mod stream;
mod trail;
mod version;
mod write;

pub use config::{ConfigError, ObjectFsConfig};
pub use connect::choose_cryptography;
pub use object::ObjectFileSystem;
/// The client of the stores, as [`ObjectFileSystem::over`] takes one. Before one is built, [`choose_cryptography`] is called.
pub use object_store;
pub use plugin::ObjectFsPlugin;
