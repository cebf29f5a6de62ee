//! What has happened in a session, for those who must know it later: in memory and bounded, and on disk where that is
//! wanted.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::Value as Json;

use crate::log_file::LogFile;

/// How many events are kept.
const MOST_EVENTS: usize = 1024;

/// Bytes of a caller's text that are kept with an event.
const MOST_TEXT: usize = 1024;

/// One event of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct LogEvent {
    /// Its number in the session, from 1, without gaps.
    pub seq: u64,
    /// What kind of event it is, such as `tool/call`.
    pub kind: String,
    /// What is to be known of it.
    pub data: Json,
}

/// The events of a session in the order in which they were appended.
///
/// The latest 1024 are kept, and of each kind the last one, however old. Kinds are few: they are words of the program, never
/// of a caller. Of a [recorded](crate::Session::recorded) session each event is also a line in its file before `append` comes
/// back; there the events of calls have arguments, contents and metadata too.
#[derive(Debug, Default)]
pub struct SessionLog {
    kept: Mutex<Kept>,
    is_recorded: bool,
}

#[derive(Debug, Default)]
struct Kept {
    events: VecDeque<LogEvent>,
    last: HashMap<String, Json>,
    appended: u64,
    file: Option<LogFile>,
}

impl SessionLog {
    pub(crate) fn kept_in(file: LogFile) -> Self {
        Self { kept: Mutex::new(Kept { file: Some(file), ..Kept::default() }), is_recorded: true }
    }

    /// Adds an event, and gives its number.
    pub fn append(&self, kind: &str, data: Json) -> u64 {
        self.append_event(kind, data, None::<&Json>)
    }

    /// The same, with all there is to know of it for the file.
    pub(crate) fn append_whole<W: Serialize>(
        &self,
        kind: &str,
        data: Json,
        whole: impl FnOnce() -> W,
    ) -> u64 {
        let whole = self.is_recorded.then(whole);
        self.append_event(kind, data, whole.as_ref())
    }

    fn append_event(&self, kind: &str, data: Json, whole: Option<&impl Serialize>) -> u64 {
        let mut kept = self.lock();
        kept.appended += 1;
        let seq = kept.appended;
        if let Some(file) = &mut kept.file {
            // Under the lock, so that the lines are in the order of their numbers.
            match whole {
                Some(whole) => file.append(seq, kind, whole),
                None => file.append(seq, kind, &data),
            }
        }
        if kept.events.len() == MOST_EVENTS {
            kept.events.pop_front();
        }
        kept.last.insert(kind.to_owned(), data.clone());
        kept.events.push_back(LogEvent { seq, kind: kind.to_owned(), data });
        seq
    }

    /// The data of the last event of this kind.
    pub fn last(&self, kind: &str) -> Option<Json> {
        self.lock().last.get(kind).cloned()
    }

    /// The latest events, the oldest first.
    pub fn events(&self) -> Vec<LogEvent> {
        self.lock().events.iter().cloned().collect()
    }

    // No foreign code runs under the lock, so a poisoned one is as good as new.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an event keeps of a text that may be as long as its caller likes.
pub(crate) fn short(text: &str) -> &str {
    let mut end = text.len().min(MOST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
