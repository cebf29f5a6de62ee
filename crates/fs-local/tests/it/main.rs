//! The host disk, behaviour by behaviour.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics has failed")]
#![expect(clippy::disallowed_methods, reason = "tests prepare files and look at them from outside")]

mod attributes;
mod cancel;
mod config;
mod conformance;
mod disk;
mod durability;
mod edit;
mod exchange;
mod fallbacks;
mod flock;
mod folders;
mod guard;
mod list;
mod lock;
mod log;
mod metadata;
mod os_error;
mod plugin;
mod publish;
mod read;
mod resolve;
mod resume;
mod rival;
mod rooted;
mod special;
mod stat;
mod stranger;
mod stream;
mod write;
