//! What a bench brings home: figures, and the budgets that they are held against.

use std::fmt;

/// All of one bench.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made {
    pub(crate) tables: Vec<Table>,
    pub(crate) budgets: Vec<Budget>,
    /// Sentences.
    pub(crate) notes: Vec<String>,
}

/// Figures for the page.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// One for each column.
    pub(crate) head: Vec<&'static str>,
    /// As many cells each.
    pub(crate) rows: Vec<Vec<String>>,
}

/// A figure and its limit.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    pub(crate) what: String,
    pub(crate) measured: f64,
    /// At most.
    pub(crate) limit: f64,
    /// Such as ` MiB`; nothing for a ratio.
    pub(crate) unit: &'static str,
}

impl Budget {
    pub(crate) fn is_held(&self) -> bool {
        self.measured <= self.limit
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, measured, limit, unit } = self;
        let verdict = if self.is_held() { "held" } else { "MISSED" };
        write!(f, "{verdict}: {what}: {measured:.2}{unit}, at most {limit}{unit}")
    }
}
