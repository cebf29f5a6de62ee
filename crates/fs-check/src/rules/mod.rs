//! The rules, one module per primitive or theme, each rule one function: its first line is the promise it checks.
//!
//! A new rule is a function here and a line in `list.rs`; a test of this crate finds whichever is missing.

pub mod cancel;
pub mod creations;
pub mod edit_text;
pub mod errors;
pub mod growth;
pub mod guards;
pub mod list_dir;
pub mod meanwhile;
pub mod names;
pub mod races;
pub mod read_bytes;
pub mod read_text;
pub mod resolve;
pub mod rivals;
pub mod stat;
pub mod stopping;
pub mod stream_text;
pub mod write_text;
