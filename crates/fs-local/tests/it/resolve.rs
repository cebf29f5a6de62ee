use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use dsh_fs::{FileSystem, FsCall, FsErrorCode, FsTarget};

use crate::disk::{Disk, is_root, key_of, refused};

async fn resolve(disk: &Disk, path: &str) -> Result<FsTarget, dsh_fs::FsError> {
    disk.fs.resolve(path, None, &FsCall::new()).await
}

#[tokio::test]
async fn one_file_has_one_key_however_it_is_written() {
    let disk = Disk::new();
    disk.put("d/a.txt", "x").link("l", "d").link("d/abs", disk.at("d/a.txt"));
    for path in ["d/a.txt", "./d//a.txt", "d/../d/a.txt", "missing/../d/a.txt", "l/a.txt", "d/abs", "l/abs"] {
        assert_eq!(disk.key(path).await, disk.at("d/a.txt"), "{path}");
    }
    assert_eq!(disk.key(&format!("/{}", disk.shown("d/a.txt"))).await, disk.at("d/a.txt"));
}

#[tokio::test]
async fn the_display_path_is_lexical_and_absolute() {
    let disk = Disk::new();
    disk.put("d/a.txt", "x").link("l", "d");
    for (path, shown) in
        [("l/a.txt", "l/a.txt"), ("./l//x/../a.txt", "l/a.txt"), ("d/", "d"), ("d//.", "d"), ("new", "new")]
    {
        assert_eq!(disk.target(path).await.display_path(), disk.shown(shown), "{path}");
    }
    assert_eq!(disk.target(".").await.display_path(), disk.root().to_str().unwrap());
    assert_eq!(disk.target("/").await.display_path(), "/");
    assert_eq!(disk.target("/../..").await.display_path(), "/");
}

#[tokio::test]
async fn a_key_stays_when_the_file_is_created() {
    let disk = Disk::new();
    disk.folder("real").link("l", "real");
    let before = disk.target("l/x/y.txt").await;
    assert_eq!(key_of(&before), disk.at("real/x/y.txt"));
    disk.put("real/x/y.txt", "x");
    assert_eq!(disk.target("l/x/y.txt").await, before);
}

#[tokio::test]
async fn relative_paths_start_at_the_folder_of_the_call_then_of_the_backend() {
    let disk = Disk::new();
    disk.put("sub/a.txt", "x").put("a.txt", "y");
    let call = FsCall::new();
    let sub = disk.at("sub");
    let from_call = disk.fs.resolve("a.txt", Some(&sub), &call).await.unwrap();
    assert_eq!(key_of(&from_call), disk.at("sub/a.txt"));
    let relative = disk.fs.resolve("a.txt", Some(Path::new("sub")), &call).await.unwrap();
    assert_eq!(relative, from_call);
    assert_eq!(disk.key("a.txt").await, disk.at("a.txt"));
    let absolute = disk.fs.resolve(&disk.shown("a.txt"), Some(&sub), &call).await.unwrap();
    assert_eq!(key_of(&absolute), disk.at("a.txt"));
}

