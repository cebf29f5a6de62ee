//! The repository checks itself, and writes the pages that can be derived from code.
//!
//! Every check is a function from what it looks at ([`Repository`], [`Workspace`], or a text) to a list of
//! [`Problem`]s, so that tests can hand it a bad example; `tests/it/repository.rs` runs them all on this
//! repository. [`Check`] and [`Page`] are what `cargo xtask check` and `cargo xtask generate` offer. [`prove`] and
//! [`mod@bench`] are what `cargo xtask prove` and `cargo xtask bench` do with the built program.
#![expect(
    clippy::disallowed_methods,
    reason = "not shipped: it reads this repository, asks cargo, and tries out the program"
)]

pub mod bench;
pub mod check;
mod dice;
pub mod generate;
pub mod hints;
mod problem;
pub mod prove;
mod repository;
mod workspace;

pub use check::{Check, Verdict};
pub use generate::{Freshness, Page};
pub use problem::Problem;
pub use repository::{File, Repository, home};
pub use workspace::{Package, Source, Workspace};
