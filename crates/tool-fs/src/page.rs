//! Getting a window out of a file: with a stream where the file is large, and from the middle where an earlier read has been
//! there.

use std::sync::Arc;

use dsh_fs::{FileSystem, FsCall, FsError, FsErrorCode, FsOp, FsTarget, FsVersion, TextChunk, TextStream};

use crate::line_index::{LineIndex, LineIndexes, LineMarker};
use crate::window::{WindowLimits, WindowScan};

/// Reads windows of files, and keeps what it learns of large ones.
pub(crate) struct Pages {
    fs: Arc<dyn FileSystem>,
    indexes: LineIndexes,
}

impl Pages {
    pub(crate) fn new(fs: Arc<dyn FileSystem>) -> Self {
        Self { fs, indexes: LineIndexes::default() }
    }

    /// The window of a small file, which is read whole.
    pub(crate) async fn of_small(
        &self,
        target: &FsTarget,
        limits: WindowLimits,
        call: &FsCall,
    ) -> Result<(WindowScan, FsVersion), FsError> {
        let read = self.fs.read_text(target, call).await?;
        let mut window = WindowScan::new(limits);
        window.push(&read.text);
        Ok((window, read.version))
    }

    /// The window of a large file.
    pub(crate) async fn of_large(
        &self,
        target: &FsTarget,
        limits: WindowLimits,
        call: &FsCall,
    ) -> Result<(WindowScan, FsVersion), FsError> {
        if let Some(index) = self.indexes.get(target.key()) {
            match self.resumed(target, &index, limits, call).await {
                Ok(Some(window)) => return Ok((window, index.version().clone())),
                Err(failure) if failure.code() != FsErrorCode::StaleVersion => return Err(failure),
                // It is another file by now, or becoming one.
                Ok(None) | Err(_) => self.indexes.forget(&index),
            }
        }
        let TextStream::Open(mut chunks) = self.fs.stream_text(target, None, call).await? else {
            let what = "the backend says that it changed since it was read, but it was not";
            return Err(FsError::io(FsOp::Read, target.display_path(), what));
        };
        let (mut window, mut marker) = (WindowScan::new(limits), LineMarker::new());
        let version = loop {
            match chunks.next().await? {
                TextChunk::Text { at, text } => marker.push(at, text, &mut window),
                TextChunk::End(version) => break version,
            }
        };
        self.indexes.keep(target.key(), marker.finish(version.clone(), window.lines_begun()));
        Ok((window, version))
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
