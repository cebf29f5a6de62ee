//! The next step that helps, added to the two refusals that a read clears.

use std::fmt;

use dsh_plugin::{Coded, Failure};

/// A failure with its remedy. Name and code stay; the original is the source.
#[derive(Debug)]
struct Remedied {
    failure: Failure,
    remedy: &'static str,
}

impl fmt::Display for Remedied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} — {}", self.failure, self.remedy)
    }
}

impl std::error::Error for Remedied {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.failure)
    }
}

impl Coded for Remedied {
    fn name(&self) -> &str {
        self.failure.name()
    }

    fn code(&self) -> Option<&str> {
        self.failure.code()
    }
}

/// Adds the remedy where there is one; everything else passes unchanged.
pub(crate) fn with_remedy(failure: Failure) -> Failure {
    let remedy = match (failure.name(), failure.code()) {
        ("FsError", Some("FS_STALE_VERSION")) => "re-read the file, then retry",
        ("FsError", Some("FS_NOT_OBSERVED")) => "read the file, then retry",
        _ => return failure,
    };
    Remedied { failure, remedy }.into()
}
