//! How a search fails.

use dsh_plugin::Coded;
use thiserror::Error;

/// A search that has no result. Name `SearchError`.
#[derive(Debug, Error)]
pub enum SearchError {
    /// The caller gave up.
    #[error("{tool} was aborted before completion (tool timeout or caller cancellation)")]
    Aborted {
        /// `glob` or `grep`.
        tool: &'static str,
    },
    /// The pattern, or the include of `grep`, cannot be understood.
    #[error("{tool} pattern rejected by ripgrep: {reason}")]
    InvalidPattern {
        /// `glob` or `grep`.
        tool: &'static str,
        /// What is wrong with it, over several lines where a place is pointed at.
        reason: String,
    },
    /// There is nothing to search, or it cannot be searched.
    #[error("{tool} search failed: {reason}")]
    Failed {
        /// `glob` or `grep`.
        tool: &'static str,
        /// Why.
        reason: String,
    },
}

impl Coded for SearchError {
    fn name(&self) -> &'static str {
        "SearchError"
    }

    fn code(&self) -> Option<&str> {
        Some(match self {
            Self::Aborted { .. } => "SEARCH_ABORTED",
            Self::InvalidPattern { .. } => "SEARCH_INVALID_PATTERN",
            Self::Failed { .. } => "SEARCH_FAILED",
        })
    }
}
