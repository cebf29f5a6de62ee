//! Which files each session has read: their paths, nothing of what is in them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dsh_fs::{FsTarget, Owner};

/// The most files, of all sessions together, that are remembered.
const MOST_FILES: usize = 1024;

/// The files, those read last first.
#[derive(Debug, Default)]
pub(crate) struct ReadPaths(Mutex<VecDeque<(Owner, FsTarget)>>);

impl ReadPaths {
    /// Remembers that the session knows the file.
    pub(crate) fn remember(&self, owner: Owner, file: &FsTarget) {
        let mut paths = self.lock();
        paths.retain(|(other, target)| !(other.is_gone() || *other == owner && target.key() == file.key()));
        paths.push_front((owner, file.clone()));
        paths.truncate(MOST_FILES);
    }

    /// The session's other files whose last component is the same, at most `most`.
    pub(crate) fn of_same_name(&self, owner: &Owner, file: &FsTarget, most: usize) -> Vec<FsTarget> {
        let paths = self.lock();
        let own = paths.iter().filter(|(other, _)| other == owner).map(|(_, target)| target);
        let others = own.filter(|target| target.key() != file.key() && base_name(target) == base_name(file));
        others.take(most).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Owner, FsTarget)>> {
        // Whatever a panic leaves, each entry is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn base_name(file: &FsTarget) -> &str {
    let path = file.display_path();
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
