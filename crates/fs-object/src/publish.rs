//! Publishing: one conditional put, and what to make of an answer that is none.
//!
//! The store decides: it creates where nothing is, or replaces just the object that was read. A refusal can be false: the
//! client tries again when an answer is lost, and the second try meets the first one's object. So after every refusal, and
//! after every failure that leaves the outcome open, the object is looked at for the name of the write ([`crate::trail`]).
//! Where it is not there and the object is still the one that was read, the put is made again under the same condition:
//! then the first one, should it still be on its way, can be applied only if somebody restores the very bytes that were read,
//! in a store whose tags are digests of them. In such a store somebody may also put two texts by turns, so that each try is
//! refused and each look finds what was read: that is being late, not an open outcome.

use std::time::Duration;

use bytes::Bytes;
use dsh_fs::{FsError, FsOp, FsVersion};
use object_store::{Attributes, Error, GetOptions, ObjectMeta, PutMode, PutOptions};

use crate::error::{in_doubt, told};
use crate::store::Store;
use crate::trail::{Applied, WriteName};
use crate::version;

/// How often a put is made before its outcome stays open.
const TRIES: u32 = 5;
/// How long the second try waits; each further one twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(20);

/// What a put replaces.
pub(crate) struct Before {
    pub(crate) meta: ObjectMeta,
    pub(crate) attributes: Attributes,
}

/// What came of a put.
pub(crate) enum Published {
    /// The object holds the new bytes, or held them until somebody replaced them.
    As(FsVersion),
    /// Somebody was faster.
    Late(Now),
}

/// What is there instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Now {
    Something,
    Nothing,
}

/// What a look at the object says of a put without an answer.
enum Look {
    Published(Published),
    /// It was not applied, as far as can be seen.
    NotYet,
}

impl Store {
    /// Puts `bytes` in the place of `before`, or where nothing is. Not cancelled: from here on the outcome counts.
    pub(crate) async fn publish(
        &self,
        path: &str,
        bytes: Bytes,
        before: Option<&Before>,
        op: FsOp,
    ) -> Result<Published, FsError> {
        let key = self.address.key(path).map_err(|error| told(op, path, error))?;
        let name = WriteName::new();
        let options = PutOptions {
            mode: before.map_or(PutMode::Create, |before| PutMode::Update(version::condition(&before.meta))),
            attributes: name.on(before.map_or(&Attributes::new(), |before| &before.attributes)),
            ..PutOptions::default()
        };
        let mut wait = FIRST_WAIT;
        let mut only_refused = before.is_some();
        for attempt in 1.. {
            let error = match self.objects.put_opts(&key, bytes.clone().into(), options.clone()).await {
                Ok(result) => {
                    self.seen.something_at(path);
                    return Ok(Published::As(version::put(&result)));
                }
                Err(error) => error,
            };
            // An earlier try may still be on its way, whatever a later one is told.
            let is_final = is_final(&error);
            if is_final && attempt == 1 {
                return Err(told(op, path, error));
            }
            only_refused &= matches!(error, Error::Precondition { .. });
            match self.look(path, &name, before).await {
                Ok(Look::Published(published)) => return Ok(published),
                Ok(Look::NotYet) if attempt < TRIES && !is_final => {}
                // Refused each time, so another object stood there; and no try is known to be on its way.
                Ok(Look::NotYet) if only_refused => return Ok(Published::Late(Now::Something)),
                Ok(Look::NotYet) | Err(_) => return Err(in_doubt(op, path, error)),
            }
            tokio::time::sleep(wait).await;
            wait *= 2;
        }
        Ok(Published::Late(Now::Something))
    }

    async fn look(&self, path: &str, name: &WriteName, before: Option<&Before>) -> Result<Look, Error> {
        let head = GetOptions { head: true, ..GetOptions::default() };
        let Some(found) = self.find(path, head).await? else {
            // A conflict with something that never came, or that has gone again.
            return Ok(before.map_or(Look::NotYet, |_| Look::Published(Published::Late(Now::Nothing))));
        };
        Ok(match name.found_in(&found.attributes) {
            Applied::Last => Look::Published(Published::As(version::of(&found.meta))),
            Applied::Passed => Look::Published(Published::As(version::passed())),
            Applied::Unknown
                if before.is_some_and(|before| version::of(&before.meta) == version::of(&found.meta)) =>
            {
                Look::NotYet
            }
            Applied::Unknown => Look::Published(Published::Late(Now::Something)),
        })
    }
}

/// Does the failure say for certain that this try put nothing, and that no other will?
fn is_final(error: &Error) -> bool {
    matches!(
        error,
        Error::PermissionDenied { .. }
            | Error::Unauthenticated { .. }
            | Error::InvalidPath { .. }
            | Error::NotImplemented { .. }
            | Error::NotSupported { .. }
    )
}
