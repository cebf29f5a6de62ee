//! What a glob means: the dialect of ignore files, without their comments and trimmed blanks.
//!
//! A pattern without `/` matches names at any depth; one with a `/` is anchored. `*` and `?` stop at `/`, `**` does not,
//! `{a,b}` alternates, `\` takes the next character literally, a trailing `/` means folders.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use globset::{Error, GlobBuilder, GlobSet, GlobSetBuilder};

/// A pattern for paths relative to some folder.
#[derive(Clone, Debug)]
pub(crate) struct GlobPattern {
    set: GlobSet,
    folders_only: bool,
    anchored: bool,
    /// The folders that every match lies below, one below the other, where they are written out.
    below: Vec<Vec<u8>>,
}

impl GlobPattern {
    /// Fails with what is wrong with it.
    pub(crate) fn parse(pattern: &str) -> Result<Self, String> {
        Self::compile(pattern).map_err(|error| format!("error parsing glob '{pattern}': {}", error.kind()))
    }

    fn compile(pattern: &str) -> Result<Self, Error> {
        let (rest, folders_only) = match pattern.strip_suffix('/') {
            Some(rest) => (rest.strip_suffix('\\').unwrap_or(rest), true),
            None => (pattern, false),
        };
        let anchored = rest.contains('/');
        // `./a` is `/a`: from here.
        let rest = rest.strip_prefix('.').filter(|rest| rest.starts_with('/')).unwrap_or(rest);
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let glob = match (anchored, rest.strip_suffix("/**")) {
            (false, _) if rest == "**" => rest.to_owned(),
            (false, _) => format!("**/{rest}"),
            // What is in the folder, not the folder.
            (true, Some(folder)) => format!("{folder}/**/*"),
            (true, None) => rest.to_owned(),
        };
        let glob = GlobBuilder::new(&glob).literal_separator(true).backslash_escape(true).build()?;
        let set = GlobSetBuilder::new().add(glob).build()?;
        let mut below: Vec<Vec<u8>> = Vec::new();
        if anchored {
            let folders =
                rest.split('/').take_while(|part| !part.contains(['*', '?', '[', '{', '}', ']', '\\']));
            below.extend(folders.map(|part| part.as_bytes().to_vec()));
            below.truncate(rest.split('/').count() - 1);
        }
        Ok(Self { set, folders_only, anchored, below })
    }

    /// Does it say where, not only what?
    pub(crate) fn is_anchored(&self) -> bool {
        self.anchored
    }

    pub(crate) fn matches(&self, path: &[u8], is_folder: bool) -> bool {
        (is_folder || !self.folders_only) && self.set.is_match(Path::new(OsStr::from_bytes(path)))
    }

    /// Can a match lie below this folder?
    pub(crate) fn may_match_below(&self, folder: &[u8]) -> bool {
        folder.split(|&byte| byte == b'/').zip(&self.below).all(|(there, wanted)| there == wanted)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        GlobPattern::parse(pattern).unwrap().matches(path.as_bytes(), false)
    }

    #[test]
    fn without_a_slash_any_depth() {
        for pattern in ["*.py", "main.py", "**/*.py", "m?in.py", "[lm]ain.{py,rs}", "**/main.py", "**"] {
            assert!(matches(pattern, "main.py"), "{pattern}");
            assert!(matches(pattern, "src/app/main.py"), "{pattern}");
        }
        assert!(!matches("main", "main.py"));
        assert!(!matches("app", "src/app/main.py"));
    }

    #[test]
    fn with_a_slash_from_the_root() {
        assert!(matches("/main.py", "main.py"));
        assert!(matches("./main.py", "main.py"));
        assert!(!matches("./main.py", "src/main.py"));
        assert!(matches("./**/main.py", "src/main.py"));
        assert!(GlobPattern::parse("./src/*.py").unwrap().may_match_below(b"src"));
        assert!(!matches("/main.py", "src/main.py"));
        assert!(matches("src/*.py", "src/main.py"));
        assert!(!matches("src/*.py", "src/app/main.py"));
        assert!(matches("src/**/*.py", "src/main.py"));
        assert!(matches("src/**/*.py", "src/a/b/main.py"));
        assert!(matches("src/**", "src/a/b"));
        assert!(!matches("src/**", "src"));
        assert!(!matches("src/*.py", "x/src/main.py"));
    }

    #[test]
    fn what_ignore_files_treat_specially_is_literal() {
        assert!(matches("#x", "a/#x"));
        assert!(matches("x ", "x "));
        assert!(!matches("x ", "x"));
        assert!(matches("\\[slug\\]/p", "[slug]/p"));
        assert!(matches(" lead", " lead"));
    }

    #[test]
    fn a_trailing_slash_means_folders() {
        let pattern = GlobPattern::parse("src/").unwrap();
        assert!(pattern.matches(b"src", true) && pattern.matches(b"a/src", true));
        assert!(!pattern.matches(b"src", false) && !pattern.matches(b"src/a", false));
    }

    #[test]
    fn only_folders_on_the_way_are_entered() {
        let pattern = GlobPattern::parse("src/app/*/x.rs").unwrap();
        for folder in ["src", "src/app", "src/app/a", "src/app/a/b"] {
            assert!(pattern.may_match_below(folder.as_bytes()), "{folder}");
        }
        for folder in ["lib", "src/lib", "app"] {
            assert!(!pattern.may_match_below(folder.as_bytes()), "{folder}");
        }
        assert!(GlobPattern::parse("*.rs").unwrap().may_match_below(b"any/where"));
        assert!(GlobPattern::parse("a.rs").unwrap().may_match_below(b"any/where"));
        assert!(GlobPattern::parse("s\\rc/a.rs").unwrap().may_match_below(b"src"));
        assert!(!GlobPattern::parse("/top.py").unwrap().matches(b"a/top.py", false));
    }

    #[test]
    fn what_is_no_glob_is_refused() {
        for pattern in ["{a", "a[", "a/{b", "[z-a]"] {
            assert!(GlobPattern::parse(pattern).is_err(), "{pattern}");
        }
    }
}
