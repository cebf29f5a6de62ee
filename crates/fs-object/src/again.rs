//! Trying an unguarded mutation again, on what somebody faster has left.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::time::Duration;

use dsh_fs::{FsError, FsOp};
use tokio_util::sync::CancellationToken;

use crate::store::unless;

/// Somebody else was faster so often: there is more writing than any of it can be read.
const MOST: u32 = 100;
const SHORTEST: Duration = Duration::from_millis(2);
const LONGEST: Duration = Duration::from_millis(250);

/// Waits that become longer, and differ between the rivals.
#[derive(Debug, Default)]
pub(crate) struct Again {
    waits: u32,
}

impl Again {
    pub(crate) async fn wait(
        &mut self,
        cancel: &CancellationToken,
        op: FsOp,
        path: &str,
    ) -> Result<(), FsError> {
        self.waits += 1;
        if self.waits > MOST {
            return Err(FsError::io(op, path, "others change the file all the time"));
        }
        let most = SHORTEST.saturating_mul(1 << self.waits.min(10)).min(LONGEST);
        // The keys of the standard library's hasher are random.
        let part = u32::try_from(RandomState::new().hash_one(self.waits) % 1024).unwrap_or_default();
        let wait = most * part / 1024;
        unless(cancel, op, async {
            tokio::time::sleep(wait).await;
            Ok(())
        })
        .await
    }
}
