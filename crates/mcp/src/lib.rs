#![doc = include_str!("../README.md")]

mod answer;
mod asking;
mod error;
mod gate;
mod id_scan;
mod listing;
mod refusal;
mod serve;
mod server;
mod wire;

pub use error::McpError;
pub use serve::{ServeOptions, serve, serve_stdio};
