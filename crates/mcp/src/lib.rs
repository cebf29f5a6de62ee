#![doc = include_str!("../README.md")]

mod answer;
mod asking;
mod body;
mod calls;
mod changes;
mod cors;
mod door;
mod elicit;
mod error;
mod front;
mod gate;
mod http_server;
mod id_scan;
mod listing;
mod open_questions;
mod options;
mod refusal;
mod refused;
mod reports;
mod seat;
mod seats;
mod serve;
mod server;
mod tokens;
mod who;
mod wire;

pub use elicit::{Elicited, elicit};
pub use error::McpError;
pub use http_server::serve_http;
pub use options::{HttpOptions, ServeOptions};
pub use refused::Refused;
pub use seats::SessionProvider;
pub use serve::{serve, serve_stdio};
pub use tokens::{Tokens, TokensError};