#[tokio::test]
async fn dot_dot_leaves_the_real_folder_behind_a_linked_working_directory() {
    let disk = Disk::new();
    disk.put("real/a.txt", "real").put("a.txt", "top").folder("real/sub").link("ld", "real/sub");
    let call = FsCall::new();
    let cwd = disk.at("ld");
    // With a `..` in the path, or in the folder, the real folder is where it starts.
    let up = disk.fs.resolve("../a.txt", Some(&cwd), &call).await.unwrap();
    assert_eq!((key_of(&up), up.display_path()), (disk.at("real/a.txt"), disk.shown("real/a.txt").as_str()));
    let inside = disk.fs.resolve("a.txt", Some(&disk.at("ld/..")), &call).await.unwrap();
    assert_eq!(inside.display_path(), disk.shown("real/a.txt"));
    // A backslash separates as well, though the name that is looked up has it in it.
    let odd = disk.fs.resolve("..\\b", Some(&cwd), &call).await.unwrap();
    assert_eq!(odd.display_path(), disk.shown("real/sub/..\\b"));
    // Without one, the folder is taken as it is called; and in the path itself `..` is folded before links.
    let plain = disk.fs.resolve("b.txt", Some(&cwd), &call).await.unwrap();
    assert_eq!(
        (key_of(&plain), plain.display_path()),
        (disk.at("real/sub/b.txt"), disk.shown("ld/b.txt").as_str())
    );
    assert_eq!(disk.key("ld/../a.txt").await, disk.at("a.txt"));
    // A folder that is not there stays as it is written.
    let gone = disk.fs.resolve("../a.txt", Some(&disk.at("nope/x")), &call).await.unwrap();
    assert_eq!(key_of(&gone), disk.at("nope/a.txt"));
}

#[tokio::test]
async fn blank_paths_and_nul_are_refused() {
    let disk = Disk::new();
    for path in ["", " ", "\n\t "] {
        refused(resolve(&disk, path).await, FsErrorCode::NotFound, "file_path must be a non-empty string");
    }
    refused(
        resolve(&disk, "a\0b").await,
        FsErrorCode::NotFound,
        "file_path must not contain a NUL character",
    );
    // Nothing else about a path is trimmed, decoded or expanded.
    for path in [" a", "a ", "~", "$HOME", "%2e", "a\nb", "\\"] {
        assert_eq!(disk.key(path).await, disk.at(path), "{path:?}");
    }
}

#[tokio::test]
async fn a_path_below_a_file_is_refused() {
    let disk = Disk::new();
    disk.put("a.txt", "x").link("l", "a.txt/x");
    for path in ["a.txt/child", "a.txt/x/y"] {
        refused(
            resolve(&disk, path).await,
            FsErrorCode::NotFound,
            format!("cannot resolve \"{}\": a parent path segment is not a directory", disk.shown(path)),
        );
    }
    assert_eq!(resolve(&disk, "l").await.unwrap_err().code(), FsErrorCode::NotFound);
}

#[tokio::test]
async fn a_trailing_slash_names_a_folder_and_nothing_else() {
    let disk = Disk::new();
    disk.put("a.txt", "x").folder("d").link("ld", "d").link("la", "a.txt").link("dangling", "nope");
    for path in ["a.txt/", "a.txt//", "a.txt/.", "new/", "no/such/", "la/", "dangling/"] {
        refused(
            resolve(&disk, path).await,
            FsErrorCode::NotFound,
            format!(
                "cannot resolve \"{}\": a path that ends in a slash names a folder",
                disk.shown(path.trim_end_matches(['/', '.']))
            ),
        );
    }
    for path in ["d/", "d/.", "ld/", "."] {
        assert!(resolve(&disk, path).await.is_ok(), "{path}");
    }
    assert_eq!(disk.key("ld/").await, disk.at("d"));
}

#[tokio::test]
async fn a_dangling_link_means_what_it_points_to() {
    let disk = Disk::new();
    disk.folder("d")
        .link("one", "two")
        .link("two", "d/three")
        .link("d/three", "../new/folder/x")
        .link("up", "d/../made")
        .link("abs", disk.at("elsewhere"))
        .link("slash", "folder-to-be/");
    assert_eq!(disk.key("one").await, disk.at("new/folder/x"));
    assert_eq!(disk.key("up").await, disk.at("made"));
    assert_eq!(disk.key("abs").await, disk.at("elsewhere"));
    assert_eq!(disk.key("abs/below").await, disk.at("elsewhere/below"));
    assert_eq!(resolve(&disk, "slash").await.unwrap_err().code(), FsErrorCode::NotFound);
}

