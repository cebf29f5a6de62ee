//! Creating a file, or replacing it whole.

use std::borrow::Cow;
use std::sync::Arc;

use dsh_fs::digest::Digest;
use dsh_fs::line_endings::{Dress, to_lf};
use dsh_fs::{FsError, FsErrorCode, FsTarget, WriteGuard, WriteOperation, WriteOutcome, text};

use crate::content::{Content, Part};
use crate::folders::Place;
use crate::guard::{self, Verdict};
use crate::open::{Opened, writable};
use crate::publish::{Basis, Manner, Plan, publish};
use crate::scan::Scan;
use crate::work::Work;

/// A whole-file write as it was asked for.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) content: Arc<str>,
    pub(crate) guard: Option<WriteGuard>,
    /// From this many bytes on, on either side, the old text is not kept.
    pub(crate) basis_max: u64,
    pub(crate) manner: Manner,
}

impl Write {
    pub(crate) fn run(&self, target: &FsTarget, work: &Work) -> Result<WriteOutcome, FsError> {
        let done = publish(target, &self.manner, work, |place, found| match found {
            None => self.create(work),
            Some(found) => self.replace(place, found, work),
        })?;
        let NewText { operation, before, .. } = done.content;
        let after = match to_lf(&self.content) {
            Cow::Borrowed(_) => self.content.clone(),
            Cow::Owned(text) => text.into(),
        };
        Ok(WriteOutcome { operation, version: done.version, before, after, durable: done.durable })
    }

    fn create(&self, work: &Work) -> Result<Plan<NewText<'_>>, FsError> {
        if let Some(WriteGuard::ReplaceIfVersion(_)) = self.guard {
            return Err(FsError::gone(&work.display));
        }
        let bytes = Cow::Borrowed(self.content.as_bytes());
        let content = NewText { bytes, operation: WriteOperation::Create, before: None };
        Ok(Plan { content, basis: Basis::Nothing })
    }

    fn replace(&self, place: &Place, found: &Opened, work: &Work) -> Result<Plan<NewText<'_>>, FsError> {
        if let Some(WriteGuard::CreateIfAbsent) = self.guard {
            return Err(FsError::exists(&work.display));
        }
        if let Some(parent) = place.parent() {
            writable(parent, &place.name, found, work)?;
        }
        let (old, basis) = match &self.guard {
            Some(WriteGuard::ReplaceIfVersion(version)) => {
                let verdict = guard::judge(version, found);
                let (old, digest) = match verdict {
                    Verdict::Broken => return Err(FsError::changed(work.op, &work.display)),
                    // The digest is what the file is compared by once more after it was replaced.
                    Verdict::Holds => self.old_bytes(found, found.readable, work)?,
                    Verdict::IfBytes(_) => self.old_bytes(found, true, work)?,
                };
                if matches!(verdict, Verdict::IfBytes(expected) if digest != Some(expected)) {
                    return Err(FsError::changed(work.op, &work.display));
                }
                (old, Basis::Seen(digest))
            }
            _ => match self.old_bytes(found, false, work) {
                Ok((old, _)) => (old, Basis::Nothing),
                Err(aborted) if aborted.code() == FsErrorCode::Aborted => return Err(aborted),
                // The old text is only for showing: what cannot be read can still be replaced.
                Err(_) => (None, Basis::Nothing),
            },
        };
        let decoded = old.as_deref().and_then(|bytes| Some((bytes, text::decode(bytes).ok()?)));
        let dress = decoded.map_or_else(Dress::default, |(bytes, text)| Dress::of(bytes, text));
        let before = decoded.map(|(_, text)| Arc::from(to_lf(text)));
        let bytes = dress.put_on(&self.content);
        Ok(Plan { content: NewText { bytes, operation: WriteOperation::Update, before }, basis })
    }

    /// The old bytes, if both sides are small enough for a diff, and their digest if it was needed or came with them.
    fn old_bytes(
        &self,
        found: &Opened,
        digest_needed: bool,
        work: &Work,
    ) -> Result<(Option<Vec<u8>>, Option<Digest>), FsError> {
        if !found.readable {
            return if digest_needed {
                Err(FsError::permission_denied(work.op, &work.display))
            } else {
                Ok((None, None))
            };
        }
        let mut scan = Scan::new();
        if (self.content.len() as u64) < self.basis_max && found.size() < self.basis_max {
            let mut bytes = Vec::new();
            scan.rest(found, self.basis_max, self.manner.block, &mut bytes, work)?;
            if (bytes.len() as u64) < self.basis_max {
                return Ok((Some(bytes), Some(scan.digest())));
            }
        }
        let digest =
            if digest_needed { scan.digest_rest(found, u64::MAX, self.manner.block, work)? } else { None };
        Ok((None, digest))
    }
}

/// A whole new file, and what is told of the old one.
struct NewText<'a> {
    bytes: Cow<'a, [u8]>,
    operation: WriteOperation,
    before: Option<Arc<str>>,
}

impl Content for NewText<'_> {
    fn parts(&self) -> Box<dyn Iterator<Item = Part<'_>> + '_> {
        Box::new(std::iter::once(Part { bytes: &self.bytes, in_place: false }))
    }
}
