//! The probe: does the store keep the conditions of writes, and the metadata of objects?
//!
//! A store that answers a condition with success and heeds it not, or not always, would lose what agents write, silently.
//! So it is tried out on an object that no tool shows: created twice, replaced by several at once under one version, and
//! replaced under one that has passed. And a store that drops metadata would have a write whose answer was lost told as late.

use dsh_fs::leftovers::{STAGE_LETTER_COUNT, STAGE_PREFIX};
use dsh_fs::{FsError, FsErrorCode, FsOp};
use futures_util::future::join_all;
use object_store::path::Path as Key;
use object_store::{
    Attributes, Error, GetOptions, ObjectStoreExt as _, PutMode, PutOptions, PutResult, UpdateVersion,
};

use crate::error::told;
use crate::store::Store;
use crate::trail::{Applied, WriteName, letters};

/// How many replace the object at once.
const RIVALS: usize = 4;

impl Store {
    /// Refuses a store that does not keep its conditions or its metadata. Nine requests.
    pub(crate) async fn probe(&self) -> Result<(), FsError> {
        let name = format!("/{STAGE_PREFIX}{}", letters(STAGE_LETTER_COUNT));
        let failed = |error| told(FsOp::Write, &name, error);
        let key = self.address.key(&name).map_err(failed)?;
        let write = WriteName::new();
        let attributes = write.on(&Attributes::new());
        let options = PutOptions { mode: PutMode::Create, attributes, ..PutOptions::default() };
        let first = self.objects.put_opts(&key, "first".into(), options).await.map_err(failed)?;
        let judged = self.lacks(&key, &write, first).await;
        // It may be ours no longer only if somebody else chose the same twelve letters.
        let removed = self.objects.delete(&key).await;
        match (judged, removed) {
            (Ok(None), Ok(())) => Ok(()),
            (Ok(Some(what)), _) => Err(FsError::new(
                FsErrorCode::IoError,
                format!("the object store does not keep {what}; nothing would be safe there"),
            )),
            (Err(error), _) | (Ok(None), Err(error)) => Err(failed(error)),
        }
    }

    /// What the store does not keep, if anything.
    async fn lacks(&self, key: &Key, write: &WriteName, first: PutResult) -> Result<Option<String>, Error> {
        let head = GetOptions { head: true, ..GetOptions::default() };
        let found = self.objects.get_opts(key, head).await?;
        if write.found_in(&found.attributes) != Applied::Last {
            return Ok(Some("the metadata of objects".to_owned()));
        }
        Ok(self.judge(key, first).await?.map(|why| format!("the conditions of writes ({why})")))
    }

    /// How the store passes over its conditions, if it does.
    async fn judge(&self, key: &Key, first: PutResult) -> Result<Option<&'static str>, Error> {
        let under = UpdateVersion::from(first);
        if under.e_tag.is_none() && under.version.is_none() {
            return Ok(Some("it tells no versions"));
        }
        if !is_refused(self.put(key, "again", PutMode::Create).await)? {
            return Ok(Some("it creates what is there"));
        }
        let rivals = (0..RIVALS).map(|rival| {
            let (text, mode) = (format!("rival {rival}"), PutMode::Update(under.clone()));
            async move { self.put(key, &text, mode).await }
        });
        let mut replaced = 0;
        for answer in join_all(rivals).await {
            replaced += usize::from(!is_refused(answer)?);
        }
        match replaced {
            1 => {}
            // Answers were lost on the way.
            0 => return Err(Error::Generic { store: "probe", source: "no replacement was answered".into() }),
            _ => return Ok(Some("it makes several replacements of one version")),
        }
        let late = self.put(key, "late", PutMode::Update(under)).await;
        Ok((!is_refused(late)?).then_some("it replaces what has changed"))
    }

    async fn put(&self, key: &Key, text: &str, mode: PutMode) -> Result<PutResult, Error> {
        let options = PutOptions { mode, ..PutOptions::default() };
        self.objects.put_opts(key, text.to_owned().into(), options).await
    }
}

fn is_refused(answer: Result<PutResult, Error>) -> Result<bool, Error> {
    match answer {
        Ok(_) => Ok(false),
        Err(Error::Precondition { .. } | Error::AlreadyExists { .. } | Error::NotModified { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}
