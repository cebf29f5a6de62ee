//! Does a version still hold?

use dsh_fs::FsVersion;
use dsh_fs::digest::Digest;

use crate::identity::Token;
use crate::open::Opened;

/// What metadata alone can say about a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It does not hold, whatever the bytes are.
    Broken,
    /// It holds: the file has not changed since it was seen.
    Holds,
    /// It holds exactly if the file has these bytes; nothing else matters.
    IfBytes(Digest),
}

/// Judges `version` against the file that is there now.
///
/// A version without a digest holds only where the identity is proof: it is the same, and the file had been left
/// alone when it was seen. A version that this backend did not make holds never.
pub(crate) fn judge(version: &FsVersion, found: &Opened) -> Verdict {
    match Token::parse(version) {
        Some(Token { digest: Some(digest), .. }) => Verdict::IfBytes(digest),
        Some(Token { digest: None, seen }) if seen.proves(&found.seen) => Verdict::Holds,
        _ => Verdict::Broken,
    }
}
