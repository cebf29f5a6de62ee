//! Text in chunks: a file of any size in little memory.
//!
//! From the start it is one request whose answer is taken as fast as the caller looks at it. From a resume point it is
//! requests for ranges, each under the condition that the object is still the same: the first one is enough for a window of
//! usual size, and what nobody looks at is not sent.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use dsh_fs::{
    FsCall, FsError, FsOp, FsTarget, FsVersion, NotText, ResumePoint, TextChunk, TextChunks, TextStream, text,
};
use futures_util::TryStreamExt as _;
use futures_util::stream::BoxStream;
use object_store::{Error, GetOptions, GetRange};

use crate::address;
use crate::error::{is_connection, told};
use crate::store::{Store, unless_cancelled};
use crate::version;

/// The pieces of an answer are joined up to about this size; at least [`text::SNIFF_BYTES`].
const BLOCK: usize = 64 * 1024;
/// How much a resumed stream asks for first: more than a window shows.
const FIRST_RANGE: u64 = 256 * 1024;
/// And at most; each range is four times as large as the one before.
const LARGEST_RANGE: u64 = 8 * 1024 * 1024;

/// The text of one object.
struct Chunks {
    source: Source,
    target: FsTarget,
    version: FsVersion,
    call: FsCall,
    /// What was lent last, and behind it what was not: the start of a character.
    block: Vec<u8>,
    lent: usize,
    /// Where in the file `block` begins.
    at: u64,
    /// Were the first bytes of the file looked at, which decide whether it is text, or are they not among these?
    passed_head: bool,
}

/// Where the next bytes come from.
enum Source {
    /// The answer to one request.
    Whole(BoxStream<'static, object_store::Result<Bytes>>),
    /// More requests.
    Ranges(Ranges),
    Ended,
}

/// The rest of an object, in ranges.
struct Ranges {
    store: Arc<Store>,
    path: String,
    e_tag: String,
    /// The range that came with the resume point.
    first: Option<Bytes>,
    from: u64,
    size: u64,
    step: u64,
}

/// A stream of the whole file; where a version is expected, only of that one.
pub(crate) async fn open(
    store: &Store,
    target: &FsTarget,
    expected: Option<&FsVersion>,
    call: &FsCall,
) -> Result<TextStream, FsError> {
    let found = store.must_find(target, FsOp::Read).await?;
    if expected.is_some_and(|expected| !version::holds(expected, &found.meta)) {
        return Ok(TextStream::Changed);
    }
    let version = version::of(&found.meta);
    Ok(Chunks::stream(Source::Whole(found.into_stream()), target, version, call, 0))
}

/// A stream from a place that an earlier read passed.
pub(crate) async fn resume(
    store: &Arc<Store>,
    target: &FsTarget,
    from: &ResumePoint,
    call: &FsCall,
) -> Result<TextStream, FsError> {
    let Some(e_tag) = version::e_tag(&from.version) else { return Ok(TextStream::Changed) };
    // A line begins behind a line ending and nowhere else; and a range that begins with that is never empty.
    let Some(before) = from.offset.checked_sub(1) else {
        return open(store, target, Some(&from.version), call).await;
    };
    let failed = |error| told(FsOp::Read, target.display_path(), error);
    let path = address::path(target);
    let found = match store.find(path, range(e_tag, before, FIRST_RANGE)).await {
        Ok(Some(found)) => found,
        Ok(None) => return Err(FsError::not_found(FsOp::Read, target.display_path())),
        Err(Error::Precondition { .. }) => return Ok(TextStream::Changed),
        Err(error @ (Error::PermissionDenied { .. } | Error::Unauthenticated { .. })) => {
            return Err(failed(error));
        }
        Err(error) if is_connection(&error) => return Err(failed(error)),
        // The range is beyond what is there (416), or the store makes none: a read from the start will tell.
        Err(error) => {
            tracing::warn!(path, %error, "the object store did not make a range");
            return Ok(TextStream::Changed);
        }
    };
    // Not every store heeds the condition of a read.
    if !version::holds(&from.version, &found.meta) {
        return Ok(TextStream::Changed);
    }
    let size = found.meta.size;
    let first = found.bytes().await.map_err(failed)?;
    if first.first() != Some(&b'\n') {
        return Ok(TextStream::Changed);
    }
    let ranges = Ranges {
        store: store.clone(),
        path: path.to_owned(),
        e_tag: e_tag.to_owned(),
        from: before + first.len() as u64,
        first: Some(first.slice(1..)),
        size,
        step: FIRST_RANGE,
    };
    Ok(Chunks::stream(Source::Ranges(ranges), target, from.version.clone(), call, from.offset))
}

/// So many bytes of an object if it is still the same.
fn range(e_tag: &str, from: u64, length: u64) -> GetOptions {
    GetOptions {
        if_match: Some(e_tag.to_owned()),
        range: Some(GetRange::Bounded(from..from.saturating_add(length))),
        ..GetOptions::default()
    }
}

impl Chunks {
    fn stream(source: Source, target: &FsTarget, version: FsVersion, call: &FsCall, at: u64) -> TextStream {
        let (target, call) = (target.clone(), call.clone());
        let chunks =
            Self { source, target, version, call, block: Vec::new(), lent: 0, at, passed_head: at > 0 };
        TextStream::Open(Box::new(chunks))
    }

