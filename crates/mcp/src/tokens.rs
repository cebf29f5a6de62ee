//! Bearer tokens: who may come in, and into which sessions and workspaces.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::who;

/// The fewest characters of a token. Whoever guesses 16 random ones has other means.
const SHORTEST: usize = 16;

/// The tokens that open the door. They are kept as digests, and compared without telling by the time it takes how much of
/// one was right.
#[derive(Debug, Clone)]
pub struct Tokens {
    entries: Vec<Entry>,
}

#[derive(Clone)]
struct Entry {
    digest: [u8; 32],
    rights: Arc<Rights>,
}

/// What the bearer of a token may use. An empty list: everything.
#[derive(Debug, Default)]
pub(crate) struct Rights {
    sessions: Vec<Pattern>,
    workspaces: Vec<Pattern>,
}

/// A name, or all names that begin so.
#[derive(Debug, PartialEq, Eq)]
enum Pattern {
    Exactly(String),
    Prefix(String),
}

/// What is wrong with a token file. The message tells the line, never the token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TokensError(String);

impl Tokens {
    /// Reads a token file. A line is a token (16 characters or more, no spaces) and, after it, what it may be used for:
    /// `session=NAME` and `workspace=NAME`, as often as you like; a NAME that ends in `*` stands for all that begin so,
    /// and `workspace=.` for the folder of sessions that name none. A token without `session=` may use all sessions, one
    /// without `workspace=` all workspaces. A `session=` that no session's name can fit is refused. Blank lines and lines that begin with `#` are skipped; at least one token has to
    /// be there.
    pub fn parse(text: &str) -> Result<Self, TokensError> {
        let mut entries: Vec<Entry> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let wrong = |what: &str| TokensError(format!("line {number}: {what}"));
            let mut words = line.split_whitespace();
            let Some(token) = words.next().filter(|word| !word.starts_with('#')) else { continue };
            if token.len() < SHORTEST {
                return Err(wrong(&format!("a token has {SHORTEST} characters or more")));
            }
            let digest = Sha256::digest(token).into();
            if entries.iter().any(|entry| entry.digest == digest) {
                return Err(wrong("this token was there before"));
            }
            let mut rights = Rights::default();
            for word in words {
                let (patterns, name) = match word.split_once('=') {
                    Some(("session", name)) if !name.is_empty() => {
                        let begins = name.strip_suffix('*').unwrap_or(name);
                        if !begins.is_empty() {
                            who::valid(begins)
                                .map_err(|why| wrong(&format!("\"{word}\" fits nothing: {why}")))?;
                        }
                        (&mut rights.sessions, name)
                    }
                    Some(("workspace", name)) if !name.is_empty() => (&mut rights.workspaces, name),
                    _ => {
                        return Err(wrong("after the token only session=NAME and workspace=NAME can follow"));
                    }
                };
                patterns.push(Pattern::new(name));
            }
            entries.push(Entry { digest, rights: Arc::new(rights) });
        }
        if entries.is_empty() {
            return Err(TokensError("there is no token in it".to_owned()));
        }
        Ok(Self { entries })
    }

    /// What the bearer of this token may use. All tokens are looked at, each to its end.
    pub(crate) fn rights(&self, given: &str) -> Option<Arc<Rights>> {
        let given: [u8; 32] = Sha256::digest(given).into();
        let mut found = None;
        for entry in &self.entries {
            let differing = entry.digest.iter().zip(given).fold(0, |all, (a, b)| all | (a ^ b));
            if std::hint::black_box(differing) == 0 {
                found = Some(entry.rights.clone());
            }
        }
        found
    }
}

impl Rights {
    /// May this session be used?
    pub(crate) fn session(&self, id: &str) -> bool {
        self.sessions.is_empty() || self.sessions.iter().any(|pattern| pattern.fits(id))
    }

    /// May calls be made that belong to no session, in the folder of sessions that name no workspace?
    pub(crate) fn no_session(&self) -> bool {
        self.sessions.is_empty() && self.workspace(None)
    }

