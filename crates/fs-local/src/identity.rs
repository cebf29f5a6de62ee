//! Versions of files on this disk: how their tokens are written, read and compared. Nothing else knows the form.
//!
//! A token is `<digest>;<identity>@<clock>` from a read or a mutation, `<identity>@<clock>` from `stat` or a listing.
//! The identity is `<device>:<inode>:<size>:<mtime>:<ctime>`; times and clock are nanoseconds since 1970, decimal.

use std::fmt;
use std::os::fd::AsFd;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dsh_fs::FsVersion;
use dsh_fs::digest::Digest;
use rustix::fs::{Stat, fstat};

/// How long a file must have been left alone before its identity proves anything, in nanoseconds. Two changes within
/// one tick of the kernel's clock can leave the same ctime; ticks are 10 ms at most on a local disk, and a second or
/// two on some network and FAT file systems.
const SETTLED: i128 = 2_000_000_000;

/// What a file was by its metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    dev: u64,
    ino: u64,
    size: u64,
    mtime: i128,
    ctime: i128,
}

impl Identity {
    fn of(stat: &Stat) -> Self {
        Self {
            dev: stat.st_dev,
            ino: stat.st_ino,
            size: size(stat),
            mtime: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            ctime: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
        }
    }
}

impl Identity {
    /// An exchange changes the ctime and nothing else.
    pub(crate) fn same_but_for_ctime(&self, other: &Self) -> bool {
        Self { ctime: other.ctime, ..*self } == *other
    }
}

/// Which file it is, whatever is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    dev: u64,
    ino: u64,
}

impl FileId {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self { dev: stat.st_dev, ino: stat.st_ino }
    }
}

/// An identity and the clock of the moment it was looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sighting {
    pub(crate) identity: Identity,
    clock: i128,
}

impl Sighting {
    /// Looks at an open file.
    pub(crate) fn of(file: impl AsFd) -> rustix::io::Result<(Self, Stat)> {
        Self::from_stat(|| fstat(file))
    }

    /// The clock is read first: if the thread is held up in between, the file only looks younger than it is, and
    /// younger proves less.
    pub(crate) fn from_stat(
        stat: impl FnOnce() -> rustix::io::Result<Stat>,
    ) -> rustix::io::Result<(Self, Stat)> {
        let clock = now();
        let stat = stat()?;
        Ok((Self { identity: Identity::of(&stat), clock }, stat))
    }

    /// A sighting that proves nothing and matches no file.
    pub(crate) fn unknown() -> Self {
        Self { identity: Identity { dev: 0, ino: 0, size: 0, mtime: 0, ctime: 0 }, clock: 0 }
    }

    /// Had the file been left alone long enough when it was seen, so that any later change shows in its identity?
    /// A ctime ahead of the clock is young.
    pub(crate) fn settled(&self) -> bool {
        self.clock - self.identity.ctime >= SETTLED
    }

    /// Does this sighting prove that the file, as it is seen now, has not changed since?
    pub(crate) fn proves(&self, now: &Self) -> bool {
        self.settled() && self.identity == now.identity
    }
}

/// A version as this backend reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) digest: Option<Digest>,
    pub(crate) seen: Sighting,
}

impl Token {
    /// `None` for what this backend did not write.
    pub(crate) fn parse(version: &FsVersion) -> Option<Self> {
        let (digest, seen) = match version.token().split_once(';') {
            Some((digest, seen)) => (Some(Digest::parse(digest)?), seen),
            None => (None, version.token()),
        };
        Some(Self { digest, seen: seen.parse().ok()? })
    }

    pub(crate) fn version(self) -> FsVersion {
        match self.digest {
            Some(digest) => FsVersion::new(format!("{digest};{}", self.seen)),
            None => FsVersion::new(self.seen.to_string()),
        }
    }
}

impl fmt::Display for Sighting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Identity { dev, ino, size, mtime, ctime } = self.identity;
        write!(f, "{dev}:{ino}:{size}:{mtime}:{ctime}@{}", self.clock)
    }
}

impl FromStr for Sighting {
    type Err = NotOurs;

    fn from_str(text: &str) -> Result<Self, NotOurs> {
        fn number<T: FromStr>(text: Option<&str>) -> Result<T, NotOurs> {
            text.and_then(|digits| digits.parse().ok()).ok_or(NotOurs)
        }
        let (identity, clock) = text.split_once('@').ok_or(NotOurs)?;
        let mut fields = identity.split(':');
        let identity = Identity {
            dev: number(fields.next())?,
            ino: number(fields.next())?,
            size: number(fields.next())?,
            mtime: number(fields.next())?,
            ctime: number(fields.next())?,
        };
        if fields.next().is_some() {
            return Err(NotOurs);
        }
        Ok(Self { identity, clock: number(Some(clock))? })
    }
}

/// The text is not a token of this backend.
#[derive(Debug)]
pub(crate) struct NotOurs;

/// The size in bytes. (The kernel never reports a negative one.)
pub(crate) fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

/// When the content changed last; `None` where the clock said something out of its range.
pub(crate) fn modified(stat: &Stat) -> Option<SystemTime> {
    let since = nanoseconds(stat.st_mtime, stat.st_mtime_nsec);
    let distance = Duration::from_nanos(u64::try_from(since.unsigned_abs()).ok()?);
    if since < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) }
}

#[allow(
    clippy::unnecessary_fallible_conversions,
    reason = "the width of the fields differs between platforms"
)]
fn nanoseconds(seconds: impl Into<i128>, nanoseconds: impl Into<i128>) -> i128 {
    seconds.into() * 1_000_000_000 + nanoseconds.into()
}

fn now() -> i128 {
    // A clock before 1970 makes every file young, which is the safe side.
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i128::try_from(since.as_nanos()).ok())
        .unwrap_or(0)
}
