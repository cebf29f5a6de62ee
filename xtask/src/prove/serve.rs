//! Serving: many sessions over HTTP, in both eras of the protocol, with clients of every kind, and a kill in between.

use crate::prove::ground::Ground;
use crate::prove::tally::Tally;

mod agent;
mod http;
mod kill;
mod load;
mod malformed;
mod nonsense;
mod server;
mod session;
mod slow;

/// Makes the proof.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    load::prove(ground, tally)?;
    slow::prove(ground, tally)?;
    malformed::prove(ground, tally)?;
    kill::prove(ground, tally)
}
