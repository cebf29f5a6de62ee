//! Folders: nothing but a beginning that keys share. There is one where there is an object below it.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use dsh_fs::{FsError, FsOp};
use futures_util::future::{self, try_join};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::{Error, GetOptions};

use crate::address;
use crate::error::told;
use crate::store::Store;

/// How many folders are remembered.
const REMEMBERED: usize = 10_000;
/// How many looks at the folders of one path go out at once.
const AT_ONCE: usize = 16;

/// The folders that something was seen in, so that not every new file costs looks at all that is above it.
///
/// A folder whose last object has gone stays remembered: a file may then be created below what has become a file. That does
/// no harm to either, and a store permits it.
#[derive(Debug, Default)]
pub(crate) struct Seen(Mutex<HashSet<String>>);

impl Seen {
    /// Something is at this path: what is above it is folders.
    pub(crate) fn something_at(&self, path: &str) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for folder in address::folders(path) {
            if seen.contains(folder) {
                break;
            }
            if seen.len() >= REMEMBERED {
                seen.clear();
            }
            seen.insert(folder.to_owned());
        }
    }

    fn unseen<'p>(&self, path: &'p str) -> Vec<&'p str> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        address::folders(path).take_while(|folder| !seen.contains(*folder)).collect()
    }
}

impl Store {
    /// Is there an object below this path? One request, however many there are. The top is a folder without one.
    pub(crate) async fn is_folder(&self, path: &str) -> Result<bool, Error> {
        if path == "/" {
            return Ok(true);
        }
        let key = self.address.key(path)?;
        let is_folder = self.objects.list(Some(&key)).next().await.transpose()?.is_some();
        if is_folder {
            self.seen.something_at(&address::below(path, "something"));
        }
        Ok(is_folder)
    }

    /// Refuses a new file where a folder is, or below a file. The looks go out together, as many as [`AT_ONCE`].
    pub(crate) async fn must_be_free(&self, path: &str, op: FsOp) -> Result<(), FsError> {
        let unseen = self.seen.unseen(path);
        let looks: Vec<_> = unseen.into_iter().map(|folder| self.is_file(folder)).collect();
        let files = stream::iter(looks)
            .buffered(AT_ONCE)
            .try_fold(false, |found, is_file| future::ready(Ok(found || is_file)));
        let (is_folder, is_below_file) =
            try_join(self.is_folder(path), files).await.map_err(|error| told(op, path, error))?;
        if is_folder {
            return Err(FsError::not_regular_file(op, path));
        }
        if is_below_file {
            return Err(FsError::parent_not_directory(path));
        }
        Ok(())
    }

    async fn is_file(&self, path: &str) -> Result<bool, Error> {
        let head = GetOptions { head: true, ..GetOptions::default() };
        match self.objects.get_opts(&self.address.key(path)?, head).await {
            Ok(_) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
