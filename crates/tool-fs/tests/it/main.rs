//! Behaviour of the tools as a model and a user interface see it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod cards;
mod config;
mod edit;
mod envelope;
mod escalation;
mod guards;
mod hints;
mod line_index;
mod observed;
mod page;
mod policy;
mod prompts;
mod read;
mod rig;
mod window;
mod write;
