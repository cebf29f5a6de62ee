//! Our other processes: one mutation in a folder at a time, across all of them.
//!
//! The lock is `flock` on the folder itself, so nothing is left behind when a process is killed, and it is on a
//! descriptor that was opened for this mutation alone, so it also holds between two threads of one process.

use std::os::fd::AsFd;
use std::thread::sleep;
use std::time::{Duration, Instant};

use dsh_fs::FsError;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::work::Work;

/// How long one mutation waits for other processes, all its attempts together.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The kernel has no wait that can be cancelled, so we ask again and again: soon at first, because a mutation takes
/// a few milliseconds, and never so seldom that others, who ask as often, would keep us out.
const FIRST_PAUSE: Duration = Duration::from_micros(250);
const LONGEST_PAUSE: Duration = Duration::from_millis(8);

/// Locks a folder that is open for reading, until that descriptor is closed. Takes the time it waits off `patience`.
///
/// Did it have to wait? Best effort: where the file system knows no such locks, nothing is locked.
pub(crate) fn lock(folder: impl AsFd, patience: &mut Duration, work: &Work) -> Result<bool, FsError> {
    let start = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                let waited = pause > FIRST_PAUSE;
                *patience = patience.saturating_sub(start.elapsed());
                return Ok(waited);
            }
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) => {
                let left = patience.saturating_sub(start.elapsed());
                if left.is_zero() {
                    return Err(FsError::io(
                        work.op,
                        &work.display,
                        "the folder is locked by another process",
                    ));
                }
                sleep(pause.min(left));
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            // Network file systems that map it to locks which need a descriptor for writing, and those without any.
            Err(error) => {
                tracing::debug!(path = ?work.display, %error, "the folder could not be locked");
                return Ok(false);
            }
        }
        work.check()?;
    }
}
