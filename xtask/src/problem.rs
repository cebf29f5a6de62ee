//! [`Problem`]: what a check found.

use std::fmt;

/// Something that breaks a rule of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// A path with or without a line, a crate, or a dependency.
    pub place: String,
    /// What is wrong there, and what would be right.
    pub what: String,
}

impl Problem {
    /// A problem at `place`.
    pub fn at(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}
