use dsh_fs::{FileSystem, FsCall, FsErrorCode, WriteGuard};

use crate::disk::{Disk, is_root, refused};

#[tokio::test]
async fn text_comes_whole_and_unchanged() {
    let disk = Disk::new();
    disk.put("a.txt", "one\r\ntwo\rthree\n\u{2028}ü").put("empty", "").put("bom", "\u{FEFF}x\n");
    assert_eq!(disk.read("a.txt").await.unwrap().text, "one\r\ntwo\rthree\n\u{2028}ü");
    assert_eq!(disk.read("empty").await.unwrap().text, "");
    assert_eq!(disk.read("bom").await.unwrap().text, "x\n");
}

#[tokio::test]
async fn a_file_that_says_it_has_no_size_is_read_to_its_end() {
    let disk = Disk::new();
    let status = disk.read("/proc/self/status").await.unwrap();
    assert!(status.text.contains("Umask:"));
    assert_eq!(
        disk.stream("/proc/self/limits").await.unwrap().0,
        disk.read("/proc/self/limits").await.unwrap().text
    );
}

#[tokio::test]
async fn absent_files_and_folders_are_typed_errors() {
    let disk = Disk::new();
    disk.folder("d").put("f", "x");
    let (gone, below) = (disk.target("nope").await, disk.target("d/x/y").await);
    for target in [gone, below] {
        let message = format!("cannot read \"{}\": not found", target.display_path());
        let call = FsCall::new();
        refused(disk.fs.read_text(&target, &call).await, FsErrorCode::NotFound, &message);
        refused(disk.fs.stream_text(&target, None, &call).await, FsErrorCode::NotFound, &message);
        refused(disk.fs.read_bytes(&target, 9, &call).await, FsErrorCode::NotFound, &message);
    }
    // The folder has become a file since the path was resolved.
    let below = disk.target("d/x").await;
    std::fs::remove_dir(disk.at("d")).unwrap();
    disk.put("d", "now a file");
    refused(
        disk.fs.read_text(&below, &FsCall::new()).await,
        FsErrorCode::NotFound,
        format!("cannot read \"{}\": not found", disk.shown("d/x")),
    );
    refused(
        disk.read(".").await,
        FsErrorCode::NotRegularFile,
        format!("cannot read \"{}\": not a regular file", disk.root().display()),
    );
}

#[tokio::test]
async fn bytes_that_are_not_text_are_refused() {
    let disk = Disk::new();
    let mut late = vec![b'a'; 8192];
    late.push(0);
    let mut early = vec![b'a'; 8191];
    early.push(0);
    disk.put("late", &late).put("early", &early);
    for (name, bytes) in [
        ("ff", &b"a\xFFb"[..]),
        ("overlong", b"a\xC0\x80b"),
        ("cut", b"a\xE6\x97"),
        ("high", b"\xF4\x90\x80\x80"),
    ] {
        disk.put(name, bytes);
        refused(
            disk.read(name).await,
            FsErrorCode::NotText,
            format!("cannot read \"{}\": invalid UTF-8 text", disk.shown(name)),
        );
    }
    refused(
        disk.read("early").await,
        FsErrorCode::NotText,
        format!("cannot read \"{}\": binary file", disk.shown("early")),
    );
    assert_eq!(disk.read("late").await.unwrap().text.as_bytes(), late);
}

#[tokio::test]
async fn a_refused_read_tells_the_version_of_the_bytes_and_it_licenses_a_write() {
    for (block, stream) in [(1 << 20, false), (1 << 20, true), (5000, false), (5000, true)] {
        let disk = Disk::basis_below(100_000).block_size(block);
        let mut late_invalid = vec![b'a'; 60_000];
        late_invalid[50_000] = 0xFF;
        let early_nul = [vec![0], vec![b'x'; 60_000]].concat();
        let cut = [&vec![b'a'; 60_000][..], b"\xE6\x97"].concat();
        for bytes in [late_invalid, early_nul, cut] {
            disk.put("a.dat", &bytes);
            let failed = if stream {
                disk.stream("a.dat").await.unwrap_err()
            } else {
                disk.read("a.dat").await.unwrap_err()
            };
            let met = failed.met().unwrap().clone();
            // A touch does not matter to it, because it stands for the bytes.
            std::fs::write(disk.at("a.dat"), &bytes).unwrap();
            let outcome =
                disk.write_if("a.dat", "text\n", Some(WriteGuard::ReplaceIfVersion(met.clone()))).await;
            assert_eq!(outcome.unwrap().before, None);
            let late = disk.write_if("a.dat", "more\n", Some(WriteGuard::ReplaceIfVersion(met))).await;
            assert_eq!(late.unwrap_err().code(), FsErrorCode::StaleVersion);
        }
    }
}

#[tokio::test]
async fn a_large_refused_file_is_known_by_identity() {
    let disk = Disk::basis_below(1000);
    disk.put("big", [0; 1001]).put("small", [0; 1000]);
    let version = |error: dsh_fs::FsError| error.met().unwrap().token().to_owned();
    assert!(!version(disk.read("big").await.unwrap_err()).contains(';'));
    assert!(version(disk.read("small").await.unwrap_err()).contains(';'));
    assert!(!version(disk.stream("big").await.unwrap_err()).contains(';'));
    assert!(version(disk.stream("small").await.unwrap_err()).contains(';'));
}

#[tokio::test]
async fn bytes_are_bounded() {
    let disk = Disk::new().block_size(7);
    disk.put("b", [0, 255, 10, 0xEF, 0xBB]).put("empty", "").put("long", vec![b'x'; 100]);
    let call = FsCall::new();
    let b = disk.target("b").await;
    assert_eq!(disk.fs.read_bytes(&b, 5, &call).await.unwrap().bytes, [0, 255, 10, 0xEF, 0xBB]);
    assert_eq!(disk.fs.read_bytes(&b, u64::MAX, &call).await.unwrap().bytes.len(), 5);
    refused(
        disk.fs.read_bytes(&b, 4, &call).await,
        FsErrorCode::TooLarge,
        format!("cannot read \"{}\": 5 bytes exceeds the 4-byte limit", disk.shown("b")),
    );
    let long = disk.target("long").await;
    assert_eq!(disk.fs.read_bytes(&long, 100, &call).await.unwrap().bytes, [b'x'; 100]);
    assert!(disk.fs.read_bytes(&disk.target("empty").await, 0, &call).await.unwrap().bytes.is_empty());
    // A file that holds more than its size told.
    let status = disk.target("/proc/self/status").await;
    refused(
        disk.fs.read_bytes(&status, 10, &call).await,
        FsErrorCode::TooLarge,
        "cannot read \"/proc/self/status\": content exceeds the 10-byte limit",
    );
}

#[tokio::test]
async fn bytes_and_text_have_versions_that_guard_alike() {
    let disk = Disk::new();
    disk.put("a", "text");
    let bytes = disk.fs.read_bytes(&disk.target("a").await, 100, &FsCall::new()).await.unwrap();
    assert!(disk.edit_if("a", "text", "new", Some(&bytes.version)).await.is_ok());
}

#[tokio::test]
async fn a_file_that_may_not_be_read_is_permission_denied() {
    let disk = Disk::new();
    disk.put("a", "x").mode("a", 0o000);
    if !is_root() {
        refused(
            disk.read("a").await,
            FsErrorCode::PermissionDenied,
            format!("cannot read \"{}\": permission denied", disk.shown("a")),
        );
    }
}
