#![doc = include_str!("../README.md")]

#[cfg(not(target_os = "linux"))]
compile_error!("dsh-fs-local is for Linux: it needs openat2, renameat2 and O_TMPFILE");

mod address;
mod capabilities;
mod config;
mod conflict;
mod content;
mod create;
mod dress;
mod edit;
mod exchange;
mod flock;
mod folders;
mod give_back;
mod guard;
mod hop;
mod identity;
mod list;
mod local;
mod lock;
mod open;
mod os_error;
mod plugin;
mod publish;
mod resolve;
mod rooted;
mod scan;
mod stage;
mod stat;
mod steps;
mod stream;
mod work;
mod write;
mod writers;

pub use capabilities::{Capabilities, Fallbacks, probe};
pub use config::{ConfigError, Durability, LocalFsConfig, MAX_DIFF_BASIS_BYTES};
pub use hop::on_the_spot;
pub use local::LocalFileSystem;
pub use plugin::LocalFsPlugin;
pub use steps::Step;
