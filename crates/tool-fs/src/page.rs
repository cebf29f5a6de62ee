//! Getting a window out of a file: with a stream where the file is large, and from the middle where an earlier read has been
//! there.

use std::sync::Arc;

use dsh_fs::{
    FileSystem, FsCall, FsError, FsErrorCode, FsOp, FsTarget, FsVersion, TextChunk, TextStream, Turns,
};
use dsh_harness::Reporter;

use crate::line_index::{LineIndex, LineIndexes, LineMarker};
use crate::seen_blocks::BlockScan;
use crate::window::{WindowLimits, WindowScan};

/// What was read of a file.
pub(crate) struct Page {
    pub(crate) window: WindowScan,
    /// What the window is from.
    pub(crate) version: FsVersion,
    /// The whole file in blocks, where they were asked for and the whole file was read.
    pub(crate) blocks: Option<BlockScan>,
}

/// Reads windows of files, and keeps what it learns of large ones.
pub(crate) struct Pages {
    fs: Arc<dyn FileSystem>,
    indexes: LineIndexes,
    /// One scan of a file at a time.
    scans: Turns,
}

impl Pages {
    pub(crate) fn new(fs: Arc<dyn FileSystem>) -> Self {
        Self { fs, indexes: LineIndexes::default(), scans: Turns::default() }
    }

    /// The window of a small file, which is read whole.
    pub(crate) async fn of_small(
        &self,
        target: &FsTarget,
        limits: WindowLimits,
        mut blocks: Option<BlockScan>,
        call: &FsCall,
    ) -> Result<Page, FsError> {
        let read = self.fs.read_text(target, call).await?;
        let mut window = WindowScan::new(limits);
        window.push(&read.text);
        if let Some(blocks) = &mut blocks {
            blocks.push(&read.text);
        }
        Ok(Page { window, version: read.version, blocks })
    }

    /// The window of a large file. A scan that takes its time is reported on.
    pub(crate) async fn of_large(
        &self,
        target: &FsTarget,
        limits: WindowLimits,
        mut blocks: Option<BlockScan>,
        report: &Reporter,
        call: &FsCall,
    ) -> Result<Page, FsError> {
        if let Some(page) = self.known(target, limits, call).await? {
            return Ok(page);
        }
        // Of many who ask for one file at once, one scans it; the others wait and go on from what it has learnt.
        let Some(_turn) = call.cancel.run_until_cancelled(self.scans.of(target.key())).await else {
            return Err(FsError::aborted(FsOp::Read));
        };
        if let Some(page) = self.known(target, limits, call).await? {
            return Ok(page);
        }
        let TextStream::Open(mut chunks) = self.fs.stream_text(target, None, call).await? else {
            let what = "the backend says that it changed since it was read, but it was not";
            return Err(FsError::io(FsOp::Read, target.display_path(), what));
        };
        let (mut window, mut marker) = (WindowScan::new(limits), LineMarker::new());
        let mut pulse = report.pulse();
        let version = loop {
            match chunks.next().await? {
                TextChunk::Text { at, text } => {
                    marker.push(at, text, &mut window);
                    let mebibytes = at >> 20;
                    #[expect(clippy::cast_precision_loss, reason = "no file has 2^53 bytes")]
                    pulse.beat(at as f64, None, || format!("{mebibytes} MiB read"));
                    if let Some(blocks) = &mut blocks {
                        blocks.push(text);
                    }
                }
                TextChunk::End(version) => break version,
            }
        };
        self.indexes.keep(target.key(), marker.finish(version.clone(), window.lines_begun()));
        Ok(Page { window, version, blocks })
    }

    /// The window of a file whose index holds.
    async fn known(
        &self,
        target: &FsTarget,
        limits: WindowLimits,
        call: &FsCall,
    ) -> Result<Option<Page>, FsError> {
        let Some(index) = self.indexes.get(target.key()) else { return Ok(None) };
        match self.resumed(target, &index, limits, call).await {
            Ok(Some(window)) => Ok(Some(Page { window, version: index.version().clone(), blocks: None })),
            Err(failure) if failure.code() != FsErrorCode::StaleVersion => Err(failure),
            // It is another file by now, or becoming one.
            Ok(None) | Err(_) => {
                self.indexes.forget(&index);
                Ok(None)
            }
        }
    }

    /// The window, read from the last marked line before it; `None` if the file may have changed.
    async fn resumed(
        &self,
        target: &FsTarget,
        index: &LineIndex,
        limits: WindowLimits,
        call: &FsCall,
    ) -> Result<Option<WindowScan>, FsError> {
        let total = index.total_lines();
        let (line, from) = index.before(limits.offset.min(total));
        let TextStream::Open(mut chunks) = self.fs.stream_text(target, Some(&from), call).await? else {
            return Ok(None);
        };
        let mut window = WindowScan::resumed(limits, line, total);
        while !window.is_full()
            && let TextChunk::Text { text, .. } = chunks.next().await?
        {
            window.push(text);
        }
        Ok(Some(window))
    }
}
