//! The fence, behaviour by behaviour.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics has failed")]
#![expect(clippy::disallowed_methods, reason = "tests prepare files and look at them from outside")]

mod conformance;
mod containment;
mod disk;
mod git;
mod log;
mod modes;
mod moved;
mod plugin;
mod policy;
mod protected;
mod read_rules;
mod told;
