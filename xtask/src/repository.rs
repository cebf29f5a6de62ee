//! [`Repository`]: the text files that checks look at.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::Context as _;

/// What holds nothing of ours, by name.
const FOREIGN: [&str; 7] = [".git", ".venv", "__pycache__", "artifacts", "corpus", "node_modules", "target"];

/// The text files of the repository, sorted by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repository {
    files: Vec<File>,
}

/// One text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// From the root of the repository, `/`-separated.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// The root of the repository that this program was built from.
pub fn home() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

impl Repository {
    /// Reads everything below `root` that is UTF-8, without following links.
    pub fn read(root: &Path) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries =
                fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
            for entry in entries {
                let entry = entry?;
                let (kind, path) = (entry.file_type()?, entry.path());
                if FOREIGN.iter().any(|name| entry.file_name() == *name) {
                    // `.git` is a file in a linked work tree.
                    continue;
                }
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file()
                    && let Some(text) = read_text(&path)?
                {
                    let path = path.strip_prefix(root)?.to_string_lossy().into_owned();
                    files.push(File { path, text });
                }
            }
        }
        Ok(Self::of(files))
    }

    /// A repository of exactly these files.
    pub fn of(mut files: Vec<File>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files }
    }

    /// All files, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.files.iter()
    }

    /// The files with this ending, such as `.rs`.
    pub fn ending(&self, ending: &str) -> impl Iterator<Item = &File> {
        self.files.iter().filter(move |file| file.path.ends_with(ending))
    }

    /// The text of a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        Some(&self.files[at].text)
    }

    /// The folders of the published crates: `crates/<name>`.
    pub fn crate_folders(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter_map(|file| {
            let folder = file.path.strip_suffix("/Cargo.toml")?;
            let name = folder.strip_prefix("crates/")?;
            (!name.contains('/')).then_some(folder)
        })
    }
}

impl File {
    /// What stands after the last dot of its name; nothing where there is none.
    pub fn extension(&self) -> &str {
        let name = self.path.rsplit_once('/').map_or(self.path.as_str(), |(_, name)| name);
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// The lines, numbered from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// `None` for what is not text, and for what somebody else's build took away in the meantime.
fn read_text(path: &Path) -> anyhow::Result<Option<String>> {
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8(bytes).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}
