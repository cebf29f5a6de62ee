//! Where a search begins, and how what it finds is called.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_fs::shown_name::shown;
use dsh_fs::{FileSystem, FsCall, FsError, FsErrorCode, FsKind, FsOp, FsTarget, ReadRules};
use dsh_harness::{Execution, ToolError};

use crate::SearchError;
use crate::search::sieve::is_version_control;

/// The folder or file that is searched.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) target: FsTarget,
    pub(crate) is_folder: bool,
    /// Where it is on the host, if it is.
    pub(crate) host: Option<PathBuf>,
    /// What it is called: as the caller wrote it, relative where that is below the workspace.
    pub(crate) root: String,
    /// The way there from the workspace; `None` where it lies elsewhere.
    pub(crate) from_workspace: Option<String>,
    /// What comes before the path below the root, in the names of what is found.
    prefix: String,
    workspace: String,
}

impl Scope {
    /// Resolves what is to be searched, for the tool of this name.
    pub(crate) async fn resolve(
        fs: &dyn FileSystem,
        tool: &'static str,
        path: Option<&str>,
        exec: &Execution,
    ) -> Result<Self, ToolError> {
        let call = FsCall::cancelled_by(exec.cancel.clone());
        let cwd = exec.session.as_ref().map(|session| session.header().cwd.as_path());
        let failed = |error| failed(tool, error);
        let workspace = fs.resolve(".", cwd, &call).await.map_err(failed)?;
        let target = match path {
            Some(path) => fs.resolve(path, cwd, &call).await.map_err(failed)?,
            None => workspace.clone(),
        };
        let refuse = |why: &str| SearchError::Failed {
            tool,
            reason: format!("{}: {why}", shown(path.unwrap_or(target.display_path()).as_bytes())),
        };
        let is_folder = match fs.stat(&target, &call).await.map_err(failed)? {
            Some(info) if info.kind == FsKind::Directory => true,
            Some(info) if info.kind == FsKind::File => false,
            Some(_) => return Err(refuse("Not a file or a folder").into()),
            None => return Err(refuse("No such file or directory").into()),
        };
        let host = fs.process_path(&target);
        let place = host.as_deref().unwrap_or(Path::new(target.display_path()));
        let name = Path::new(target.display_path());
        let may_read = |rules: Arc<dyn ReadRules>| {
            rules.permits(place, is_folder) && rules.permits_name(name, is_folder)
        };
        if !fs.read_rules().is_none_or(may_read) {
            return Err(FsError::denied_by_read_rules(FsOp::Read, target.display_path()).into());
        }
        let workspace = workspace.display_path().to_owned();
        let from_workspace = below(&workspace, target.display_path()).map(str::to_owned);
        let (root, prefix) = match (path, &from_workspace) {
            (None, _) => (".".to_owned(), String::new()),
            (Some(path), Some(below)) if Path::new(path).is_absolute() => {
                if below.is_empty() {
                    (".".to_owned(), String::new())
                } else {
                    (below.clone(), format!("{below}/"))
                }
            }
            (Some(path), _) => (path.to_owned(), format!("{}/", path.trim_end_matches('/'))),
        };
        Ok(Self { target, is_folder, host, root, from_workspace, prefix, workspace })
    }

    /// What a file is called that is found at this path below the root; the root itself where that is empty.
    pub(crate) fn name_of(&self, path: &[u8]) -> String {
        if path.is_empty() {
            return shown(self.root.as_bytes()).into_owned();
        }
        shown(&[self.prefix.as_bytes(), path].concat()).into_owned()
    }

    /// A pattern that is written as an absolute path below the root or the workspace, from there on.
    pub(crate) fn relative_pattern<'a>(&self, pattern: &'a str) -> &'a str {
        [self.target.display_path(), &self.workspace]
            .into_iter()
            .find_map(|folder| {
                pattern.strip_prefix(folder).filter(|rest| folder != "/" && rest.starts_with('/'))
            })
            .unwrap_or(pattern)
    }

    /// Does it lie in what belongs to version control?
    pub(crate) fn is_version_control(&self) -> bool {
        let path = self.from_workspace.as_deref().unwrap_or(self.target.display_path());
        path.split('/').any(|part| is_version_control(part.as_bytes()))
    }
}

/// The way from a folder to what is below it or is itself.
fn below<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder.trim_end_matches('/'))?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}

/// A refusal keeps its own code; that there is nothing is the search's failure.
pub(crate) fn failed(tool: &'static str, error: FsError) -> ToolError {
    match error.code() {
        FsErrorCode::Aborted => SearchError::Aborted { tool }.into(),
        FsErrorCode::NotFound | FsErrorCode::NotDirectory | FsErrorCode::IoError => {
            SearchError::Failed { tool, reason: error.to_string() }.into()
        }
        _ => error.into(),
    }
}
