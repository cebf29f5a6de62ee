//! Behaviour of the tools as a model and a user interface see it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![expect(clippy::disallowed_methods, reason = "tests prepare files")]

mod arguments;
mod cards;
mod config;
mod glob_text;
mod grep_text;
mod pattern_hint;
mod prompts;
mod rig;
mod search;
mod spill;
