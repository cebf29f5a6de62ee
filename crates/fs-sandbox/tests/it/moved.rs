//! What the backend is told to stay beneath, and what happens when it says that something moved.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dsh_fs::SandboxMode::{DangerFullAccess, WorkspaceWrite};
use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{FileSystem, FsCall, FsError, MemoryFileSystem, SandboxMode};
use dsh_fs_sandbox::{Fence, PathRules, StandingPolicy};

use crate::disk::denied;
use crate::told::Told;

fn fence(mode: SandboxMode, moves: usize) -> Fence<Told> {
    let files = MemoryFileSystem::with_files([("/w/a", "a"), ("/tmp/t", "t"), ("/r/a", "a")]);
    let policy = Arc::new(StandingPolicy::new(mode, "/w".into()));
    Fence::new(Told::new(files, moves), policy, vec!["/tmp".into()])
}

fn with_rules(fence: Fence<Told>, roots: &[&str], deny: &[&str]) -> Fence<Told> {
    let deny: Vec<_> = deny.iter().map(|&glob| glob.to_owned()).collect();
    fence.reading_by(PathRules::new(roots.iter().map(Into::into), &deny).unwrap())
}

/// Does everything to a path, and gives the folders that the backend was told each time.
async fn told(fence: &Fence<Told>, path: &str) -> (Vec<Option<PathBuf>>, Vec<Option<PathBuf>>) {
    let call = FsCall::new();
    let target = fence.resolve(path, None, &call).await.unwrap();
    let _ = fence.stat(&target, &call).await;
    let _ = fence.lstat(path, None, &call).await;
    let _ = fence.read_text(&target, &call).await;
    let _ = fence.stream_text(&target, None, &call).await;
    let _ = fence.read_bytes(&target, 9, &call).await;
    let _ = fence.list_dir(&target, &call).await;
    let reads = fence.inner().beneath();
    let _ = fence.write_text(&target, "x", None, &call).await;
    let _ = fence.edit_text(&target, &LiteralEdit::new("x", "y", false).unwrap(), None, &call).await;
    (reads, fence.inner().beneath())
}

fn all(folder: &str) -> (Vec<Option<PathBuf>>, Vec<Option<PathBuf>>) {
    (vec![Some(folder.into()); 6], vec![Some(folder.into()); 2])
}

#[tokio::test]
async fn mutations_are_kept_beneath_the_root_that_permits_them() {
    for (path, root) in [("/w/a", "/w"), ("/w/b/c", "/w"), ("/tmp/t", "/tmp")] {
        let expected = (vec![None; 6], vec![Some(root.into()); 2]);
        assert_eq!(told(&fence(WorkspaceWrite, 0), path).await, expected, "{path}");
    }
    for path in ["/r/a", "/w"] {
        assert_eq!(told(&fence(WorkspaceWrite, 0), path).await, (vec![None; 6], vec![]), "{path}");
    }
    assert_eq!(told(&fence(DangerFullAccess, 0), "/r/a").await, (vec![None; 6], vec![None; 2]));
}

#[tokio::test]
async fn with_read_rules_everything_is_kept_beneath_a_root() {
    let anywhere = || with_rules(fence(DangerFullAccess, 0), &[], &["*.pem"]);
    assert_eq!(told(&anywhere(), "/r/a").await, all("/"));
    let rooted = || with_rules(fence(DangerFullAccess, 0), &["/w", "/r"], &[]);
    assert_eq!(told(&rooted(), "/r/a").await, all("/r"));
    assert_eq!(told(&rooted(), "/r").await, all("/"));
    assert_eq!(told(&rooted(), "/tmp/t").await, (vec![], vec![]));
    let narrow = with_rules(fence(WorkspaceWrite, 0), &["/w/sub"], &[]);
    assert_eq!(told(&narrow, "/w/sub/a").await, (vec![Some("/w/sub".into()); 6], vec![Some("/w".into()); 2]));
}

async fn every_operation(fence: &Fence<Told>, mut check: impl FnMut(&'static str, Result<(), FsError>)) {
    let call = FsCall::new();
    let target = fence.resolve("/w/a", None, &call).await.unwrap();
    let folder = fence.resolve("/w", None, &call).await.unwrap();
    let edit = LiteralEdit::new("a", "a2", false).unwrap();
    check("read", fence.stat(&target, &call).await.map(drop));
    check("read", fence.lstat("/w/a", None, &call).await.map(drop));
    check("read", fence.read_text(&target, &call).await.map(drop));
    check("read", fence.stream_text(&target, None, &call).await.map(drop));
    check("read", fence.read_bytes(&target, 9, &call).await.map(drop));
    check("list", fence.list_dir(&folder, &call).await.map(drop));
    check("write", fence.edit_text(&target, &edit, None, &call).await.map(drop));
    check("write", fence.write_text(&target, "x", None, &call).await.map(drop));
}

#[tokio::test]
async fn what_moved_is_judged_again_three_times_at_most() {
    let fence = with_rules(fence(WorkspaceWrite, 2), &["/w"], &[]);
    every_operation(&fence, |_, outcome| {
        outcome.unwrap();
        assert_eq!(fence.inner().beneath().len(), 3);
        fence.inner().moves.store(2, Ordering::Relaxed);
    })
    .await;

    fence.inner().moves.store(3, Ordering::Relaxed);
    every_operation(&fence, |verb, outcome| {
        let said = match verb {
            "list" => "cannot read \"/w\": file access denied by the read rules",
            "write" => "cannot write \"/w/a\": file access denied under workspace-write mode",
            _ => "cannot read \"/w/a\": file access denied by the read rules",
        };
        denied(outcome, said);
        assert_eq!(fence.inner().beneath().len(), 3);
        fence.inner().moves.store(3, Ordering::Relaxed);
    })
    .await;
}

#[tokio::test]
async fn full_access_under_read_rules_is_refused_in_their_words() {
    let fence = with_rules(fence(DangerFullAccess, 3), &["/w"], &[]);
    let target = fence.resolve("/w/a", None, &FsCall::new()).await.unwrap();
    let said = "cannot write \"/w/a\": file access denied by the read rules";
    denied(fence.write_text(&target, "x", None, &FsCall::new()).await, said);
}

#[tokio::test]
async fn what_was_not_judged_is_asked_once() {
    let fence = fence(DangerFullAccess, 1);
    let target = fence.resolve("/w/a", None, &FsCall::new()).await.unwrap();
    denied(fence.write_text(&target, "x", None, &FsCall::new()).await, "moved");
    assert_eq!(fence.inner().beneath(), [None]);
}
