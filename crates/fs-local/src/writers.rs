//! Programs that have a file open for writing while it is being replaced.
//!
//! An exchange takes a file's name away, not the descriptors of those who are writing it: what they write after the
//! last look goes into the old file and is lost with it. The kernel tells whether there are such descriptors when it is
//! asked for a read lease, which it grants only where there are none. Once the name is taken away no new ones appear,
//! so a file that nobody has open for writing, and that then has the right bytes, is final.
//!
//! Most writers are done within microseconds, so they are waited for. One that keeps the file open, like a program
//! with a log, is not waited for in vain: its next write goes into the old file, as the crate's documentation says.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::thread::sleep;
use std::time::{Duration, Instant};

use dsh_fs::FsError;

use crate::work::Work;

/// `F_SETSIG` of `<linux/fcntl.h>`, the same on every architecture; `libc` has it for some only.
const F_SETSIG: libc::c_int = 10;

const FIRST_PAUSE: Duration = Duration::from_micros(30);
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// How long one replacement waits for writers, all in all.
#[derive(Debug)]
pub(crate) struct Writers {
    left: Duration,
}

impl Writers {
    pub(crate) fn new() -> Self {
        Self { left: Duration::from_millis(40) }
    }

    /// Waits until nobody has `file`, which is open for reading, open for writing, or patience is at its end. Did it
    /// wait? Then what was known of the file may be out of date.
    pub(crate) fn wait(&mut self, file: BorrowedFd<'_>, work: &Work) -> Result<bool, FsError> {
        let start = Instant::now();
        let mut pause = FIRST_PAUSE;
        while is_open_for_writing(file) {
            let left = self.left.saturating_sub(start.elapsed());
            if left.is_zero() {
                break;
            }
            work.check()?;
            sleep(pause.min(left));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.left = self.left.saturating_sub(start.elapsed());
        Ok(pause > FIRST_PAUSE)
    }
}

/// Has somebody a file open for writing that we have open for reading? Where this cannot be told (the file is another
/// user's, the file system has no leases), the answer is no.
#[expect(unsafe_code, reason = "no safe wrapper of leases is at hand")]
fn is_open_for_writing(file: BorrowedFd<'_>) -> bool {
    let file = file.as_raw_fd();
    // SAFETY: `fcntl` with these commands takes integers, and the descriptor is open as long as it is borrowed.
    unsafe {
        // Should somebody open the file by another name while we have the lease, we are told by a signal: one that
        // is ignored unless asked for, instead of SIGIO, which ends the process.
        if libc::fcntl(file, F_SETSIG, libc::SIGURG) != 0 {
            return false;
        }
        if libc::fcntl(file, libc::F_SETLEASE, libc::F_RDLCK) == 0 {
            libc::fcntl(file, libc::F_SETLEASE, libc::F_UNLCK);
            return false;
        }
    }
    std::io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)
}

#[cfg(test)]
mod tests;
