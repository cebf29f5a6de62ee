//! Rivals: other processes of ours, and strangers that know nothing of our lock.

use crate::prove::ground::Ground;
use crate::prove::tally::Tally;
use crate::prove::{ours, strangers, touched};

/// Makes the proof.
pub(crate) fn prove(ground: &Ground, tally: &mut Tally) -> anyhow::Result<()> {
    ours::prove(ground, tally)?;
    strangers::prove(ground, tally)?;
    touched::prove(ground, tally)
}
