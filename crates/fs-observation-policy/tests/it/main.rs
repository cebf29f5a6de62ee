//! The policy, asked and told directly through its events.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod decisions;
mod lifetime;
mod rig;
