//! What the tools have to answer: what `rg` answers, and the decided differences applied to it.
//!
//! Nothing is explained away afterwards: each difference says what the answer is instead. One that changes nothing in a
//! call is not counted, so that a count means that it was seen.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde_json::Value as Json;

use crate::prove::ripgrep::calls::Call;
use crate::prove::ripgrep::rg::{Asked, Matches, RawPath, Refusal, Rg, below};

/// The table, for readers and for this proof.
const TABLE: &str = include_str!("../../../../testdata/search-differences.json");

/// A file is text if no NUL stands in this many bytes at its start.
const LOOKED_AT: usize = 8192;

/// A decided difference, as the table names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Row {
    NulLate,
    NulEarly,
    NameEscaped,
    Leftovers,
    GlobOfAFile,
    GlobRelativeToPath,
    GlobHashOrBlank,
    GlobNewline,
    GlobDotSlash,
    GlobRefused,
    GrepVersionControl,
    NamedLink,
    RulesAbove,
}

impl Row {
    pub(crate) const ALL: [Self; 13] = [
        Self::NulLate,
        Self::NulEarly,
        Self::NameEscaped,
        Self::Leftovers,
        Self::GlobOfAFile,
        Self::GlobRelativeToPath,
        Self::GlobHashOrBlank,
        Self::GlobNewline,
        Self::GlobDotSlash,
        Self::GlobRefused,
        Self::GrepVersionControl,
        Self::NamedLink,
        Self::RulesAbove,
    ];

    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::NulLate => "nul-late",
            Self::NulEarly => "nul-early",
            Self::NameEscaped => "name-escaped",
            Self::Leftovers => "leftovers",
            Self::GlobOfAFile => "glob-of-a-file",
            Self::GlobRelativeToPath => "glob-relative-to-path",
            Self::GlobHashOrBlank => "glob-hash-or-blank",
            Self::GlobNewline => "glob-newline",
            Self::GlobDotSlash => "glob-dot-slash",
            Self::GlobRefused => "glob-refused",
            Self::GrepVersionControl => "grep-version-control",
            Self::NamedLink => "named-link",
            Self::RulesAbove => "rules-above",
        }
    }
}

/// Fails unless the table and the rows here are the same.
pub(crate) fn table_is_complete() -> anyhow::Result<()> {
    let table: Json = serde_json::from_str(TABLE).context("the table of differences is not JSON")?;
    let rows = table.as_array().context("the table of differences is no list")?;
    let written: Vec<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
    let known = Row::ALL.map(Row::id);
    ensure!(written == known, "the table of differences has {written:?}, the proof knows {known:?}");
    Ok(())
}

/// What is expected of a call.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) answer: Answer,
    /// The differences that were seen.
    pub(crate) rows: BTreeSet<Row>,
}

/// What a call finds, in terms of what a model sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Paths, each with its matching lines.
    Lines(BTreeMap<String, Vec<(u64, String)>>),
    Paths(BTreeSet<String>),
    /// The arguments were refused.
    Refused,
    /// The pattern was.
    BadPattern,
    /// There was nothing to search.
    Failed,
}

/// Asks `rg`, and applies what was decided.
pub(crate) fn expected(call: &Call, rg: &Rg<'_>) -> anyhow::Result<Expected> {
    let mut rows = BTreeSet::new();
    let globs = if call.tool == "glob" { Some(&call.pattern) } else { call.include.as_ref() };
    let climbs = call.tool == "glob" && call.pattern.split('/').any(|part| part == "..");
    let answer = if climbs || globs.is_some_and(|glob| is_refused(glob)) {
        rows.insert(Row::GlobRefused);
        Answer::Refused
    } else if call.path.as_ref().is_some_and(|path| !rg.cwd.join(path).exists()) {
        // Whatever the pattern is; `rg` would tell of that first.
        Answer::Failed
    } else if call.tool == "grep" {
        lines(grep(call, rg, &mut rows)?, rg.cwd, &mut rows)
    } else {
        paths(glob(call, rg, &mut rows)?, rg.cwd, &mut rows)
    };
    Ok(Expected { answer, rows })
}

/// Negated, or a list.
fn is_refused(glob: &str) -> bool {
    let mut depth = 0_usize;
    let list = glob.chars().any(|character| {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    });
    glob.starts_with('!') || list
}

/// What was found below an absolute path, under the path that was typed.
fn renamed(found: &[u8], absolute: &Path, typed: &str) -> RawPath {
    let found = Path::new(OsStr::from_bytes(found));
    let rest = found.strip_prefix(absolute).unwrap_or(found);
    if rest.as_os_str().is_empty() {
        return typed.as_bytes().to_vec();
    }
    below(Some(typed), rest.as_os_str().as_bytes())
}

