//! `stat` and `lstat`.

use dsh_fs::FsErrorCode::NotFound;
use dsh_fs::{FsKind, FsPathInfo, FsPathKind};

use crate::{Case, refused};

async fn lstat(case: &Case, path: &str) -> Option<FsPathInfo> {
    case.fs
        .lstat(path, Some(&case.cwd()), &case.call)
        .await
        .unwrap_or_else(|error| panic!("lstat {path:?}: {error}"))
}

/// A file has its kind and, where the backend knows it, its size in bytes.
pub async fn a_file_has_kind_and_size(case: &Case) {
    let target = case.file("a.txt", "\u{feff}\u{e9}\r\n").await;
    let info = case.fs.stat(&target, &case.call).await.unwrap().unwrap();
    assert_eq!(info.kind, FsKind::File);
    assert_eq!(info.size.unwrap_or(7), 7);
    let empty = case.file("empty", "").await;
    assert_eq!(case.fs.stat(&empty, &case.call).await.unwrap().unwrap().size.unwrap_or(0), 0);
}

/// A folder is a folder.
pub async fn a_folder_is_a_folder(case: &Case) {
    case.put("d/a.txt", "x").await;
    for name in ["d", "."] {
        let info = case.fs.stat(&case.target(name).await, &case.call).await.unwrap().unwrap();
        assert_eq!(info.kind, FsKind::Directory, "{name}");
        assert_eq!(lstat(case, name).await.unwrap().kind, FsPathKind::Directory, "{name}");
    }
}

/// What is absent is `None`, not an error, wherever the path stops existing.
pub async fn what_is_absent_is_none(case: &Case) {
    for name in ["a.txt", "no/such/folder/a.txt"] {
        assert_eq!(case.fs.stat(&case.target(name).await, &case.call).await.unwrap(), None, "{name}");
        assert_eq!(lstat(case, name).await, None, "{name}");
    }
}

/// A target below what has become a file is absent.
pub async fn below_what_became_a_file_is_absent(case: &Case) {
    let target = case.target("d/a.txt").await;
    case.put("d", "a file now").await;
    assert_eq!(case.fs.stat(&target, &case.call).await.unwrap(), None);
}

/// Every look is a new one. (Whether two looks at an unchanged file give equal versions is the backend's affair.)
pub async fn every_look_is_new(case: &Case) {
    let target = case.target("a.txt").await;
    for bytes in ["one", "other", ""] {
        case.put("a.txt", bytes).await;
        let size = case.fs.stat(&target, &case.call).await.unwrap().unwrap().size;
        assert_eq!(size.unwrap_or(bytes.len() as u64), bytes.len() as u64);
        let size = lstat(case, "a.txt").await.unwrap().size;
        assert_eq!(size.unwrap_or(bytes.len() as u64), bytes.len() as u64);
    }
    case.ground.remove("a.txt").await;
    assert_eq!(case.fs.stat(&target, &case.call).await.unwrap(), None);
}

/// `lstat` takes paths as `resolve` does.
pub async fn lstat_takes_paths_as_resolve_does(case: &Case) {
    case.put("d/a.txt", "x").await;
    for spelling in ["d/a.txt", "./d//a.txt", "d/../d/a.txt", &case.path("d/a.txt")] {
        let info = lstat(case, spelling).await.unwrap_or_else(|| panic!("nothing at {spelling:?}"));
        assert_eq!(info.kind, FsPathKind::File, "{spelling}");
        assert_eq!(info.size.unwrap_or(1), 1, "{spelling}");
    }
    for nothing in ["", " ", "a\0b"] {
        refused(case.fs.lstat(nothing, Some(&case.cwd()), &case.call).await, NotFound);
    }
    // Refused or simply absent: in any case there is nothing of that name.
    for nothing in ["d/a.txt/", "new/", "d/a.txt/b"] {
        match case.fs.lstat(nothing, Some(&case.cwd()), &case.call).await {
            Ok(info) => assert_eq!(info, None, "{nothing}"),
            Err(error) => assert_eq!(error.code(), NotFound, "{nothing}: {error}"),
        }
    }
}

/// `lstat` shows the link itself, dangling or not; `stat` what it leads to.
pub async fn lstat_shows_the_link_itself(case: &Case) {
    case.put("d/a.txt", "four").await;
    case.able(case.ground.link("link", "d/a.txt").await);
    case.able(case.ground.link("dangling", "nowhere").await);
    case.able(case.ground.link("folder", "d").await);
    for name in ["link", "dangling", "folder"] {
        assert_eq!(lstat(case, name).await.unwrap().kind, FsPathKind::Symlink, "{name}");
    }
    assert_eq!(
        lstat(case, "folder/a.txt").await.unwrap().kind,
        FsPathKind::File,
        "only the last link is not followed"
    );
    let info = case.fs.stat(&case.target("link").await, &case.call).await.unwrap().unwrap();
    assert_eq!((info.kind, info.size.unwrap_or(4)), (FsKind::File, 4));
    assert_eq!(case.fs.stat(&case.target("dangling").await, &case.call).await.unwrap(), None);
}

/// FIFOs, sockets and devices are of another kind, and looking at them does not block.
pub async fn special_files_are_other(case: &Case) {
    case.able(case.ground.special("special").await);
    let info = case.fs.stat(&case.target("special").await, &case.call).await.unwrap().unwrap();
    assert_eq!(info.kind, FsKind::Other);
    assert_eq!(lstat(case, "special").await.unwrap().kind, FsPathKind::Other);
}
