//! Replacing literal text in a file.

use dsh_fs::literal_edit::{Edited, LiteralEdit, Piece};
use dsh_fs::{EditOutcome, FsError, FsTarget, FsVersion, text};
use rustix::io::Errno;

use crate::content::{Content, Part};
use crate::folders::Place;
use crate::guard::{self, Verdict};
use crate::open::{Opened, writable};
use crate::publish::{Basis, Manner, Plan, publish};
use crate::scan::Scan;
use crate::work::Work;

/// An edit as it was asked for.
#[derive(Debug)]
pub(crate) struct Edit {
    pub(crate) request: LiteralEdit,
    pub(crate) guard: Option<FsVersion>,
    pub(crate) manner: Manner,
}

impl Edit {
    pub(crate) fn run(&self, target: &FsTarget, work: &Work) -> Result<EditOutcome, FsError> {
        let done = publish(target, &self.manner, work, |place, found| self.decide(place, found, work))?;
        let texts = done.content.into_texts();
        Ok(EditOutcome { version: done.version, texts, durable: done.durable })
    }

    fn decide(&self, place: &Place, found: Option<&Opened>, work: &Work) -> Result<Plan<Edited>, FsError> {
        let changed = || FsError::changed(work.op, &work.display);
        let (Some(found), Some(parent)) = (found, place.parent()) else { return Err(changed()) };
        writable(parent, &place.name, found, work)?;
        let verdict = match &self.guard {
            Some(version) => guard::judge(version, found),
            None => Verdict::Holds,
        };
        if verdict == Verdict::Broken {
            return Err(changed());
        }
        if !found.readable {
            return Err(FsError::permission_denied(work.op, &work.display));
        }

        let (mut scan, mut bytes) = (Scan::new(), Vec::new());
        scan.rest(found, u64::MAX, self.manner.block, &mut bytes, work)?;
        let digest = scan.digest();
        if matches!(verdict, Verdict::IfBytes(expected) if expected != digest) {
            return Err(changed());
        }
        let text = text::decode_owned(bytes).map_err(|why| FsError::not_text(work.op, &work.display, why))?;
        let mut content = self.request.apply(text).map_err(|miss| miss.in_file(&work.display))?;
        content.reserve_texts().map_err(|_| work.os(Errno::NOMEM))?;
        Ok(Plan { content, basis: Basis::Seen(Some(digest)) })
    }
}

impl Content for Edited {
    fn parts(&self) -> Box<dyn Iterator<Item = Part<'_>> + '_> {
        let mut end = 0;
        Box::new(self.pieces().map(move |piece| {
            let start = end;
            end += piece.text().len();
            Part {
                bytes: piece.text().as_bytes(),
                in_place: matches!(piece, Piece::Kept { at, .. } if at == start),
            }
        }))
    }
}
