//! Paths that would lead out of the workspace.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use dsh_fs::SandboxMode::WorkspaceWrite;
use dsh_fs::{FileSystem, FsCall, Owner, SandboxPolicy};
use dsh_fs_sandbox::StandingPolicy;
use dsh_harness::{Session, SessionHeader};

use crate::disk::{Disk, denied, under};

/// Refused, and the world outside is as it was.
async fn outside(disk: &Disk, path: &str, shown: &str) {
    disk.refuses(path, &disk.at(shown), "workspace-write").await;
    assert_eq!(disk.text("outside/keep.txt").unwrap(), "keep\n");
    let mut names: Vec<_> =
        fs::read_dir(disk.at("outside")).unwrap().map(|child| child.unwrap().file_name()).collect();
    names.retain(|name| name != "sub");
    assert_eq!(names, ["keep.txt"], "{path}");
}

#[tokio::test]
async fn a_sibling_whose_name_begins_alike_is_outside() {
    let disk = Disk::new(WorkspaceWrite);
    disk.put("w-evil/f", "keep\n");
    outside(&disk, "../w-evil/f", "w-evil/f").await;
    outside(&disk, &format!("{}-evil/new", disk.at("w").display()), "w-evil/new").await;
    assert_eq!(disk.text("w-evil/f").unwrap(), "keep\n");
    assert!(!disk.at("w-evil/new").exists());
}

#[tokio::test]
async fn dot_dot_does_not_lead_out_and_nothing_is_made_on_the_way() {
    let disk = Disk::new(WorkspaceWrite);
    disk.put("w/sub/f", "");
    for (path, shown) in [
        ("../dir2/pwned.txt", "dir2/pwned.txt"),
        ("sub/../../pwned.txt", "pwned.txt"),
        ("no/such/../../../x/y.txt", "x/y.txt"),
        ("../outside/new.txt", "outside/new.txt"),
    ] {
        outside(&disk, path, shown).await;
        assert!(!disk.at(shown).exists());
    }
    assert!(!disk.at("dir2").exists() && !disk.at("x").exists() && !disk.at("w/no").exists());
    disk.write("sub/../ok.txt").await.unwrap();
}

#[tokio::test]
async fn links_that_lead_out_may_be_read_and_never_written() {
    let disk = Disk::new(WorkspaceWrite);
    disk.put("outside/sub/f", "");
    disk.link("w/leak", "../outside/keep.txt");
    disk.link("w/outbox", disk.at("outside"));
    disk.link("w/dangling", "../outside/new.txt");
    disk.link("w/ld", "../outside/sub");
    assert_eq!(disk.read("leak").await.unwrap(), "keep\n");
    assert_eq!(disk.read("outbox/keep.txt").await.unwrap(), "keep\n");
    for path in ["leak", "outbox/keep.txt", "outbox/new", "outbox/a/b/new", "dangling"] {
        outside(&disk, path, &format!("w/{path}")).await;
    }
    // `..` is folded before links are followed: this is a file of the workspace.
    disk.write("ld/../n.txt").await.unwrap();
    assert_eq!(disk.text("w/n.txt").unwrap(), "x");
    assert!(disk.at("w/leak").is_symlink() && disk.at("w/dangling").is_symlink());
}

#[tokio::test]
async fn links_that_lead_in_may_be_written() {
    let disk = Disk::new(WorkspaceWrite);
    disk.put("w/real/f", "a\n");
    disk.link("w/relative", "real");
    disk.link("w/absolute", disk.at("w/real"));
    disk.link("w/new", "real/new");
    disk.link("outside/in", disk.at("w/real"));
    for path in ["relative/1", "absolute/2", "new", "../outside/in/3"] {
        disk.write(path).await.unwrap();
    }
    for name in ["1", "2", "3", "new"] {
        assert_eq!(disk.text(&format!("w/real/{name}")).unwrap(), "x", "{name}");
    }
    assert!(disk.at("w/new").is_symlink());
}

#[tokio::test]
async fn what_turned_into_a_link_since_it_was_resolved_is_judged_anew() {
    let disk = Disk::new(WorkspaceWrite);
    disk.put("w/d/f", "mine\n");
    disk.put("w/f", "mine\n");
    let (below, file) = (disk.target("d/f").await, disk.target("f").await);
    fs::rename(disk.at("w/d"), disk.at("aside")).unwrap();
    disk.link("w/d", "../outside");
    fs::remove_file(disk.at("w/f")).unwrap();
    disk.link("w/f", "../outside/keep.txt");
    for target in [below, file] {
        let said = format!(
            "cannot write \"{}\": file access denied under workspace-write mode",
            target.display_path()
        );
        denied(disk.fence.write_text(&target, "x", None, &FsCall::new()).await, &said);
    }
    assert!(!disk.at("outside/f").exists());
    assert_eq!(disk.text("outside/keep.txt").unwrap(), "keep\n");
    assert_eq!(disk.text("aside/f").unwrap(), "mine\n");
}

#[tokio::test]
async fn a_fence_within_a_fence_says_that_the_target_moved() {
    let disk = Disk::new(WorkspaceWrite);
    disk.put("w/other", "mine\n");
    let target = disk.target("f").await;
    let call = FsCall::new().beneath(disk.at("w").into());
    disk.fence.write_text(&target, "x", None, &call).await.unwrap();
    fs::remove_file(disk.at("w/f")).unwrap();
    disk.link("w/f", "other");
    let said = format!("\"{}\" has moved", disk.at("w/f").display());
    denied(disk.fence.write_text(&target, "x", None, &call).await, &said);
    assert_eq!(disk.text("w/other").unwrap(), "mine\n");
}