    /// Takes what was lent out of the block and reads the next bytes behind what is left.
    async fn advance(&mut self) -> Result<(), FsError> {
        self.block.drain(..self.lent);
        self.at += self.lent as u64;
        self.lent = 0;
        let Self { source, block, call, target, .. } = self;
        let failed = |error| told(FsOp::Read, target.display_path(), error);
        while block.len() < BLOCK && !matches!(source, Source::Ended) {
            let next = async { source.next().await.map_err(failed) };
            match unless_cancelled(call, FsOp::Read, next).await? {
                Some(bytes) => block.extend_from_slice(&bytes),
                None => *source = Source::Ended,
            }
        }
        Ok(())
    }

    fn refused(&self, why: NotText) -> FsError {
        FsError::not_text(FsOp::Read, self.target.display_path(), why).with_met(self.version.clone())
    }
}

#[async_trait]
impl TextChunks for Chunks {
    async fn next(&mut self) -> Result<TextChunk<'_>, FsError> {
        self.call.check(FsOp::Read)?;
        self.advance().await?;
        let mut start = 0;
        if !std::mem::replace(&mut self.passed_head, true) {
            text::sniff(&self.block).map_err(|why| self.refused(why))?;
            start = self.block.len() - text::without_bom(&self.block).len();
        }
        let unfinished = match text::decode_block(&self.block[start..]) {
            Ok((_, unfinished)) => unfinished.len(),
            Err(why) => return Err(self.refused(why)),
        };
        self.lent = self.block.len() - unfinished;
        if self.lent == start && matches!(self.source, Source::Ended) {
            return if unfinished == 0 {
                Ok(TextChunk::End(self.version.clone()))
            } else {
                Err(self.refused(NotText::InvalidUtf8))
            };
        }
        // Looked through just now: it is text.
        let text = std::str::from_utf8(&self.block[start..self.lent]).unwrap_or_default();
        Ok(TextChunk::Text { at: self.at + start as u64, text })
    }
}

impl Source {
    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        match self {
            Self::Whole(answer) => answer.try_next().await,
            Self::Ranges(ranges) => ranges.next().await,
            Self::Ended => Ok(None),
        }
    }
}

impl Ranges {
    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        if self.from >= self.size {
            return Ok(None);
        }
        let step = self.step.saturating_mul(4).min(LARGEST_RANGE);
        let Some(found) = self.store.find(&self.path, range(&self.e_tag, self.from, step)).await? else {
            return Err(Error::Precondition {
                path: self.path.clone(),
                source: "the object has gone".into(),
            });
        };
        if found.meta.e_tag.as_ref() != Some(&self.e_tag) {
            return Err(Error::Precondition {
                path: self.path.clone(),
                source: "the object has changed".into(),
            });
        }
        let bytes = found.bytes().await?;
        self.from += bytes.len() as u64;
        self.step = step;
        Ok(Some(bytes))
    }
}
