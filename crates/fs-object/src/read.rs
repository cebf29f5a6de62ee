//! Reading a file whole. The version is that of the very answer that held the bytes.

use bytes::BytesMut;
use dsh_fs::{BytesRead, FsError, FsOp, FsTarget, TextRead, text};
use futures_util::TryStreamExt as _;

use crate::error::told;
use crate::store::Store;
use crate::version;

/// The most memory that is taken on the mere word of a store.
const MOST_AT_FIRST: u64 = 8 * 1024 * 1024;

pub(crate) async fn text(store: &Store, target: &FsTarget) -> Result<TextRead, FsError> {
    let BytesRead { bytes, version } = bytes(store, target, u64::MAX).await?;
    match text::decode(&bytes) {
        Ok(text) if text.len() == bytes.len() => {
            // Just decoded: it is text.
            Ok(TextRead { text: String::from_utf8(bytes).unwrap_or_default(), version })
        }
        Ok(text) => Ok(TextRead { text: text.to_owned(), version }),
        Err(why) => Err(FsError::not_text(FsOp::Read, target.display_path(), why).with_met(version)),
    }
}

pub(crate) async fn bytes(store: &Store, target: &FsTarget, max: u64) -> Result<BytesRead, FsError> {
    let found = store.must_find(target, FsOp::Read).await?;
    let (size, version) = (found.meta.size, version::of(&found.meta));
    if size > max {
        return Err(FsError::too_large(target.display_path(), size, max));
    }
    let mut all = BytesMut::with_capacity(usize::try_from(size.min(MOST_AT_FIRST)).unwrap_or_default());
    let mut blocks = found.into_stream();
    let failed = |error| told(FsOp::Read, target.display_path(), error);
    while let Some(block) = blocks.try_next().await.map_err(failed)? {
        all.extend_from_slice(&block);
        // A store that sends more than it has announced is not believed.
        if all.len() as u64 > max {
            return Err(FsError::grew_too_large(target.display_path(), max));
        }
    }
    Ok(BytesRead { bytes: all.into(), version })
}
