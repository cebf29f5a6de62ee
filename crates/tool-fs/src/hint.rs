//! What follows a refusal so that the next call is right: text and request in, a few hundred bytes out.
//!
//! Nothing here reads a file, waits, or changes what an edit matches: `edit` is exact, and a hint only tells how what was
//! asked for differs from what is there. [`crate::hints`] decides who may be told, and brings the text.
//!
//! Every hint stays within [`budget::MOST_BYTES`] and [`budget::MOST_TIME`]; where that is not enough there is none.

pub(crate) mod ambiguous;
pub(crate) mod budget;
mod copied;
mod difference;
mod fold;
mod kind;
mod lines;
pub(crate) mod nearest;
pub(crate) mod neighbours;
mod similar;
