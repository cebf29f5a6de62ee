//! Which paths may be read: the settings `readRoots` and `deny`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_fs::ReadRules;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::fold;

/// Read rules over absolute paths.
///
/// A path may be read if the place where it leads is a read root or below one (any place, where there are no roots), and
/// neither the place nor the path as written, nor a folder above either, matches a `deny` pattern. Patterns are those of `.gitignore`, with four differences:
///
/// * a pattern that begins with `/` is matched on the whole absolute path; every other one matches at any depth, also one
///   with a `/` in the middle, as if it began with `**/`;
/// * letters match without case and in any Unicode form, because file systems may fold both; `?` and `[…]` stand for ASCII
///   characters; a name matches also without the dots and spaces at its end, and without a `:` and what follows it;
/// * `{a,b}` is an alternative;
/// * refused are patterns that do not mean what they seem to: `!`, `~` or `$` at the start, blank patterns, and `..`.
///
/// As there, `*` stops at a `/`, `**` does not, `\` escapes, and a pattern that ends in `/` means folders only. What is below
/// a denied folder is denied.
#[derive(Clone, Debug)]
pub struct PathRules {
    roots: Vec<Arc<Path>>,
    deny: Deny,
}

#[derive(Clone, Debug)]
struct Deny {
    anything: GlobSet,
    folders: GlobSet,
}

/// A `deny` pattern that cannot be a rule.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// It begins with `!`.
    #[error("deny pattern \"{0}\" is negated; list only what must not be read")]
    Negated(String),
    /// It begins with `~` or `$`, which only a shell replaces.
    #[error(
        "deny pattern \"{0}\" is not expanded; write the whole path, or \"\\{0}\" for a name that begins so"
    )]
    Unexpanded(String),
    /// It holds nothing but slashes and dots, or climbs with `..`.
    #[error("deny pattern \"{0}\" can match no path")]
    Empty(String),
    /// It is not a glob.
    #[error("deny pattern \"{pattern}\" is not a glob: {source}")]
    Glob {
        /// The pattern as given.
        pattern: String,
        /// What is wrong with it.
        source: globset::Error,
    },
}

impl PathRules {
    /// Rules from absolute, canonical read roots (none: every place) and deny patterns; `None` if there are neither.
    pub fn new(roots: impl IntoIterator<Item = PathBuf>, deny: &[String]) -> Result<Option<Self>, RuleError> {
        let roots: Vec<Arc<Path>> = roots.into_iter().map(Arc::from).collect();
        if roots.is_empty() && deny.is_empty() {
            return Ok(None);
        }
        let (mut anything, mut folders) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let glob_error = |pattern: &str, source| RuleError::Glob { pattern: pattern.to_owned(), source };
        for pattern in deny {
            let (glob, folder) = glob_of(pattern)?;
            let glob = GlobBuilder::new(&glob)
                .literal_separator(true)
                .backslash_escape(true)
                .build()
                .map_err(|error| glob_error(pattern, error))?;
            if folder {
                folders.add(glob)
            } else {
                anything.add(glob)
            };
        }
        let build = |set: GlobSetBuilder| set.build().map_err(|error| glob_error(&deny.join(", "), error));
        let deny = Deny { anything: build(anything)?, folders: build(folders)? };
        Ok(Some(Self { roots, deny }))
    }

    /// The folder beneath which a path that may be read is to be opened: the read root that holds it, or `/` where there are none.
    pub fn root_of(&self, path: &Path) -> Arc<Path> {
        let holding = self.roots.iter().find(|root| path.starts_with(root));
        // For a path outside all roots the first one: nothing can then be opened, which is what such a path deserves.
        holding.or(self.roots.first()).map_or_else(|| Arc::from(Path::new("/")), Arc::clone)
    }

    /// May what lies at this place be read by the path as written? A link may be denied whatever it leads to.
    pub(crate) fn permits_both(&self, place: &Path, shown: &str, is_folder: bool) -> bool {
        self.permits(place, is_folder) && self.permits_name(Path::new(shown), is_folder)
    }
}

impl ReadRules for PathRules {
    fn permits(&self, path: &Path, is_folder: bool) -> bool {
        let inside = self.roots.is_empty() || self.roots.iter().any(|root| path.starts_with(root));
        inside && !self.deny.denies(path, is_folder)
    }

    fn permits_name(&self, name: &Path, is_folder: bool) -> bool {
        !self.deny.denies(name, is_folder)
    }
}

impl Deny {
    fn denies(&self, path: &Path, is_folder: bool) -> bool {
        let path = fold::text(&path.to_string_lossy());
        if self.matches(&path, is_folder) {
            return true;
        }
        let names: Vec<_> = path.split('/').map(fold::cut).collect();
        let names = names.join("/");
        names != path && self.matches(&names, is_folder)
    }

    /// Is the folded path denied, or a folder above it?
    fn matches(&self, path: &str, is_folder: bool) -> bool {
        let ends = path.char_indices().filter(|(at, letter)| *letter == '/' && *at > 0).map(|(at, _)| at);
        let above = ends.map(|end| (&path[..end], true));
        above
            .chain([(path, is_folder)])
            .any(|(path, folder)| self.anything.is_match(path) || (folder && self.folders.is_match(path)))
    }
}

/// The glob of a pattern, folded as paths are, and whether it means folders only.
fn glob_of(pattern: &str) -> Result<(String, bool), RuleError> {
    if pattern.starts_with('!') {
        return Err(RuleError::Negated(pattern.to_owned()));
    }
    if pattern.starts_with(['~', '$']) {
        return Err(RuleError::Unexpanded(pattern.to_owned()));
    }
    let segments: Vec<&str> =
        pattern.split('/').filter(|segment| !segment.is_empty() && *segment != ".").collect();
    if segments.iter().all(|segment| segment.trim().is_empty()) || segments.contains(&"..") {
        return Err(RuleError::Empty(pattern.to_owned()));
    }
    let start = if pattern.starts_with('/') { "/" } else { "**/" };
    let glob = format!("{start}{}", segments.join("/"));
    Ok((fold::text(&glob), pattern.ends_with('/')))
}

/// Splits a pattern for whole paths before its first segment that is not literal.
pub(crate) fn literal_head(pattern: &str) -> Option<(&str, &str)> {
    let special = pattern.find(['*', '?', '[', ']', '{', '}', '\\']);
    let end = special.map_or(pattern.len(), |at| pattern[..at].rfind('/').unwrap_or_default());
    let head = pattern[..end].trim_end_matches('/');
    head.starts_with('/').then(|| (head, &pattern[head.len()..]))
}

/// The pattern that matches this path alone.
pub(crate) fn literal(path: &str) -> String {
    let escape = |letter| matches!(letter, '*' | '?' | '[' | ']' | '{' | '}' | '\\').then_some('\\');
    path.chars().flat_map(|letter| escape(letter).into_iter().chain([letter])).collect()
}

/// The rules of a fence and those of the backend inside it: both must permit.
pub(crate) struct Both(pub(crate) Arc<dyn ReadRules>, pub(crate) Arc<dyn ReadRules>);

impl ReadRules for Both {
    fn permits(&self, path: &Path, is_folder: bool) -> bool {
        self.0.permits(path, is_folder) && self.1.permits(path, is_folder)
    }

    fn permits_name(&self, name: &Path, is_folder: bool) -> bool {
        self.0.permits_name(name, is_folder) && self.1.permits_name(name, is_folder)
    }
}
