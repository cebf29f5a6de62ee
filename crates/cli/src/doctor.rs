//! `dsh-fs doctor`: what bounds the tools, what the system can do, and what lies about after a crash or a collision.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use dsh_fs_local::{Capabilities, probe};
use serde_json::{Value as Json, json};

use crate::args::{Confinement, Doctor, Setup, absolute};
use crate::compose::Composed;
use crate::output::{self, EXIT_FAILURE};

mod bounds;
mod leftover;
mod walk;

use bounds::Bounds;
use leftover::{Judgement, Leftover};

/// The exit code when leftovers are there.
const EXIT_FOUND: u8 = 1;

pub(crate) fn main(setup: &Setup, command: &Doctor) -> anyhow::Result<ExitCode> {
    let composed = Composed::read(setup, Confinement::default())?;
    if composed.is_in_store() {
        bail!("doctor: the files are in an object store, where nothing is left behind");
    }
    let young = Duration::from_secs(command.older_than);
    let (folders, files) = sort_out(setup, &command.paths)?;
    let mut found = walk::Found::default();
    for folder in &folders {
        found.add(walk::walk(folder, young));
    }
    let mut leftovers: Vec<Case> = found.leftovers.into_iter().map(Case::met).collect();
    for file in &files {
        let Some(leftover) = Leftover::look(file, young)? else {
            bail!("doctor: {} is neither a folder nor a leftover", shown(file));
        };
        leftovers.push(Case::named(leftover));
    }
    if command.remove {
        leftovers.iter_mut().for_each(Case::remove);
    }
    let report = Report {
        bounds: Bounds::of(setup, &composed),
        workspace: &setup.cwd,
        // After the walk, which would meet the files that it tries with.
        capabilities: probe(folders.first().unwrap_or(&setup.cwd)),
        leftovers: &leftovers,
        skipped: &found.skipped,
    };
    let printed =
        if command.json { output::print_line(&report.json()) } else { output::print_text(&report.text()) };
    if let Err(error) = printed {
        return Ok(output::failed(&output::cannot_write(error), EXIT_FAILURE));
    }
    let left = leftovers.iter().any(|case| !matches!(case.removal, Removal::Done));
    Ok(if left { ExitCode::from(EXIT_FOUND) } else { ExitCode::SUCCESS })
}

/// Folders to walk, and files that are named one by one.
fn sort_out(setup: &Setup, paths: &[PathBuf]) -> anyhow::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    if paths.is_empty() {
        return Ok((vec![setup.cwd.clone()], Vec::new()));
    }
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    for path in paths {
        let path = absolute(path)?;
        let kind = fs::symlink_metadata(&path).with_context(|| format!("doctor: {}", shown(&path)))?;
        // A link to a folder may be named; inside, none is followed.
        let folder = kind.is_dir() || kind.is_symlink() && path.is_dir();
        if folder { folders.push(path) } else { files.push(path) }
    }
    Ok((folders, files))
}

/// A leftover, and what becomes of it.
struct Case {
    leftover: Leftover,
    /// Its own name was an argument: then it goes whatever it holds, unless a call is at work with it.
    named: bool,
    removal: Removal,
}

enum Removal {
    NotTried,
    Done,
    Failed(std::io::Error),
}

impl Case {
    fn met(leftover: Leftover) -> Self {
        Self { leftover, named: false, removal: Removal::NotTried }
    }

    fn named(leftover: Leftover) -> Self {
        Self { leftover, named: true, removal: Removal::NotTried }
    }

    fn remove(&mut self) {
        let judgement = &self.leftover.judgement;
        if judgement.is_safe() || self.named && *judgement != Judgement::InUse {
            self.removal = match fs::remove_file(&self.leftover.path) {
                Ok(()) => Removal::Done,
                // By whoever it belonged to.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Removal::Done,
                Err(error) => Removal::Failed(error),
            };
        }
    }

    fn text(&self) -> String {
        let Leftover { path, kind, bytes, age, owner, judgement } = &self.leftover;
        let (path, kind, age) = (shown(path), kind.words(), rough(*age));
        let mut text = format!("{path}\n  {kind}, {bytes} bytes, {age} old, owner {owner}\n");
        let (sign, reason) = (judgement.word(), judgement.reason());
        let _ = match &self.removal {
            Removal::Done if judgement.is_safe() => writeln!(text, "  removed: {reason}"),
            Removal::Done => writeln!(text, "  removed, as it was named"),
            Removal::Failed(error) => writeln!(text, "  could not be removed: {error}"),
            Removal::NotTried => writeln!(text, "  {sign}: {reason}"),
        };
        text
    }

