//! When a version still holds.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use dsh_fs::{FsErrorCode, FsVersion, WriteGuard};

use crate::disk::{Disk, refused};

#[tokio::test]
async fn a_version_from_a_read_holds_while_the_bytes_are_the_same() {
    type Act = fn(&Disk);
    let disk = Disk::new();
    let acts: [(&str, Act); 5] = [
        ("touch", |disk| {
            let file = File::options().write(true).open(disk.at("a")).unwrap();
            file.set_modified(SystemTime::now()).unwrap();
        }),
        ("chmod", |disk| _ = disk.mode("a", 0o600)),
        ("written again", |disk| _ = disk.put("a", "one")),
        ("another inode", |disk| {
            disk.put("b", "one");
            fs::rename(disk.at("b"), disk.at("a")).unwrap();
        }),
        ("there and back", |disk| {
            disk.put("a", "else").put("a", "one");
        }),
    ];
    for (what, act) in acts {
        disk.put("a", "one");
        let version = disk.version("a").await;
        act(&disk);
        let written = disk.write_if("a", "two", Some(WriteGuard::ReplaceIfVersion(version.clone()))).await;
        assert!(written.is_ok(), "{what}: {written:?}");
        disk.put("a", "one");
        act(&disk);
        assert!(disk.edit_if("a", "one", "two", Some(&version)).await.is_ok(), "{what}");
    }
}

#[tokio::test]
async fn same_size_and_restored_times_do_not_let_a_change_slip() {
    let disk = Disk::new();
    disk.put("a", "one");
    let version = disk.version("a").await;
    let modified = fs::metadata(disk.at("a")).unwrap().modified().unwrap();
    disk.put("a", "two");
    File::options().write(true).open(disk.at("a")).unwrap().set_modified(modified).unwrap();
    refused(
        disk.edit_if("a", "two", "three", Some(&version)).await,
        FsErrorCode::StaleVersion,
        format!("cannot edit \"{}\": file changed since it was read", disk.shown("a")),
    );
    refused(
        disk.write_if("a", "three", Some(WriteGuard::ReplaceIfVersion(version))).await,
        FsErrorCode::StaleVersion,
        format!("cannot write \"{}\": file changed since it was read", disk.shown("a")),
    );
    assert_eq!(disk.text("a"), "two");
}

#[tokio::test]
async fn a_large_file_is_guarded_by_its_bytes_too() {
    let disk = Disk::basis_below(10).block_size(1000);
    disk.put("a", "x".repeat(5000));
    let version = disk.version("a").await;
    disk.put("a", "x".repeat(4999) + "y");
    let guard = || Some(WriteGuard::ReplaceIfVersion(version.clone()));
    assert_eq!(disk.write_if("a", "new", guard()).await.unwrap_err().code(), FsErrorCode::StaleVersion);
    disk.put("a", "x".repeat(5000));
    assert!(disk.write_if("a", "new", guard()).await.is_ok());
}

/// A file last changed three seconds ago.
async fn settled(disk: &Disk) {
    disk.put("a", "one");
    tokio::time::sleep(Duration::from_millis(2100)).await;
}

#[tokio::test]
async fn a_version_from_stat_holds_only_for_a_file_that_had_been_left_alone() {
    let disk = Disk::new();
    disk.put("a", "one");
    let young = disk.stat_version("a").await;
    settled(&disk).await;
    let old = disk.stat_version("a").await;
    refused(
        disk.edit_if("a", "one", "two", Some(&young)).await,
        FsErrorCode::StaleVersion,
        format!("cannot edit \"{}\": file changed since it was read", disk.shown("a")),
    );
    assert!(disk.write_if("a", "two", Some(WriteGuard::ReplaceIfVersion(old.clone()))).await.is_ok());
    // Identity is all it stands for: the same bytes in another inode are not it.
    disk.put("a", "one");
    assert!(disk.edit_if("a", "one", "two", Some(&old)).await.is_err());
}

#[tokio::test]
async fn a_version_from_stat_does_not_survive_a_touch() {
    let disk = Disk::new();
    settled(&disk).await;
    let version = disk.stat_version("a").await;
    disk.mode("a", 0o600);
    let edited = disk.edit_if("a", "one", "two", Some(&version)).await;
    assert_eq!(edited.unwrap_err().code(), FsErrorCode::StaleVersion);
}

#[tokio::test]
async fn a_stat_version_guards_a_write_of_a_large_file() {
    let disk = Disk::basis_below(2);
    settled(&disk).await;
    let version = disk.stat_version("a").await;
    assert_eq!(
        disk.write_if("a", "new", Some(WriteGuard::ReplaceIfVersion(version))).await.unwrap().before,
        None
    );
}

#[tokio::test]
async fn a_time_in_the_future_is_young() {
    let disk = Disk::new();
    settled(&disk).await;
    let token = disk.stat_version("a").await.token().to_owned();
    let (identity, clock) = token.split_once('@').unwrap();
    let ctime: i128 = identity.rsplit(':').next().unwrap().parse().unwrap();
    let clock: i128 = clock.parse().unwrap();
    assert!(clock - ctime >= 2_000_000_000);
    for (clock, holds) in [(ctime - 1, false), (ctime + 1_999_999_999, false), (ctime + 2_000_000_000, true)]
    {
        let version = FsVersion::new(format!("{identity}@{clock}"));
        disk.mode(".", 0o700);
        let edited = disk.edit_if("a", "nothing like it", "x", Some(&version)).await.unwrap_err().code();
        let expected = if holds { FsErrorCode::EditNotFound } else { FsErrorCode::StaleVersion };
        assert_eq!(edited, expected, "{clock}");
    }
}

#[tokio::test]
async fn a_version_of_another_backend_never_holds() {
    let disk = Disk::new();
    settled(&disk).await;
    let ours = disk.version("a").await.token().to_owned();
    let (digest, identity) = ours.split_once(';').unwrap();
    for token in [
        "",
        ";",
        "@",
        "etag",
        digest,
        &format!("{digest};"),
        &format!(";{identity}"),
        &format!("x{identity}"),
        &format!("{identity}x"),
        &format!("{identity}@1"),
        &format!("{ours};"),
        &ours.replace('@', ":9@"),
    ] {
        let edited = disk.edit_if("a", "one", "two", Some(&FsVersion::new(token))).await;
        assert_eq!(edited.unwrap_err().code(), FsErrorCode::StaleVersion, "{token}");
    }
    assert!(disk.edit_if("a", "one", "two", Some(&FsVersion::new(ours))).await.is_ok());
}
