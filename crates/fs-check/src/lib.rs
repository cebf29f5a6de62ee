//! The conformance suite of the dsh file system contract: does a backend keep what [`FileSystem`] promises?
//!
//! The author of a backend implements [`Ground`], which lays a fresh backend with a private workspace for every rule
//! and reaches into that workspace from outside, and writes one line in a test file:
//!
//! ```ignore
//! dsh_fs_check::conformance!(MyGround);
//! ```
//!
//! The line becomes one named `#[test]` per rule, in one module per primitive (`resolve::blank_paths_name_nothing`).
//! What the rules are is written in [`rules`]; [`RULES`] lists them as data.
//!
//! A backend that cannot do everything a disk can says so in [`Ground::capabilities`]. A rule that needs more is still
//! a test, which prints that it is not applicable; the test `declares_its_capabilities` holds the declaration against
//! what the ground can really do, so that nothing is left out by accident.
//!
//! [`FileSystem`]: dsh_fs::FileSystem

#![expect(
    clippy::panic,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a rule is an assertion: it panics where the backend breaks it"
)]

mod case;
mod expand;
mod ground;
mod list;
mod race;
mod refusal;
pub mod rules;
mod run;

pub use async_trait::async_trait;
pub use case::Case;
pub use ground::{Capability, Ground, Unsupported};
pub use list::{RULES, Rule};
pub use race::race;
pub use refusal::{refused, refused_saying};
pub use run::{check_capabilities, run};

// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