fn grep(call: &Call, rg: &Rg<'_>, rows: &mut BTreeSet<Row>) -> anyhow::Result<Asked<Matches>> {
    let (plain, typed) = (call.include.as_deref(), call.path.as_deref());
    let mut found = match rg.grep(&call.pattern, plain, typed.map(Path::new), &[])? {
        Ok(found) => found,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let meant = plain.map(literal);
    let include = meant.as_deref();
    if include != plain {
        let meant = rg.grep(&call.pattern, include, typed.map(Path::new), &[])?.unwrap_or_default();
        seen(reading(plain), &found, &meant, rows);
        found = meant;
    }
    let found: Matches = found.into_iter().map(|(path, lines)| (below(None, &path), lines)).collect();
    let ask = |path: Option<&Path>, more: &[&str]| -> anyhow::Result<Matches> {
        let found = rg.grep(&call.pattern, include, path, more)?.unwrap_or_default();
        let (Some(path), Some(typed)) = (path, typed) else { return Ok(found) };
        Ok(found.into_iter().map(|(found, lines)| (renamed(&found, path, typed), lines)).collect())
    };
    let (mut found, mut asked) = (found, None);
    if let Some(typed) = typed {
        // Without `./` in it, which would hide rules from `rg` again.
        let absolute: PathBuf = rg.cwd.join(typed).components().collect();
        let there = ask(Some(&absolute), &[])?;
        seen(Row::RulesAbove, &found, &there, rows);
        let real = absolute.canonicalize()?;
        found = if real == absolute { there.clone() } else { ask(Some(&real), &[])? };
        seen(Row::NamedLink, &there, &found, rows);
        asked = Some(real);
    }
    // Files with a NUL as they would be without the rule of ripgrep.
    let whole = ask(asked.as_deref(), &["--text"])?;
    let named = typed.is_some_and(|path| rg.cwd.join(path).is_file());
    let mut expected = Matches::new();
    let all: BTreeSet<&RawPath> = found.keys().chain(whole.keys()).collect();
    for path in all {
        if is_kept_from_grep(path, call.path.as_deref()) {
            rows.insert(Row::GrepVersionControl);
            continue;
        }
        if !named && is_leftover(path) {
            rows.insert(Row::Leftovers);
            continue;
        }
        let (theirs, ours) = (found.get(path), whole.get(path));
        let lines = match nul(&rg.cwd.join(OsStr::from_bytes(path)))? {
            Some(at) if at >= LOOKED_AT => {
                seen(Row::NulLate, &theirs, &ours, rows);
                ours
            }
            Some(_) if !named => {
                seen(Row::NulEarly, &theirs, &None, rows);
                None
            }
            _ => theirs,
        };
        if let Some(lines) = lines {
            expected.insert(path.clone(), lines.clone());
        }
    }
    Ok(Ok(expected))
}

/// Notes a difference that changes something.
fn seen<T: PartialEq + ?Sized>(row: Row, theirs: &T, ours: &T, rows: &mut BTreeSet<Row>) {
    if theirs != ours {
        rows.insert(row);
    }
}

fn glob(call: &Call, rg: &Rg<'_>, rows: &mut BTreeSet<Row>) -> anyhow::Result<Asked<BTreeSet<RawPath>>> {
    let path = call.path.as_deref();
    let theirs = match rg.glob(&call.pattern, path.map(Path::new))? {
        Ok(theirs) => theirs,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let at = path.map_or_else(|| rg.cwd.to_owned(), |path| rg.cwd.join(path));
    let there = Rg { cwd: &at, ..rg.clone() };
    let mut paths = if at.is_file() {
        let expected = if matches_file(rg, &at, &call.pattern)? { theirs.clone() } else { BTreeSet::new() };
        seen(Row::GlobOfAFile, &theirs, &expected, rows);
        expected
    } else if path.is_some_and(is_in_version_control) {
        theirs
    } else {
        below_path(rg, &there, path, &call.pattern, rows)?
    };
    let before = paths.len();
    paths.retain(|path| !is_leftover(path));
    seen(Row::Leftovers, &before, &paths.len(), rows);
    Ok(Ok(paths))
}

/// Relative to the folder of a file, or to the workspace.
fn matches_file(rg: &Rg<'_>, file: &Path, pattern: &str) -> anyhow::Result<bool> {
    let name = file.file_name().context("a file has no name")?;
    let from_workspace: PathBuf = file.strip_prefix(rg.cwd).unwrap_or(file).components().collect();
    if is_in_version_control(&from_workspace.to_string_lossy()) {
        return Ok(false);
    }
    let pattern = literal(pattern);
    Ok(matches(rg, Path::new(name), &pattern)?
        || (!pattern.starts_with('/') && matches(rg, &from_workspace, &pattern)?))
}

/// Does `rg` list a plain file of this path? (Where it is, it may be a link, which is listed only when it is named.)
fn matches(rg: &Rg<'_>, path: &Path, pattern: &str) -> anyhow::Result<bool> {
    let folder = rg.home.join("probe");
    let file = folder.join(path);
    fs::create_dir_all(file.parent().unwrap_or(&folder))?;
    fs::write(&file, "")?;
    let listed = Rg { cwd: &folder, ..rg.clone() }.glob(pattern, None)?.unwrap_or_default();
    fs::remove_dir_all(&folder)?;
    Ok(listed.contains(path.as_os_str().as_bytes()))
}

/// Relative to the path, with `#` and blanks as they stand; where that finds nothing, relative to the workspace.
fn below_path(
    rg: &Rg<'_>,
    there: &Rg<'_>,
    path: Option<&str>,
    pattern: &str,
    rows: &mut BTreeSet<Row>,
) -> anyhow::Result<BTreeSet<RawPath>> {
    let relative = |pattern: &str| -> anyhow::Result<BTreeSet<RawPath>> {
        let found = there.glob(pattern, None)?.unwrap_or_default();
        Ok(found.iter().map(|found| below(path, found)).collect())
    };
    let meant = literal(pattern);
    let found = relative(&meant)?;
    if meant != pattern {
        seen(reading(Some(pattern)), &relative(pattern)?, &found, rows);
    }
    let Some(typed) = path else { return Ok(found) };
    let from_workspace = rg.glob(&meant, Some(Path::new(typed)))?.unwrap_or_default();
    let from_workspace = from_workspace.iter().map(|path| below(None, path)).collect();
    if found.is_empty() && !pattern.starts_with('/') {
        return Ok(from_workspace);
    }
    seen(Row::GlobRelativeToPath, &from_workspace, &found, rows);
    Ok(found)
}

/// Below a folder of version control that the call did not name.
fn is_kept_from_grep(found: &[u8], path: Option<&str>) -> bool {
    let typed = path.map_or(0, str::len);
    found.get(typed..).is_some_and(|below| is_in_version_control(&String::from_utf8_lossy(below)))
}

fn is_in_version_control(path: &str) -> bool {
    path.split('/').any(|part| [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"].contains(&part))
}

/// A glob that means to `rg` what this one means as it stands.
fn literal(glob: &str) -> String {
    if glob == "**" || glob.ends_with("/**") {
        // The same files, those with a newline in their name among them.
        return format!("{glob}/*");
    }
    if let Some(rest) = glob.strip_prefix("./") {
        return format!("/{rest}");
    }
    let text = glob.trim_end_matches(' ');
    let blanks = "[ ]".repeat(glob.len() - text.len());
    let text = text.strip_prefix('#').map_or_else(|| text.to_owned(), |rest| format!("[#]{rest}"));
    text + &blanks
}

/// What `rg` reads differently in a glob.
fn reading(glob: Option<&str>) -> Row {
    match glob.unwrap_or_default() {
        glob if glob.starts_with("./") => Row::GlobDotSlash,
        glob if glob.ends_with("**") => Row::GlobNewline,
        _ => Row::GlobHashOrBlank,
    }
}

/// Where the first NUL stands. In UTF-16 a NUL is half a character.
fn nul(file: &Path) -> anyhow::Result<Option<usize>> {
    let bytes = fs::read(file).with_context(|| format!("rg found something in {}", file.display()))?;
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        return Ok(None);
    }
    Ok(bytes.iter().position(|byte| *byte == 0))
}

fn is_leftover(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let stage = name
        .strip_prefix(b".dsh-")
        .is_some_and(|id| id.len() == 12 && id.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'v')));
    stage || name.windows(14).any(|part| part == b".dsh-conflict-")
}

fn lines(asked: Asked<Matches>, workspace: &Path, rows: &mut BTreeSet<Row>) -> Answer {
    match asked {
        Ok(matches) => Answer::Lines(
            matches.into_iter().map(|(path, lines)| (shown(&path, workspace, rows), lines)).collect(),
        ),
        Err(refusal) => refused(&refusal),
    }
}

fn paths(asked: Asked<BTreeSet<RawPath>>, workspace: &Path, rows: &mut BTreeSet<Row>) -> Answer {
    match asked {
        Ok(paths) => Answer::Paths(paths.into_iter().map(|path| shown(&path, workspace, rows)).collect()),
        Err(refusal) => refused(&refusal),
    }
}

fn refused(refusal: &Refusal) -> Answer {
    match refusal {
        Refusal::Pattern => Answer::BadPattern,
        Refusal::Path => Answer::Failed,
    }
}

/// As a model may name it: from the workspace if it is in it, escaped if it must be.
fn shown(path: &[u8], workspace: &Path, rows: &mut BTreeSet<Row>) -> String {
    let inside = [workspace.as_os_str().as_bytes(), b"/"].concat();
    let path = path.strip_prefix(inside.as_slice()).unwrap_or(path);
    if let Ok(text) = std::str::from_utf8(path)
        && !text.contains(char::is_control)
    {
        return text.to_owned();
    }
    rows.insert(Row::NameEscaped);
    let mut shown = String::new();
    for chunk in path.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() || character == '\\' {
                shown.extend(character.escape_default());
            } else {
                shown.push(character);
            }
        }
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown + " (name escaped)"
}