#[tokio::test]
async fn dot_dot_in_a_link_leaves_the_folder_that_the_links_led_to() {
    let disk = Disk::new();
    disk.put("real/a.txt", "x").folder("real/sub").link("ld", "real/sub").link("l", "ld/../a.txt");
    assert_eq!(disk.key("l").await, disk.at("real/a.txt"));
    disk.put("f", "x").link("through-file", "f/../real/a.txt");
    refused(
        resolve(&disk, "through-file").await,
        FsErrorCode::NotFound,
        format!(
            "cannot resolve \"{}\": a parent path segment is not a directory",
            disk.shown("through-file")
        ),
    );
}

#[tokio::test]
async fn links_in_a_circle_are_a_typed_error_and_forty_links_are_not() {
    let disk = Disk::new();
    disk.link("a", "b").link("b", "a").link("self", "self/x").put("end", "x").link("l0", "end");
    for number in 1..41 {
        disk.link(&format!("l{number}"), format!("l{}", number - 1));
    }
    for path in ["a", "b/x", "self", "l40"] {
        refused(
            resolve(&disk, path).await,
            FsErrorCode::IoError,
            format!("cannot resolve \"{}\": too many levels of symbolic links", disk.shown(path)),
        );
    }
    assert_eq!(disk.key("l39").await, disk.at("end"));
    assert!(
        std::fs::read(disk.at("l39")).is_ok() && std::fs::read(disk.at("l40")).is_err(),
        "the kernel agrees"
    );
}

#[tokio::test]
async fn a_name_that_is_too_long_is_a_typed_error() {
    let disk = Disk::new();
    let long = "n".repeat(256);
    refused(
        resolve(&disk, &long).await,
        FsErrorCode::IoError,
        format!("cannot resolve \"{}\": file name too long", disk.shown(&long)),
    );
    assert!(resolve(&disk, &"n".repeat(255)).await.is_ok());
}

#[tokio::test]
async fn names_that_are_not_utf8_are_reached_through_links() {
    let disk = Disk::new();
    let odd = std::ffi::OsStr::from_bytes(b"odd-\xFF.txt");
    std::fs::write(disk.root().join(odd), "odd").unwrap();
    disk.link("l", Path::new(odd));
    let target = disk.target("l").await;
    assert_eq!(key_of(&target), disk.root().join(odd));
    assert_eq!(disk.read("l").await.unwrap().text, "odd");
    assert_eq!(disk.fs.file_url(&target), format!("file://{}/odd-%FF.txt", disk.root().display()));
}

#[tokio::test]
async fn a_folder_that_may_not_be_searched_is_permission_denied() {
    let disk = Disk::new();
    disk.put("secret/a.txt", "x").mode("secret", 0o000);
    if !is_root() {
        refused(
            resolve(&disk, "secret/a.txt").await,
            FsErrorCode::PermissionDenied,
            format!("cannot resolve \"{}\": permission denied", disk.shown("secret/a.txt")),
        );
    }
    disk.keep_removable("secret");
}

#[tokio::test]
async fn keys_can_be_handed_to_other_programs() {
    let disk = Disk::new();
    disk.put("a b%ü#?.txt", "x").put("d/x", "y").put("dx", "z");
    let (odd, root) = (disk.target("a b%ü#?.txt").await, disk.target(".").await);
    assert_eq!(disk.fs.process_path(&odd).unwrap(), disk.at("a b%ü#?.txt"));
    assert_eq!(disk.fs.file_url(&odd), format!("file://{}/a%20b%25%C3%BC%23%3F.txt", disk.root().display()));
    let (d, x, dx) = (disk.target("d").await, disk.target("d/x").await, disk.target("dx").await);
    assert!(disk.fs.contains(&d, &d) && disk.fs.contains(&d, &x) && disk.fs.contains(&root, &x));
    assert!(!disk.fs.contains(&x, &d) && !disk.fs.contains(&d, &dx) && !disk.fs.contains(&d, &root));
    assert!(disk.fs.contains(&disk.target("/").await, &x));
    assert_eq!(disk.fs.sandbox_mode(), None);
}
