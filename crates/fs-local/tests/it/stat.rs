use dsh_fs::{FileSystem, FsCall, FsErrorCode, FsKind, FsPathKind};

use crate::disk::{Disk, refused};

#[tokio::test]
async fn stat_follows_links_and_tells_type_and_size() {
    let disk = Disk::new();
    disk.put("a", "12345").folder("d").link("l", "a").link("ld", "d").link("dangling", "nope");
    let stat = async |path: &str| disk.fs.stat(&disk.target(path).await, &FsCall::new()).await.unwrap();
    for (path, kind) in
        [("a", FsKind::File), ("l", FsKind::File), ("d", FsKind::Directory), ("ld", FsKind::Directory)]
    {
        assert_eq!(stat(path).await.unwrap().kind, kind, "{path}");
    }
    assert_eq!(stat("l").await.unwrap().size, Some(5));
    assert_eq!(stat("nope").await, None);
    assert_eq!(stat("no/such").await, None);
    assert_eq!(stat("dangling").await, None);
}

#[tokio::test]
async fn lstat_tells_of_the_link_itself() {
    let disk = Disk::new();
    disk.put("a", "12345").folder("d").link("l", "a").link("ld", "d").link("dangling", "nope");
    let lstat = async |path: &str| disk.fs.lstat(path, None, &FsCall::new()).await;
    for (path, kind) in [
        ("a", FsPathKind::File),
        ("l", FsPathKind::Symlink),
        ("ld", FsPathKind::Symlink),
        ("ld/", FsPathKind::Directory),
        ("dangling", FsPathKind::Symlink),
        ("d/.", FsPathKind::Directory),
        ("/dev/null", FsPathKind::Other),
    ] {
        assert_eq!(lstat(path).await.unwrap().unwrap().kind, kind, "{path}");
    }
    for path in ["nope", "nope/", "a/below", "dangling/"] {
        assert_eq!(lstat(path).await.unwrap(), None, "{path}");
    }
    refused(
        lstat("a/").await,
        FsErrorCode::NotFound,
        format!("cannot resolve \"{}\": a path that ends in a slash names a folder", disk.shown("a")),
    );
    refused(lstat(" ").await, FsErrorCode::NotFound, "file_path must be a non-empty string");
    let from = disk.fs.lstat("a", Some(&disk.at("d")), &FsCall::new()).await.unwrap();
    assert_eq!(from, None);
}

#[tokio::test]
async fn a_target_whose_folder_became_a_file_is_absent() {
    let disk = Disk::new();
    disk.folder("d");
    let below = disk.target("d/x").await;
    std::fs::remove_dir(disk.at("d")).unwrap();
    disk.put("d", "");
    assert_eq!(disk.fs.stat(&below, &FsCall::new()).await.unwrap(), None);
}
