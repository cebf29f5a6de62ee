//! Many mutations of one file at once.

use std::sync::Arc;

use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{FileSystem, FsCall, FsErrorCode, WriteGuard};
use dsh_fs_local::{LocalFileSystem, LocalFsConfig};

use crate::disk::Disk;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_edits_on_one_version_one_wins() {
    let disk = Arc::new(Disk::new());
    for round in 0..10 {
        disk.put("a", "start");
        let version = disk.version("a").await;
        let tasks: Vec<_> = (0..100)
            .map(|number| {
                let (disk, version) = (disk.clone(), version.clone());
                tokio::spawn(async move {
                    disk.edit_if("a", "start", &format!("{round}-{number}"), Some(&version)).await
                })
            })
            .collect();
        let mut won = 0;
        for task in tasks {
            match task.await.unwrap() {
                Ok(outcome) => {
                    won += 1;
                    assert_eq!(outcome.texts.after, disk.text("a"));
                }
                Err(error) => assert_eq!(error.code(), FsErrorCode::StaleVersion),
            }
        }
        assert_eq!(won, 1, "round {round}");
    }
    assert_eq!(disk.tree(), ["a"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn guarded_writes_and_edits_and_creates_exclude_each_other() {
    let disk = Arc::new(Disk::new());
    let creates: Vec<_> = (0..50)
        .map(|number| {
            let disk = disk.clone();
            tokio::spawn(async move {
                disk.write_if("x/y/a", &format!("made {number}"), Some(WriteGuard::CreateIfAbsent)).await
            })
        })
        .collect();
    let mut made = 0;
    for create in creates {
        made += usize::from(create.await.unwrap().is_ok());
    }
    assert_eq!(made, 1);

    let version = disk.version("x/y/a").await;
    let mutations: Vec<_> = (0..100)
        .map(|number| {
            let (disk, version) = (disk.clone(), version.clone());
            tokio::spawn(async move {
                if number % 2 == 0 {
                    disk.edit_if("x/y/a", "made", "edited", Some(&version)).await.is_ok()
                } else {
                    disk.write_if("x/y/a", "written", Some(WriteGuard::ReplaceIfVersion(version)))
                        .await
                        .is_ok()
                }
            })
        })
        .collect();
    let mut won = 0;
    for mutation in mutations {
        won += usize::from(mutation.await.unwrap());
    }
    assert_eq!((won, disk.tree()), (1, vec!["x".into(), "x/y".into(), "x/y/a".into()]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_unguarded_edit_is_applied() {
    let disk = Arc::new(Disk::new());
    disk.put("n", "|").link("l", "n");
    let tasks: Vec<_> = (0..200)
        .map(|number| {
            let disk = disk.clone();
            // Half of them through another backend and another name of the file: the lock is the process's.
            tokio::spawn(async move {
                let edit = LiteralEdit::new("|", "|+", false).unwrap();
                let call = FsCall::new();
                if number % 2 == 0 {
                    disk.fs.edit_text(&disk.target("n").await, &edit, None, &call).await.unwrap()
                } else {
                    let other = LocalFileSystem::new(LocalFsConfig::default()).unwrap();
                    let target = other.resolve(&disk.shown("l"), None, &call).await.unwrap();
                    other.edit_text(&target, &edit, None, &call).await.unwrap()
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(disk.text("n"), format!("|{}", "+".repeat(200)));
    assert_eq!(disk.tree(), ["l", "n"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn different_files_do_not_wait_for_each_other() {
    let disk = Arc::new(Disk::new());
    let tasks: Vec<_> = (0..100)
        .map(|number| {
            let disk = disk.clone();
            tokio::spawn(async move { disk.write(&format!("d/{}/{number}", number % 7), "x").await.unwrap() })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(disk.tree().len(), 1 + 7 + 100);
}
