//! The three `fs/*` events: what the tools ask and tell, so that a policy need not be known to them.
//!
//! The tools dispatch them; a backend never does. Each intent is one slot: the first listener that answers without
//! running its `next` decides. Listeners that only wish to watch belong to `tools/execute` of the harness.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

use dsh_plugin::{Event, Waterfall};

use crate::{FsTarget, FsVersion, WriteGuard};

/// Who makes a call, as far as the file system's policies may know.
pub trait Actor: Send + Sync {
    /// The session on whose behalf the call is made, by object identity: two sessions with one id are two owners.
    /// `None` for a call outside any session.
    fn owner(&self) -> Option<Owner>;
}

/// An owner of observations: an object, whatever it is. Held weakly, so that what is remembered of a session ends with
/// it. Two owners are equal if they are the same object, however they were made.
#[derive(Clone)]
pub struct Owner(Weak<dyn Any + Send + Sync>);

impl Owner {
    /// The object as an owner.
    pub fn of<T: Any + Send + Sync>(object: &Arc<T>) -> Self {
        let weak: Weak<T> = Arc::downgrade(object);
        Self(weak)
    }

    /// The object, if it is a `T` and still exists.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.upgrade()?.downcast().ok()
    }

    /// Has the object ceased to exist? Its address is not given to another one before this handle goes too.
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }

    /// The address alone: two handles to one object that were made in different places may differ in the rest of a
    /// wide pointer.
    fn address(&self) -> *const () {
        self.0.as_ptr().cast()
    }
}

impl PartialEq for Owner {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for Owner {}

impl Hash for Owner {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Owner({:p})", self.address())
    }
}

/// What a tool is about to do, and for whom.
#[derive(Clone)]
pub struct Intent {
    /// The file.
    pub target: FsTarget,
    /// Who asks; `None` for direct use without a harness.
    pub actor: Option<Arc<dyn Actor>>,
}

impl fmt::Debug for Intent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Intent").field("target", &self.target).finish_non_exhaustive()
    }
}

/// `fs/write-intent`: may this file be written whole, and under which guard? `None`: nobody cares.
#[derive(Debug)]
pub struct WriteIntent;

impl Waterfall for WriteIntent {
    const NAME: &'static str = "fs/write-intent";
    type Args = Intent;
    type Answer = Option<WriteGuard>;
    const ONE_DECIDES: bool = true;
}

/// `fs/edit-intent`: may this file be edited, and which version must it still have? `None`: nobody cares.
#[derive(Debug)]
pub struct EditIntent;

impl Waterfall for EditIntent {
    const NAME: &'static str = "fs/edit-intent";
    type Args = Intent;
    type Answer = Option<FsVersion>;
    const ONE_DECIDES: bool = true;
}

/// What is now known of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FsObservation {
    /// It exists, in this version.
    Present(FsVersion),
    /// It does not exist.
    Absent,
}

/// Arguments of [`Observed`].
#[derive(Clone)]
pub struct Observation {
    /// The file.
    pub target: FsTarget,
    /// What is now known of it.
    pub observation: FsObservation,
    /// Who learned it.
    pub actor: Option<Arc<dyn Actor>>,
}

impl fmt::Debug for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observation")
            .field("target", &self.target)
            .field("observation", &self.observation)
            .finish_non_exhaustive()
    }
}

/// `fs/observed`: a tool has read, written or edited a file, or found that it is not there.
///
/// Listeners are synchronous recorders: when they hear of a mutation it has already happened.
#[derive(Debug)]
pub struct Observed;

impl Event for Observed {
    const NAME: &'static str = "fs/observed";
    type Args = Observation;
}
