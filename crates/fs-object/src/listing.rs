//! The children of a folder, and what is at a path.

use dsh_fs::leftovers::is_leftover_name;
use dsh_fs::{FsDirEntry, FsError, FsInfo, FsKind, FsOp, FsTarget};
use object_store::{GetOptions, ListResult};

use crate::address;
use crate::error::told;
use crate::store::Store;
use crate::version;

/// What is at a target: one request for a file, two for a folder.
pub(crate) async fn stat(store: &Store, target: &FsTarget, op: FsOp) -> Result<Option<FsInfo>, FsError> {
    let failed = |error| told(op, target.display_path(), error);
    let path = address::path(target);
    let head = GetOptions { head: true, ..GetOptions::default() };
    if let Some(found) = store.find(path, head).await.map_err(failed)? {
        let version = version::of(&found.meta);
        return Ok(Some(FsInfo { version, kind: FsKind::File, size: Some(found.meta.size) }));
    }
    let is_folder = store.is_folder(path).await.map_err(failed)?;
    Ok(is_folder.then(|| FsInfo { version: version::folder(), kind: FsKind::Directory, size: None }))
}

/// The children of a folder: one request for each thousand.
pub(crate) async fn list(store: &Store, target: &FsTarget) -> Result<Vec<FsDirEntry>, FsError> {
    let failed = |error| told(FsOp::List, target.display_path(), error);
    let path = address::path(target);
    let key = store.address.key(path).map_err(failed)?;
    let prefix = (!key.as_ref().is_empty()).then_some(&key);
    let ListResult { objects, common_prefixes, .. } =
        store.objects.list_with_delimiter(prefix).await.map_err(failed)?;
    if objects.is_empty() && common_prefixes.is_empty() && path != "/" {
        let head = GetOptions { head: true, ..GetOptions::default() };
        return Err(match store.find(path, head).await.map_err(failed)? {
            Some(_) => FsError::not_directory(target.display_path()),
            None => FsError::not_found(FsOp::List, target.display_path()),
        });
    }
    store.seen.something_at(&address::below(path, "something"));
    let child = |name: String, kind| {
        let path = address::below(path, &name);
        let target = address::target(&path);
        FsDirEntry { name, kind, target, version: None, size: None, modified: None, is_link: false }
    };
    let folders = common_prefixes.iter().map(|key| FsDirEntry {
        version: Some(version::folder()),
        ..child(store.address.name(key), FsKind::Directory)
    });
    // An object that some programs put in the place of a folder has the folder's own key.
    let files = objects.iter().filter(|object| object.location != key).map(|object| FsDirEntry {
        version: Some(version::of(object)),
        size: Some(object.size),
        modified: Some(object.last_modified.into()),
        ..child(store.address.name(&object.location), FsKind::File)
    });
    let mut entries: Vec<_> =
        files.chain(folders).filter(|entry| !is_leftover_name(entry.name.as_bytes())).collect();
    // By names, not by keys; of a file and a folder of one name, which a store permits, the file first.
    entries.sort_by(|one, two| one.name.cmp(&two.name));
    Ok(entries)
}