    fn json(&self) -> Json {
        let Leftover { path, kind, bytes, age, owner, judgement } = &self.leftover;
        let mut json = json!({
            "path": path.to_string_lossy(),
            "kind": kind.word(),
            "bytes": bytes,
            "ageSeconds": age.as_secs(),
            "owner": owner,
            "judgement": judgement.word(),
            "reason": judgement.reason(),
            "removed": matches!(self.removal, Removal::Done),
        });
        if let Removal::Failed(error) = &self.removal {
            json["error"] = error.to_string().into();
        }
        json
    }
}

struct Report<'a> {
    bounds: Bounds,
    workspace: &'a Path,
    capabilities: Capabilities,
    leftovers: &'a [Case],
    skipped: &'a [(PathBuf, std::io::Error)],
}

impl Report<'_> {
    fn text(&self) -> String {
        let mut text = self.bounds.text(self.workspace);
        text.push_str(&self.file_system());
        for case in self.leftovers {
            let _ = write!(text, "\n{}", case.text());
        }
        for (index, (path, error)) in self.skipped.iter().enumerate() {
            let space = if index == 0 { "\n" } else { "" };
            let _ = writeln!(text, "{space}not looked at: {} ({error})", shown(path));
        }
        let removed = self.leftovers.iter().filter(|case| matches!(case.removal, Removal::Done)).count();
        let last = match (self.leftovers.len(), removed) {
            (0, _) => "no leftovers".to_owned(),
            (found, 0) => format!("leftovers: {found}"),
            (found, removed) => format!("leftovers: {found}, removed: {removed}"),
        };
        let _ = writeln!(text, "\n{last}");
        text
    }

    /// What publication can count on.
    fn file_system(&self) -> String {
        let found = self.capabilities;
        if !found.writable {
            return "file system: could not be tried, nothing can be made there\n".to_owned();
        }
        let said = |has: bool| if has { "yes" } else { "no" };
        let all: Vec<String> =
            capabilities(found).into_iter().map(|(_, words, has)| format!("{words} {}", said(has))).collect();
        let mut text = format!("file system: {}\n", all.join(", "));
        if !found.exchange {
            text.push_str(
                "  without exchange, a program that takes no lock can lose a change that it makes in the instant of ours\n",
            );
        }
        text
    }

    fn json(&self) -> Json {
        let capabilities: serde_json::Map<String, Json> = capabilities(self.capabilities)
            .into_iter()
            .chain([("writable", "", self.capabilities.writable)])
            .map(|(key, _, has)| (key.to_owned(), has.into()))
            .collect();
        let skipped = self
            .skipped
            .iter()
            .map(|(path, error)| json!({"path": path.to_string_lossy(), "error": error.to_string()}));
        let mut report = serde_json::Map::new();
        report.insert("version".to_owned(), env!("CARGO_PKG_VERSION").into());
        report.insert("workspace".to_owned(), self.workspace.to_string_lossy().into());
        self.bounds.add_to(&mut report);
        report.insert("fileSystem".to_owned(), capabilities.into());
        report.insert("leftovers".to_owned(), self.leftovers.iter().map(Case::json).collect());
        report.insert("skipped".to_owned(), skipped.collect());
        report.into()
    }
}

/// Key for programs, words for people, and the answer.
fn capabilities(found: Capabilities) -> [(&'static str, &'static str, bool); 7] {
    [
        ("exchange", "exchange", found.exchange),
        ("noReplace", "no-replace", found.no_replace),
        ("tmpfile", "unnamed files", found.tmpfile),
        ("flock", "lock", found.flock),
        ("sync", "sync", found.sync),
        ("xattrs", "attributes", found.xattrs),
        ("acls", "ACLs", found.acls),
    ]
}

/// A path for a terminal: no control character of a name gets through.
fn shown(path: &Path) -> String {
    let mut text = String::new();
    for letter in path.to_string_lossy().chars() {
        if letter.is_control() { text.extend(letter.escape_default()) } else { text.push(letter) }
    }
    text
}

/// An age in its largest unit.
fn rough(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_their_largest_unit() {
        let ages = [0, 119, 120, 7_199, 7_200, 172_799, 172_800].map(|s| rough(Duration::from_secs(s)));
        assert_eq!(ages, ["0 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 days"]);
    }

    #[test]
    fn names_cannot_steer_a_terminal() {
        assert_eq!(shown(Path::new("/a\u{1b}[2J\nb")), "/a\\u{1b}[2J\\nb");
    }
}
