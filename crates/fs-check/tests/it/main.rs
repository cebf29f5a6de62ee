//! The suite on the reference backend, and on itself.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod memory;
mod rules;
mod suite;
