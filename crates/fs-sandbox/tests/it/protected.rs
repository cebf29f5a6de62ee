use dsh_fs::SandboxMode::WorkspaceWrite;

use crate::disk::Disk;

#[tokio::test]
async fn what_git_runs_cannot_be_written_in_any_repository() {
    let disk = Disk::new(WorkspaceWrite);
    disk.put("w/.git/config", "keep\n");
    for path in [
        ".git",
        ".git/config",
        ".git/hooks",
        ".git/hooks/pre-commit",
        ".git/hooks/a/b",
        ".git/config.worktree",
        ".git/commondir",
        ".git/rebase-merge/git-rebase-todo",
        ".git/rebase-apply/x",
        ".git/worktrees/x/sequencer/todo",
        ".git/modules/sub/config",
        ".git/modules/sub/hooks/post-checkout",
        ".git/worktrees/x/config.worktree",
        "nested/repo/.git/config",
        "nested/repo/.git/hooks/x",
        "a/.git/b/../hooks/x",
        "../tmp/r/.git/hooks/x",
    ] {
        let shown = disk.target(path).await.display_path().to_owned();
        disk.refuses(path, shown.as_ref(), "workspace-write").await;
    }
    assert_eq!(disk.text("w/.git/config").unwrap(), "keep\n");
    assert!(!disk.at("w/.git/hooks").exists() && !disk.at("w/nested").exists());
    assert_eq!(disk.read(".git/config").await.unwrap(), "keep\n");
}

#[tokio::test]
async fn every_spelling_that_a_file_system_may_fold_counts() {
    let disk = Disk::new(WorkspaceWrite);
    for path in [
        ".GIT/Config",
        ".Git/HOOKS/x",
        ".git./config",
        ".git /hooks/x",
        ".git/config...",
        ".g\u{200c}it/config",
        ".git/con\u{fb01}g",
        ".git/hoo\u{212a}\u{17f}/x",
        "GIT~1/config",
        "git~12/hooks/x",
        ".git/HOOKS~1/x",
        ".git::$INDEX_ALLOCATION/config",
        ".git/config::$DATA",
        ".git :a/hooks. :b/x",
    ] {
        disk.refuses(path, &disk.at(&format!("w/{path}")), "workspace-write").await;
    }
}

#[tokio::test]
async fn names_that_only_resemble_them_can_be_written() {
    let disk = Disk::new(WorkspaceWrite).protecting(&["w/compose.yaml", "w/state"]);
    for path in [
        ".git/HEAD",
        ".git/info/exclude",
        ".gitignore",
        ".github/hooks/x",
        "git/config",
        "hooks/x",
        "config",
        "x.git/config",
        "compose.yaml.bak",
        "state-of-things",
        "sub/compose.yaml",
        "notes~1",
    ] {
        disk.write(path).await.unwrap();
        assert_eq!(disk.text(&format!("w/{path}")).unwrap(), "x", "{path}");
    }
}

#[tokio::test]
async fn the_composition_and_the_state_of_the_program_cannot_be_written() {
    let disk = Disk::new(WorkspaceWrite).protecting(&["w/Compose.yaml", "w/.state/dsh", "w/caf\u{e9}"]);
    disk.put("w/.state/dsh/log", "keep\n");
    disk.link("w/door", ".state");
    for path in [
        "Compose.yaml",
        "compose.YAML",
        "COMPOS~1.YAM",
        ".state/dsh",
        ".state/dsh/log",
        ".State/DSH/new/deep",
        "door/dsh/log",
        "cafe\u{301}",
        "CAF\u{c9}",
    ] {
        disk.refuses(path, &disk.at(&format!("w/{path}")), "workspace-write").await;
    }
    assert_eq!(disk.text("w/.state/dsh/log").unwrap(), "keep\n");
    assert!(!disk.at("w/Compose.yaml").exists());
    disk.write(".state/other").await.unwrap();
}

#[tokio::test]
async fn links_are_no_way_around() {
    let disk = Disk::new(WorkspaceWrite);
    disk.put("w/.git/config", "keep\n");
    disk.link("w/innocent", ".git/config");
    disk.link("w/folder", ".git");
    disk.link("w/dangling", ".git/hooks/pre-push");
    for path in ["innocent", "folder/config", "folder/hooks/x", "dangling"] {
        disk.refuses(path, &disk.at(&format!("w/{path}")), "workspace-write").await;
    }
    assert!(!disk.at("w/.git/hooks").exists());
}
