//! The steps of a publication, observable: tests and proofs act exactly between two of them.

use std::fmt;
use std::sync::Arc;

/// A moment in a publication, named after the step that is just over.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The folder is held and locked.
    Locked,
    /// The target was looked at and the change was decided.
    Judged,
    /// The stage is complete, dressed and synced.
    Staged,
    /// The target was looked at once more; the next system call publishes.
    Rechecked,
    /// Stage and target have changed places.
    Exchanged,
    /// What came out was looked at; it is removed or given back next.
    Looked,
    /// They have changed places once more, to give a stranger's file back.
    GivenBack,
    /// The change is in place.
    Published,
}

/// Who is told of each step.
#[derive(Clone, Default)]
pub(crate) struct Steps(Option<Arc<Observer>>);

type Observer = dyn Fn(Step) + Send + Sync;

impl Steps {
    pub(crate) fn told_to(observer: impl Fn(Step) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observer)))
    }

    pub(crate) fn at(&self, step: Step) {
        if let Some(observer) = &self.0 {
            observer(step);
        }
    }
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Steps(observed)" } else { "Steps" })
    }
}