#[tokio::test]
async fn absolute_paths_devices_and_processes_are_outside() {
    let disk = Disk::new(WorkspaceWrite);
    let keep = disk.at("outside/keep.txt");
    let through_root = format!("/proc/self/root{}", keep.display());
    for path in [
        "/proc/dsh-scenario/a.txt",
        "/dev/null",
        "/dev/stdout",
        "/etc/dsh-new",
        "/proc/self/mem",
        &through_root,
    ] {
        denied(
            disk.write(path).await,
            &format!("cannot write \"{path}\": file access denied under workspace-write mode"),
        );
    }
    outside(&disk, keep.to_str().unwrap(), "outside/keep.txt").await;
}

#[tokio::test]
async fn look_alikes_and_case_variants_are_taken_literally() {
    let disk = Disk::new(WorkspaceWrite);
    // Names of the workspace, whatever they look like.
    for path in ["%2e%2e%2foutside%2fx", "‥/x", "．．/x", "..\\outside\\x", "…/x", "~/x"] {
        disk.write(path).await.unwrap();
        assert_eq!(disk.text(&format!("w/{path}")).unwrap(), "x", "{path}");
    }
    assert_eq!(fs::read_dir(disk.at("outside")).unwrap().count(), 1);
    // Another case is another folder.
    outside(&disk, "../W/f", "W/f").await;
    outside(&disk, "../OUTSIDE/f", "OUTSIDE/f").await;
}

#[tokio::test]
async fn a_hard_link_is_replaced_and_its_other_name_keeps_the_text() {
    let disk = Disk::new(WorkspaceWrite);
    fs::hard_link(disk.at("outside/keep.txt"), disk.at("w/h")).unwrap();
    disk.edit("h", "keep", "mine").await.unwrap();
    assert_eq!(disk.text("w/h").unwrap(), "mine\n");
    assert_eq!(disk.text("outside/keep.txt").unwrap(), "keep\n");
}

#[tokio::test]
async fn a_root_that_is_itself_a_link_opens_what_it_led_to_at_the_first_call() {
    let disk = Disk::new(WorkspaceWrite);
    disk.link("door", "w");
    let session = Session::new(SessionHeader { id: "s1".into(), cwd: disk.at("door") });
    let standing =
        StandingPolicy::new(WorkspaceWrite, disk.at("tmp")).canonical_by(|path| path.canonicalize().ok());
    let call = || FsCall { policy: Some(standing.standing(Some(&Owner::of(&session)))), ..FsCall::new() };
    for path in [disk.at("door/a"), disk.at("w/b")] {
        let target = disk.target(path.to_str().unwrap()).await;
        disk.fence.write_text(&target, "x", None, &call()).await.unwrap();
    }
    assert_eq!(disk.text("w/a").unwrap(), "x");

    fs::remove_file(disk.at("door")).unwrap();
    disk.link("door", "outside");
    let target = disk.target(disk.at("door/keep.txt").to_str().unwrap()).await;
    let said =
        format!("cannot write \"{}\": file access denied under workspace-write mode", target.display_path());
    denied(disk.fence.write_text(&target, "x", None, &call()).await, &said);
    assert_eq!(disk.text("outside/keep.txt").unwrap(), "keep\n");
    // Where no policy followed it, a link is no root at all.
    let target = disk.target("a").await;
    let said = format!(
        "cannot write \"{}\": file access denied under workspace-write mode",
        disk.at("w/a").display()
    );
    denied(disk.fence.write_text(&target, "x", None, &under(WorkspaceWrite, &disk.at("door"))).await, &said);
}

#[tokio::test]
async fn a_root_whose_name_is_not_text_opens_what_is_below_it() {
    let disk = Disk::new(WorkspaceWrite);
    let root = disk.top.join(OsStr::from_bytes(b"caf\xE9"));
    fs::create_dir(&root).unwrap();
    let call = under(WorkspaceWrite, &root);
    let target = disk.fence.resolve("f", Some(&root), &call).await.unwrap();
    disk.fence.write_text(&target, "x", None, &call).await.unwrap();
    assert_eq!(fs::read(root.join("f")).unwrap(), b"x");
    let beside = disk.fence.resolve("f", Some(&disk.at("w")), &call).await.unwrap();
    let said = format!(
        "cannot write \"{}\": file access denied under workspace-write mode",
        disk.at("w/f").display()
    );
    denied(disk.fence.write_text(&beside, "x", None, &call).await, &said);
}

#[tokio::test]
async fn a_folder_of_a_caller_widens_nothing() {
    let disk = Disk::new(WorkspaceWrite);
    let target = disk.fence.resolve("etc/dsh-new", Some(Path::new("/")), &FsCall::new()).await.unwrap();
    let said = "cannot write \"/etc/dsh-new\": file access denied under workspace-write mode";
    denied(disk.fence.write_text(&target, "x", None, &FsCall::new()).await, said);
}

#[tokio::test]
async fn a_folder_that_may_be_written_is_never_made_a_file() {
    let disk = Disk::new(WorkspaceWrite);
    disk.refuses(".", &disk.at("w"), "workspace-write").await;
    fs::remove_dir(disk.at("tmp")).unwrap();
    disk.refuses("../tmp", &disk.at("tmp"), "workspace-write").await;
    assert!(!disk.at("tmp").exists());
}
