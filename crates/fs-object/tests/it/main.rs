//! All tests of the crate, one module for each part of it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]

mod config;
mod conformance;
mod listing;
mod probe;
mod publish;
mod requests;
mod rig;
mod stream;
mod tools;
