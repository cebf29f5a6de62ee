//! Real source files: this repository's, those of the crates that it imports, and Python's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

use crate::repository::{Repository, home};
use crate::workspace::cargo;

/// Sizes, in bytes, that files are taken with.
const SIZES: std::ops::Range<usize> = 400..200_000;
/// The most files of one origin.
const MOST: usize = 400;

/// The texts that edits are damaged in.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Name and text.
    pub files: Vec<(String, String)>,
    /// How many there are of each origin.
    pub origins: Vec<(&'static str, usize)>,
}

/// All that there are here. Crates and Python may be absent; this repository is enough.
pub fn sources() -> anyhow::Result<Sources> {
    let mut sources = Sources::default();
    let repository = Repository::read(&home())?;
    let own =
        repository.files().filter(|file| matches!(file.extension(), "rs" | "py" | "md" | "toml" | "ts"));
    sources.add("this repository", own.map(|file| (file.path.clone(), file.text.clone())).collect());
    let mut paths = Vec::new();
    for folder in crates().unwrap_or_default() {
        below(&folder.join("src"), "rs", &mut paths);
    }
    sources.add("crates it imports", texts(paths));
    let mut paths = Vec::new();
    if let Some(folder) = python() {
        below(&folder, "py", &mut paths);
    }
    sources.add("Python's library", texts(paths));
    Ok(sources)
}

impl Sources {
    /// Takes files from the whole of a list, evenly.
    fn add(&mut self, origin: &'static str, mut files: Vec<(String, String)>) {
        files.retain(|(_, text)| SIZES.contains(&text.len()) && text.contains('\n'));
        files.sort();
        let step = files.len().div_ceil(MOST).max(1);
        let taken: Vec<(String, String)> = files.into_iter().step_by(step).collect();
        self.origins.push((origin, taken.len()));
        self.files.extend(taken);
    }

    /// A text of about a megabyte, of many of them.
    pub fn megabyte(&self) -> String {
        let mut text = String::new();
        for (_, next) in &self.files {
            if text.len() + next.len() < 1 << 20 {
                text.push_str(next);
            }
        }
        text
    }
}

/// The folders of the packages that do not live here.
fn crates() -> Option<Vec<PathBuf>> {
    let metadata = cargo(&home(), &["metadata", "--format-version", "1", "--locked", "--offline"]).ok()?;
    let metadata: Json = serde_json::from_str(&metadata).ok()?;
    let packages = metadata["packages"].as_array()?.iter().filter(|package| !package["source"].is_null());
    let folders = packages.filter_map(|package| Path::new(package["manifest_path"].as_str()?).parent());
    Some(folders.map(Path::to_owned).collect())
}

fn python() -> Option<PathBuf> {
    let ask = "import sysconfig; print(sysconfig.get_path('stdlib'))";
    let output = Command::new("python3").args(["-c", ask]).output().ok()?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}

/// The files with this ending, three folders deep.
fn below(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    fn walk(folder: &Path, ending: &str, depth: usize, found: &mut Vec<PathBuf>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            let is_foreign = ["site-packages", "dist-packages"].iter().any(|name| entry.file_name() == *name);
            if kind.is_dir() && depth > 0 && !is_foreign {
                walk(&path, ending, depth - 1, found);
            } else if kind.is_file() && path.extension().is_some_and(|found| found == ending) {
                found.push(path);
            }
        }
    }
    walk(folder, ending, 3, found);
}

fn texts(mut paths: Vec<PathBuf>) -> Vec<(String, String)> {
    paths.sort();
    let step = paths.len().div_ceil(MOST * 2).max(1);
    let read = |path: PathBuf| Some((path.to_string_lossy().into_owned(), fs::read_to_string(&path).ok()?));
    paths.into_iter().step_by(step).filter_map(read).collect()
}
