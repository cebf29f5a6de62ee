//! The log of a session on disk: a file of JSON lines, whole to the last line whatever becomes of the process.
//!
//! A line is one `write` to a file opened for appending, so that neither a process that is killed nor another one that
//! writes to the same file leaves half a line before a whole one. What is torn all the same (a full disk, a power cut) is
//! closed by a newline before the next line, and readers pass it over.
//!
//! The only module of this crate that opens files beside the spill store.
#![expect(clippy::disallowed_methods, reason = "logs are the harness's own files, not the workspace's")]

use std::fs::{DirBuilder, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use serde::Serialize;
use serde_json::json;

use crate::file_name::{decoded, encoded};
use crate::recorded::{Line, RecordedEvent, START};
use crate::session::SessionHeader;
use crate::spill_local::random_hex;

const OPEN: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// The folder with the logs of sessions: `<id>.jsonl` for each, mode 0600.
///
/// In ids, UTF-16 units outside `A-Z a-z 0-9 . _ -` are written as `~XXXX`. Nothing is ever removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFolder {
    path: PathBuf,
}

impl StateFolder {
    /// The folder at `path`, which need not be there yet.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the folder, and those above it, with mode 0700, if it is not there.
    pub fn make(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.path)
    }

    /// The file of a session.
    pub fn log_of(&self, session: &str) -> PathBuf {
        self.path.join(format!("{}.jsonl", encoded(session)))
    }

    /// The ids of the sessions that have a log, in order.
    pub fn sessions(&self) -> io::Result<Vec<String>> {
        let mut ids = Vec::new();
        for entry in std::fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            ids.extend(name.to_str().and_then(|name| decoded(name.strip_suffix(".jsonl")?)));
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// The events of a session, all its runs one after another, oldest first.
    pub fn read(&self, session: &str) -> io::Result<RecordedEvents> {
        let file = File::from(open(self.log_of(session), OFlags::RDONLY.union(OPEN), Mode::empty())?);
        Ok(RecordedEvents { lines: BufReader::new(file), line: Vec::new(), torn: 0 })
    }
}

/// Reads a log line by line; see [`StateFolder::read`].
#[derive(Debug)]
pub struct RecordedEvents {
    lines: BufReader<File>,
    line: Vec<u8>,
    torn: usize,
}

impl RecordedEvents {
    /// How many lines were passed over so far, because they are not whole.
    pub fn torn(&self) -> usize {
        self.torn
    }
}

impl Iterator for RecordedEvents {
    type Item = io::Result<RecordedEvent>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.line.clear();
            match self.lines.read_until(b'\n', &mut self.line) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
            // Without its newline the last line is not whole, even if it looks so.
            let whole = self.line.ends_with(b"\n");
            match serde_json::from_slice(&self.line) {
                Ok(event) if whole => return Some(Ok(event)),
                _ => self.torn += 1,
            }
        }
    }
}

/// The file of one session object.
#[derive(Debug)]
pub(crate) struct LogFile {
    path: PathBuf,
    header: SessionHeader,
    /// Tells this session object's events from those of others with the same id.
    run: String,
    /// Opened at the first event.
    file: Option<File>,
    /// The file may end in the middle of a line.
    torn: bool,
    /// That events are lost was said, and is not said again until one was written.
    complained: bool,
}

impl LogFile {
    pub(crate) fn new(folder: &StateFolder, header: &SessionHeader) -> Self {
        Self {
            path: folder.log_of(&header.id),
            header: header.clone(),
            run: random_hex(),
            file: None,
            torn: false,
            complained: false,
        }
    }

    /// Adds an event. A log that cannot be written is no reason to fail a call: that is told once, on the process's log.
    pub(crate) fn append(&mut self, seq: u64, kind: &str, data: &impl Serialize) {
        match self.try_append(seq, kind, data) {
            Ok(()) => self.complained = false,
            Err(error) if !self.complained => {
                self.complained = true;
                tracing::warn!("cannot write the session log {}: {error}", self.path.display());
            }
            Err(_) => {}
        }
    }

    fn try_append(&mut self, seq: u64, kind: &str, data: &impl Serialize) -> io::Result<()> {
        let mut lines = Vec::new();
        let mut file = if let Some(file) = self.file.take() {
            file
        } else {
            let mut file = self.open()?;
            self.torn = ends_torn(&mut file)?;
            let SessionHeader { id, cwd } = &self.header;
            self.line(&mut lines, 0, START, &json!({ "id": id, "cwd": cwd.to_string_lossy() }))?;
            file
        };
        if self.torn {
            lines.insert(0, b'\n');
        }
        self.line(&mut lines, seq, kind, data)?;
        let written = file.write_all(&lines);
        self.torn = written.is_err();
        self.file = Some(file);
        written
    }

    fn line(&self, lines: &mut Vec<u8>, seq: u64, kind: &str, data: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut *lines, &Line::now(&self.run, seq, kind, data))?;
        lines.push(b'\n');
        Ok(())
    }

    fn open(&self) -> io::Result<File> {
        let flags = OFlags::RDWR.union(OFlags::CREATE).union(OFlags::APPEND).union(OPEN);
        let file = File::from(open(&self.path, flags, Mode::RUSR.union(Mode::WUSR))?);
        if file.metadata()?.is_file() {
            return Ok(file);
        }
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }
}

fn ends_torn(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}
