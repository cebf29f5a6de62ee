//! The walk for leftovers: everything below a folder, in the order of names, no link followed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::leftover::{Kind, Leftover};

/// What a walk met.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) leftovers: Vec<Leftover>,
    /// Folders that could not be read, and why.
    pub(super) skipped: Vec<(PathBuf, io::Error)>,
}

impl Found {
    pub(super) fn add(&mut self, other: Self) {
        self.leftovers.extend(other.leftovers);
        self.skipped.extend(other.skipped);
    }
}

/// Walks. What cannot be looked at is told, and the rest is looked at all the same.
pub(super) fn walk(folder: &Path, young: Duration) -> Found {
    let mut found = Found::default();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            // Removed while we walked.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                found.skipped.push((folder, error));
                continue;
            }
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        let mut below = Vec::new();
        for entry in entries {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => below.push(path),
                Ok(kind) if kind.is_file() && Kind::of(&path).is_some() => {
                    // An error: it is gone, which is what becomes of most stage files.
                    found.leftovers.extend(Leftover::look(&path, young).ok().flatten());
                }
                _ => {}
            }
        }
        // The last one is taken first.
        folders.extend(below.into_iter().rev());
    }
    found
}
