//! What Git would run, where the names alone do not tell: behind the workspace's own `.git`, and in a folder that has the
//! shape of a repository without being named `.git`.

use std::path::{Path, PathBuf};

use dsh_fs::{FileSystem, FsCall, FsDirEntry, FsErrorCode};

use crate::fence::{place_of, resolve_path};
use crate::fold;
use crate::protected::{begins_with, components, git_runs, is};

/// The names in a repository that say what Git runs, or where to look for it.
const SAYS: [&str; 4] = ["hooks", "config", "config.worktree", "commondir"];
/// A `.git` file or a `commondir` of more bytes holds a longer path than any system opens.
const POINTER_MAX_BYTES: u64 = 8192;

/// Is `path` (absolute, without links) something that Git runs for this workspace, be it behind a `.git` that is a link or
/// says `gitdir: <path>`? Looked at anew each time: a `.git` may appear later.
pub(crate) async fn runs_for(inner: &impl FileSystem, workspace: &Path, path: &Path) -> bool {
    let Ok(own) = inner.resolve(".git", Some(workspace), &FsCall::new()).await else { return false };
    let place = place_of(inner, &own);
    if components(path) == components(&place) {
        return true;
    }
    let (repository, listed) = match inner.list_dir(&own, &FsCall::new()).await {
        Ok(listed) => (place, listed),
        Err(error) if error.code() == FsErrorCode::NotDirectory => {
            let Some(to) = pointer(inner, &place, "gitdir: ").await else { return false };
            let Some(repository) = follow(inner, workspace, &to).await else { return false };
            let listed = list(inner, &repository).await;
            (repository, listed)
        }
        // Nothing there, or nothing that could be looked at: then the names alone tell.
        Err(_) => (place, Vec::new()),
    };
    if runs_in(inner, &repository, &listed, path) {
        return true;
    }
    if !listed.iter().any(|entry| is(&fold::name(&entry.name), "commondir")) {
        return false;
    }
    let Some(to) = pointer(inner, &repository.join("commondir"), "").await else { return false };
    let Some(common) = follow(inner, &repository, &to).await else { return false };
    let listed = list(inner, &common).await;
    runs_in(inner, &common, &listed, path)
}

/// Does the path lie where this repository says what Git runs, or where a link leads that has such a name?
fn runs_in(inner: &impl FileSystem, repository: &Path, listed: &[FsDirEntry], path: &Path) -> bool {
    let (path, above) = (components(path), components(repository));
    let says = |entry: &&FsDirEntry| SAYS.iter().any(|says| is(&fold::name(&entry.name), says));
    let mut links = listed.iter().filter(|entry| entry.is_link).filter(says);
    begins_with(&path, &above) && git_runs(&path[above.len()..])
        || links.any(|link| begins_with(&path, &components(&place_of(inner, &link.target))))
}

async fn list(inner: &impl FileSystem, folder: &Path) -> Vec<FsDirEntry> {
    let call = FsCall::new();
    match resolve_path(inner, folder).await {
        Ok(folder) => inner.list_dir(&folder, &call).await.unwrap_or_default(),
        Err(_) => Vec::new(),
    }
}

/// Would a file at `path` say what Git runs, in a folder that is or becomes a repository by its shape?
///
/// The shape is `HEAD` with `objects` and `refs`, or with a `commondir` that says where those are. Only paths with such
/// names in them cost a look.
pub(crate) async fn runs_by_shape(inner: &impl FileSystem, path: &Path) -> bool {
    for (folder, name, says) in shaping(path) {
        if shape_runs(inner, folder, &name, says).await {
            return true;
        }
    }
    false
}

/// Has the path such a name in it? Of such writes one must be done before the next is judged, or each of two could count
/// on the other's absence.
pub(crate) fn may_shape(path: &Path) -> bool {
    shaping(path).next().is_some()
}

/// The folders that the path may give their shape, with the name in them, and whether that says what Git runs.
fn shaping(path: &Path) -> impl Iterator<Item = (&Path, String, bool)> {
    path.ancestors().filter_map(move |whole| {
        let name = fold::name(&whole.file_name()?.to_string_lossy());
        let counts: &[&str] = if whole == path { &SAYS } else { &["hooks"] };
        let says = counts.iter().any(|says| is(&name, says));
        let shapes = ["head", "objects", "refs"].iter().any(|shapes| is(&name, shapes));
        (says || shapes).then_some((whole.parent()?, name, says))
    })
}

async fn shape_runs(inner: &impl FileSystem, folder: &Path, written: &str, says: bool) -> bool {
    if !will_be(inner, folder, written, "HEAD").await {
        return false;
    }
    let is_repository = will_be(inner, folder, written, "commondir").await
        || (will_be(inner, folder, written, "objects").await
            && will_be(inner, folder, written, "refs").await);
    if !is_repository || says {
        return is_repository;
    }
    for shapes in ["HEAD", "objects", "refs"] {
        if is(written, &fold::name(shapes)) && is_there(inner, folder, shapes).await {
            // It is a repository already, and the person's own: its references are files like others.
            return false;
        }
    }
    for says in SAYS {
        if is_there(inner, folder, says).await {
            return true;
        }
    }
    false
}

async fn will_be(inner: &impl FileSystem, folder: &Path, written: &str, name: &str) -> bool {
    is(written, &fold::name(name)) || is_there(inner, folder, name).await
}

/// What cannot be looked at counts as being there.
async fn is_there(inner: &impl FileSystem, folder: &Path, name: &str) -> bool {
    !matches!(inner.lstat(name, Some(folder), &FsCall::new()).await, Ok(None))
}

/// The place that a name in a folder leads to.
async fn end(inner: &impl FileSystem, folder: &Path, name: &str) -> Option<PathBuf> {
    let target = inner.resolve(name, Some(folder), &FsCall::new()).await.ok()?;
    Some(place_of(inner, &target))
}

/// The path in a file that holds nothing but `start` and a path; `None` where there is no such file.
async fn pointer(inner: &impl FileSystem, file: &Path, start: &str) -> Option<String> {
    let call = FsCall::new();
    // Below a file no path has a meaning, below anything else it has: the cheap way to tell that there is one.
    if inner.resolve("./x", Some(file), &call).await.is_ok() {
        return None;
    }
    let target = inner.resolve(file.file_name()?.to_str()?, file.parent(), &call).await.ok()?;
    let bytes = inner.read_bytes(&target, POINTER_MAX_BYTES, &call).await.ok()?.bytes;
    let path = std::str::from_utf8(&bytes).ok()?.strip_prefix(start)?.trim_end_matches(['\r', '\n']);
    (!path.is_empty()).then(|| path.to_owned())
}

/// Where a path leads from `base` for Git, which takes `..` after links are followed.
async fn follow(inner: &impl FileSystem, base: &Path, path: &str) -> Option<PathBuf> {
    let mut place = PathBuf::from(if path.starts_with('/') { Path::new("/") } else { base });
    let mut ahead = String::from(".");
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                place = end(inner, &place, &ahead).await?;
                place.pop();
                ahead.truncate(1);
            }
            name => ahead = format!("{ahead}/{name}"),
        }
    }
    end(inner, &place, &ahead).await
}