    /// May a session be begun in this workspace? `None`: the one of sessions that name none.
    pub(crate) fn workspace(&self, name: Option<&str>) -> bool {
        let name = name.unwrap_or(".");
        self.workspaces.is_empty() || self.workspaces.iter().any(|pattern| pattern.fits(name))
    }

    /// A name for a session whose client has none; `None` where the token allows no free choice.
    pub(crate) fn fresh_session(&self) -> Option<String> {
        let prefix = match self.sessions.iter().find(|pattern| matches!(pattern, Pattern::Prefix(_))) {
            Some(Pattern::Prefix(prefix)) => prefix,
            None if self.sessions.is_empty() => "s-",
            _ => return None,
        };
        // Nobody can foresee it: where there are no tokens the name is what opens the session.
        Some(format!("{prefix}{}", Uuid::new_v4().simple()))
    }
}

impl Pattern {
    fn new(word: &str) -> Self {
        match word.strip_suffix('*') {
            Some(prefix) => Self::Prefix(prefix.to_owned()),
            None => Self::Exactly(word.to_owned()),
        }
    }

    fn fits(&self, name: &str) -> bool {
        match self {
            Self::Exactly(exactly) => exactly == name,
            Self::Prefix(prefix) => name.starts_with(prefix),
        }
    }
}

/// Without the digest: it could be tried out elsewhere.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("rights", &self.rights).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use super::*;

    const FILE: &str = "\
# two people
aaaaaaaaaaaaaaaaaaaa
bbbbbbbbbbbbbbbbbbbb session=bob session=bob-* workspace=site
";

    #[test]
    fn a_token_alone_opens_everything() {
        let rights = Tokens::parse(FILE).unwrap().rights("aaaaaaaaaaaaaaaaaaaa").unwrap();
        assert!(rights.session("any") && rights.workspace(Some("any")) && rights.no_session());
        assert!(rights.fresh_session().unwrap().starts_with("s-"));
    }

    #[test]
    fn a_token_is_bound_to_what_follows_it() {
        let rights = Tokens::parse(FILE).unwrap().rights("bbbbbbbbbbbbbbbbbbbb").unwrap();
        assert_eq!(
            ["bob", "bob-2", "bobby", "alice"].map(|id| rights.session(id)),
            [true, true, false, false]
        );
        let workspaces = [Some("site"), Some("site2"), None].map(|name| rights.workspace(name));
        assert_eq!((workspaces, rights.no_session()), ([true, false, false], false));
        assert!(rights.fresh_session().unwrap().starts_with("bob-"));
    }

    #[test]
    fn no_other_token_opens_anything() {
        let tokens = Tokens::parse(FILE).unwrap();
        for other in
            ["", "aaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaab", "# two people"]
        {
            assert!(tokens.rights(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_file_that_is_wrong_says_the_line_and_not_the_token() {
        let why = |text| Tokens::parse(text).unwrap_err().to_string();
        assert_eq!(why("\n# none\n"), "there is no token in it");
        assert_eq!(why("\nsecret"), "line 2: a token has 16 characters or more");
        assert_eq!(
            why("aaaaaaaaaaaaaaaaaaaa user=x"),
            "line 1: after the token only session=NAME and workspace=NAME can follow"
        );
        assert_eq!(
            why("aaaaaaaaaaaaaaaaaaaa\naaaaaaaaaaaaaaaaaaaa session=b"),
            "line 2: this token was there before"
        );
    }

    #[test]
    fn a_session_that_cannot_be_named_is_refused() {
        let parse = |name: &str| Tokens::parse(&format!("aaaaaaaaaaaaaaaaaaaa session={name}"));
        for name in ["*", "a", "a-*", &"x".repeat(128)] {
            assert!(parse(name).is_ok(), "{name}");
        }
        for name in ["a/*", "a*b", "**", "\u{e9}", &"x".repeat(129)] {
            let why = format!(
                "line 1: \"session={name}\" fits nothing: a session's name is made of letters, digits, \".\", \"_\" and \
                 \"-\", 128 at most"
            );
            assert_eq!(parse(name).unwrap_err().to_string(), why);
        }
    }

    #[test]
    fn names_that_are_made_up_differ() {
        let rights = Rights::default();
        assert_ne!(rights.fresh_session(), rights.fresh_session());
    }
}
