//! Where Git looks for what it runs without a `.git` in the path.

use std::fs;

use dsh_fs::SandboxMode::WorkspaceWrite;

use crate::disk::Disk;

async fn refused(disk: &Disk, paths: &[&str]) {
    for path in paths {
        disk.refuses(path, &disk.at(&format!("w/{path}")), "workspace-write").await;
    }
}

async fn written(disk: &Disk, paths: &[&str]) {
    for path in paths {
        disk.write(path).await.unwrap();
        assert_eq!(disk.text(&format!("w/{path}")).unwrap(), "x", "{path}");
    }
}

#[tokio::test]
async fn the_git_folder_may_be_a_link() {
    let disk = Disk::new(WorkspaceWrite);
    disk.put("w/real/info/x", "");
    disk.link("w/.git", "real");
    refused(&disk, &[".git/config", ".git/hooks/x", "real/config", "Real/hooks/x", "real/modules/s/config"])
        .await;
    written(&disk, &["real/info/exclude", ".git/HEAD", "config", "sub/real/config"]).await;

    let disk = Disk::new(WorkspaceWrite);
    disk.link("w/.git", "later");
    refused(&disk, &["later", "later/config"]).await;
}

#[tokio::test]
async fn a_folder_in_the_git_folder_may_be_a_link() {
    let disk = Disk::new(WorkspaceWrite);
    disk.put("w/.git/HEAD", "");
    disk.put("w/tools/x", "keep\n");
    disk.put("w/settings", "keep\n");
    disk.link("w/.git/hooks", "../tools");
    disk.link("w/.git/config", "../settings");
    refused(&disk, &[".git/hooks/x", "tools/x", "tools/new", ".git/config", "settings"]).await;
    assert_eq!(disk.text("w/tools/x").unwrap(), "keep\n");
    written(&disk, &["tools.txt", "settings.txt"]).await;
}

#[tokio::test]
async fn the_git_folder_may_be_named_in_a_file() {
    let disk = Disk::new(WorkspaceWrite);
    disk.put("w/deep/gits/one/index", "");
    disk.put("w/deep/down/x", "");
    disk.link("w/up", "deep/down");
    // The repository is found when it comes, and `..` leads up from where the link leads.
    written(&disk, &["deep/gits/one/config", "deep/shared/config"]).await;
    disk.put("w/.git", "gitdir: up/../gits/one\n");
    disk.put("w/deep/gits/one/commondir", "../../shared\n");
    refused(&disk, &["deep/gits/one/config", "deep/gits/one/hooks/x", "deep/gits/one/commondir"]).await;
    refused(&disk, &["deep/shared/config", "deep/shared/hooks/x", "deep/shared/rebase-merge/x"]).await;
    written(&disk, &["deep/gits/one/index", "gits/one/config", "deep/config"]).await;

    disk.put("w/.git", &format!("gitdir: {}\r\n", disk.at("tmp/two").display()));
    disk.refuses("../tmp/two/config", &disk.at("tmp/two/config"), "workspace-write").await;
    written(&disk, &["deep/gits/one/config"]).await;
}

#[tokio::test]
async fn a_folder_with_the_shape_of_a_repository_is_one() {
    let disk = Disk::new(WorkspaceWrite);
    for name in ["b/HEAD", "b/objects/x", "b/refs/x"] {
        disk.put(&format!("w/{name}"), "");
    }
    refused(&disk, &["b/config", "b/CONFIG", "b/hooks", "b/hooks/a/x", "b/commondir", "b/config.worktree"])
        .await;
    written(&disk, &["b/HEAD", "b/refs/heads/x", "b/objects/y", "b/description", "b/sub/config"]).await;
    // What is a link is judged where it stands, too.
    disk.link("w/b/config", "../plain");
    refused(&disk, &["b/config"]).await;
    fs::remove_file(disk.at("w/b/HEAD")).unwrap();
    disk.link("w/b/HEAD", "refs/heads/none");
    refused(&disk, &["b/config.worktree"]).await;
}

#[tokio::test]
async fn no_folder_becomes_a_repository_that_runs_something() {
    let disk = Disk::new(WorkspaceWrite);
    for (there, last) in [
        (&["config", "objects/x", "refs/x"][..], "HEAD"),
        (&["config", "HEAD", "objects/x"], "refs/heads/x"),
        (&["hooks/x", "HEAD", "refs/x"], "objects/a/x"),
        (&["HEAD"], "commondir"),
        (&["commondir"], "head"),
    ] {
        fs::remove_dir_all(disk.at("w")).unwrap();
        fs::create_dir(disk.at("w")).unwrap();
        for name in there {
            disk.put(&format!("w/r/{name}"), "");
        }
        refused(&disk, &[&format!("r/{last}")]).await;
    }
    // Without something to run, and with a part missing, the names are ordinary.
    written(&disk, &["n/HEAD", "n/objects/x", "n/refs/x", "m/config", "m/hooks/x", "m/HEAD", "m/objects/x"])
        .await;
}

#[tokio::test]
async fn two_writes_at_once_do_not_make_one_either() {
    for _ in 0..20 {
        let disk = Disk::new(WorkspaceWrite);
        disk.put("w/objects/x", "");
        disk.put("w/refs/x", "");
        let outcomes = tokio::join!(disk.write("HEAD"), disk.write("config"));
        assert!(outcomes.0.is_ok() != outcomes.1.is_ok(), "{outcomes:?}");
    }
}
