use std::path::Path;
use std::sync::Arc;

use dsh_fs::SandboxMode::{DangerFullAccess, ReadOnly, WorkspaceWrite};
use dsh_fs::literal_edit::LiteralEdit;
use dsh_fs::{FileSystem, FsCall, FsErrorCode, MemoryFileSystem, SandboxMode, WriteGuard};
use dsh_fs_sandbox::{Fence, StandingPolicy};

use crate::disk::{Disk, denied, under};

fn memory(mode: SandboxMode) -> Fence<MemoryFileSystem> {
    let fs = MemoryFileSystem::with_files([("/w/a", "a\n"), ("/out/a", "a\n")]);
    Fence::new(fs, Arc::new(StandingPolicy::new(mode, "/w".into())), vec!["/tmp".into()])
}

async fn write(fence: &Fence<MemoryFileSystem>, path: &str, call: &FsCall) -> Result<(), dsh_fs::FsError> {
    let target = fence.resolve(path, None, call).await.unwrap();
    fence.write_text(&target, "x", None, call).await.map(drop)
}

#[tokio::test]
async fn read_only_reads_everything_and_changes_nothing() {
    let disk = Disk::new(ReadOnly);
    disk.put("w/f.txt", "alpha\n");
    assert_eq!(disk.read("f.txt").await.unwrap(), "alpha\n");
    assert_eq!(disk.read("../outside/keep.txt").await.unwrap(), "keep\n");
    for path in ["f.txt", "sub/new", "../tmp/t.txt", "../outside/keep.txt"] {
        let shown = disk.target(path).await.display_path().to_owned();
        disk.refuses(path, Path::new(&shown), "read-only").await;
    }
    assert_eq!(disk.text("w/f.txt").unwrap(), "alpha\n");
    assert!(!disk.at("w/sub").exists() && !disk.at("tmp/t.txt").exists());
}

#[tokio::test]
async fn workspace_write_writes_in_the_workspace_and_the_temporary_folders() {
    let disk = Disk::new(WorkspaceWrite);
    disk.put("w/real/f.txt", "a\n");
    disk.link("w/l", "real");
    disk.edit("l/f.txt", "a", "b").await.unwrap();
    disk.write("x/../new.txt").await.unwrap();
    disk.write("deep/er/f").await.unwrap();
    disk.write("../tmp/t.txt").await.unwrap();
    assert_eq!(disk.text("w/real/f.txt").unwrap(), "b\n");
    for name in ["w/new.txt", "w/deep/er/f", "tmp/t.txt"] {
        assert_eq!(disk.text(name).unwrap(), "x", "{name}");
    }
    disk.refuses("../outside/keep.txt", &disk.at("outside/keep.txt"), "workspace-write").await;
}

#[tokio::test]
async fn danger_full_access_writes_everywhere() {
    let disk = Disk::new(DangerFullAccess).protecting(&["w/compose.yaml"]);
    for path in ["../outside/keep.txt", "../outside/new", "compose.yaml", ".git/config"] {
        disk.write(path).await.unwrap();
    }
    assert_eq!(disk.text("outside/keep.txt").unwrap(), "x");
}

#[tokio::test]
async fn the_policy_of_a_call_takes_the_place_of_the_standing_one() {
    let fence = memory(ReadOnly);
    assert_eq!(fence.sandbox_mode(), Some(ReadOnly));
    write(&fence, "/w/b", &under(WorkspaceWrite, "/w".as_ref())).await.unwrap();
    write(&fence, "/out/b", &under(DangerFullAccess, "/w".as_ref())).await.unwrap();
    let elsewhere = under(WorkspaceWrite, "/other".as_ref());
    let said = "cannot write \"/w/b\": file access denied under workspace-write mode";
    denied(write(&fence, "/w/b", &elsewhere).await, said);
    // For that call only.
    let said = "cannot write \"/w/b\": file access denied under read-only mode";
    denied(write(&fence, "/w/b", &FsCall::new()).await, said);
}

#[tokio::test]
async fn a_backend_without_process_paths_is_judged_by_its_own_containment() {
    let fence = memory(WorkspaceWrite);
    for path in ["/w/a", "/w/x/../new", "/tmp/t", "//w/./b"] {
        write(&fence, path, &FsCall::new()).await.unwrap();
    }
    for (path, shown) in [("/out/a", "/out/a"), ("/w/../w-evil/a", "/w-evil/a"), ("/w/../../out/a", "/out/a")]
    {
        let said = format!("cannot write \"{shown}\": file access denied under workspace-write mode");
        denied(write(&fence, path, &FsCall::new()).await, &said);
    }
    assert_eq!(*fence.inner().bytes("/out/a").unwrap(), *b"a\n");
}

#[tokio::test]
async fn a_refusal_comes_before_every_other_check() {
    let disk = Disk::new(WorkspaceWrite);
    let target = disk.target("../outside/keep.txt").await;
    let said =
        format!("cannot write \"{}\": file access denied under workspace-write mode", target.display_path());
    let stopped = FsCall::new();
    stopped.cancel.cancel();
    for call in [FsCall::new(), stopped] {
        let guard = Some(&WriteGuard::CreateIfAbsent);
        denied(disk.fence.write_text(&target, "x", guard, &call).await, &said);
        let edit = LiteralEdit::new("absent", "x", false).unwrap();
        let stale = dsh_fs::FsVersion::new("stale");
        denied(disk.fence.edit_text(&target, &edit, Some(&stale), &call).await, &said);
    }
    // The folders above a new file are not made either.
    let target = disk.target("../outside/a/b/new").await;
    let said =
        format!("cannot write \"{}\": file access denied under workspace-write mode", target.display_path());
    denied(disk.fence.write_text(&target, "x", None, &FsCall::new()).await, &said);
    assert!(!disk.at("outside/a").exists());
}

#[tokio::test]
async fn what_cannot_be_resolved_any_more_is_said_as_it_is() {
    let disk = Disk::new(WorkspaceWrite);
    let target = disk.target("folder/f").await;
    disk.put("w/folder", "a file now");
    let error = disk.fence.write_text(&target, "x", None, &FsCall::new()).await.unwrap_err();
    assert_eq!(error.code(), FsErrorCode::NotFound);
    let shown = disk.at("w/folder/f");
    let said = format!("cannot resolve \"{}\": a parent path segment is not a directory", shown.display());
    assert_eq!(error.to_string(), said);
}

#[tokio::test]
async fn a_workspace_root_that_names_nothing_opens_nothing() {
    let disk = Disk::new(WorkspaceWrite);
    let target = disk.target("../outside/keep.txt").await;
    let said =
        format!("cannot write \"{}\": file access denied under workspace-write mode", target.display_path());
    for root in ["", " ", "no-such"] {
        let call = under(WorkspaceWrite, Path::new(root));
        denied(disk.fence.write_text(&target, "x", None, &call).await, &said);
    }
}
