//! [`Tally`]: what a proof counted, and what it found wrong.

use std::fmt::Display;

use serde_json::{Value as Json, json};

/// Failures that are told one by one; the rest are counted.
const TOLD: usize = 12;

/// The book of one proof.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// What was counted, in order: what, and how many.
    pub figures: Vec<(String, String)>,
    /// What was wrong.
    pub failures: Vec<String>,
    /// How long it took.
    pub seconds: f64,
}

impl Tally {
    /// Notes a figure.
    pub fn figure(&mut self, what: impl Into<String>, figure: impl Display) {
        self.figures.push((what.into(), figure.to_string()));
    }

    /// Notes something that is wrong.
    pub fn fail(&mut self, what: impl Into<String>) {
        self.failures.push(what.into());
    }

    /// Notes what is wrong unless `good`.
    pub fn check(&mut self, good: bool, what: impl FnOnce() -> String) {
        if !good {
            self.fail(what());
        }
    }

    /// Takes over what another one has.
    pub fn add(&mut self, other: Self) {
        self.figures.extend(other.figures);
        self.failures.extend(other.failures);
    }

    /// Did all of it hold?
    pub fn holds(&self) -> bool {
        self.failures.is_empty()
    }

    /// The lines for a person: figures, failures, and the verdict.
    pub fn lines(&self, name: &str) -> Vec<String> {
        let mut lines: Vec<String> =
            self.figures.iter().map(|(what, figure)| format!("  {figure:>8}  {what}")).collect();
        lines.extend(self.failures.iter().take(TOLD).map(|failure| format!("  FAILED: {failure}")));
        if let Some(more) = self.failures.len().checked_sub(TOLD).filter(|more| *more > 0) {
            lines.push(format!("  ... and {more} more failures"));
        }
        let verdict = if self.holds() { "pass" } else { "FAIL" };
        lines.push(format!("{verdict}: {name} ({:.1} s)", self.seconds));
        lines
    }

    /// For another process.
    pub fn to_json(&self) -> Json {
        json!({"figures": self.figures, "failures": self.failures})
    }

    /// From another process.
    pub fn from_json(json: &Json) -> Self {
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let list = |key: &str| json[key].as_array().cloned().unwrap_or_default();
        Self {
            figures: list("figures").iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect(),
            failures: list("failures").iter().map(text).collect(),
            seconds: 0.0,
        }
    }
}
