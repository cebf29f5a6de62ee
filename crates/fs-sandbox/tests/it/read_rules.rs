use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use dsh_fs::SandboxMode::{DangerFullAccess, WorkspaceWrite};
use dsh_fs::{FileSystem, FsCall, FsVersion, MemoryFileSystem, ReadRules, ResumePoint, TextStream};
use dsh_fs_sandbox::{Fence, PathRules, StandingPolicy};

use crate::disk::{Disk, denied};

fn rules(roots: &[&str], deny: &[&str]) -> PathRules {
    let deny: Vec<_> = deny.iter().map(|&glob| glob.to_owned()).collect();
    PathRules::new(roots.iter().map(Into::into), &deny).unwrap().unwrap()
}

#[track_caller]
fn judge(rules: &PathRules, permitted: &[&str], denied: &[&str]) {
    for (paths, expected) in [(permitted, true), (denied, false)] {
        for path in paths {
            // A slash at the end stands for a folder.
            let (bare, is_folder) = path.strip_suffix('/').map_or((*path, false), |folder| (folder, true));
            assert_eq!(rules.permits(Path::new(bare), is_folder), expected, "{path}");
        }
    }
}

#[test]
fn names_match_at_any_depth_with_all_that_is_below_them() {
    let permitted = ["/w/env", "/w/.env.d/x", "/w/a.pem.txt", "/"];
    let denied = ["/.env", "/w/.env", "/w/.env/", "/w/a/.env/b/c", "/w/k.pem", "/k.pem/x", "/w/.pem"];
    judge(&rules(&[], &[".env", "*.pem"]), &permitted, &denied);
}

#[test]
fn a_slash_at_the_start_means_the_whole_path() {
    let rules = rules(&[], &["/srv/*/.ssh", "/etc/shadow"]);
    judge(
        &rules,
        &["/w/srv/u/.ssh", "/srv/.ssh", "/srv/a/b/.ssh", "/w/etc/shadow"],
        &["/srv/u/.ssh", "/srv/u/.ssh/id", "/etc/shadow"],
    );
}

#[test]
fn a_slash_in_the_middle_means_any_depth() {
    let rules = rules(&[], &["secret/*.key", "./a//b", "x/**/y"]);
    judge(
        &rules,
        &["/secret/a/b.key", "/secret", "/w/a", "/w/ab", "/x/z"],
        &["/secret/b.key", "/w/x/secret/b.key", "/a/b", "/w/a/b/c", "/x/y", "/w/x/1/2/y/z"],
    );
}

#[test]
fn a_slash_at_the_end_means_folders() {
    judge(&rules(&[], &["private/"]), &["/w/private", "/w/private.txt"], &["/w/private/", "/w/private/f"]);
}

#[test]
fn letters_match_in_any_case_and_form() {
    judge(
        &rules(&[], &["Caf\u{e9}", "{a,b}.TXT", r"\*x", "[a-c]z", "\u{212a}ey?"]),
        &["/w/cafe", "/w/c.txt", "/w/yx", "/w/dz", "/w/key"],
        &["/w/CAFE\u{301}", "/w/caf\u{c9}", "/w/A.txt", "/w/*X", "/w/Bz", "/w/KEY1"],
    );
    // A name that is not text is matched as far as it is.
    let name = Path::new(OsStr::from_bytes(b"/w/caf\xE9.pem"));
    assert!(!rules(&[], &["*.pem"]).permits(name, false));
}

#[test]
fn names_match_as_file_systems_may_cut_them() {
    judge(
        &rules(&[], &[".env", "private/", "x.", r"\~a", r"\$b"]),
        &["/w/.env.x", "/w/.envx", "/w/private.", "/w/x", "/w/..."],
        &[
            "/w/.ENV.",
            "/w/.env ",
            "/w/.env::$DATA",
            "/w/private. /x",
            "/w/private:a/",
            "/w/x.",
            "/w/~a",
            "/w/$b",
        ],
    );
}

#[test]
fn patterns_that_would_do_nothing_are_refused() {
    for (pattern, said) in [
        ("!keep", "deny pattern \"!keep\" is negated; list only what must not be read"),
        (
            "~/.ssh",
            "deny pattern \"~/.ssh\" is not expanded; write the whole path, or \"\\~/.ssh\" for a name that begins so",
        ),
        (
            "$HOME/.ssh",
            "deny pattern \"$HOME/.ssh\" is not expanded; write the whole path, or \"\\$HOME/.ssh\" for a name that begins so",
        ),
        ("", "deny pattern \"\" can match no path"),
        (" ", "deny pattern \" \" can match no path"),
        ("/", "deny pattern \"/\" can match no path"),
        ("./", "deny pattern \"./\" can match no path"),
        ("a/../b", "deny pattern \"a/../b\" can match no path"),
        (
            "a[",
            "deny pattern \"a[\" is not a glob: error parsing glob '**/a[': unclosed character class; missing ']'",
        ),
    ] {
        assert_eq!(PathRules::new([], &[pattern.to_owned()]).unwrap_err().to_string(), said);
    }
    assert!(PathRules::new([], &[]).unwrap().is_none());
}

#[test]
fn roots_bound_what_may_be_read() {
    let rules = rules(&["/w/src", "/lib"], &["*.pem"]);
    judge(
        &rules,
        &["/w/src/", "/w/src/a", "/lib/x/y"],
        &["/w/", "/w/src-evil/a", "/w/a", "/", "/w/src/k.pem", "/library"],
    );
    for (path, root) in [("/w/src/a", "/w/src"), ("/lib", "/lib"), ("/etc/passwd", "/w/src")] {
        assert_eq!(&*rules.root_of(Path::new(path)), Path::new(root), "{path}");
    }
    let anywhere = self::rules(&[], &["*.pem"]);
    assert_eq!(&*anywhere.root_of(Path::new("/w/a")), Path::new("/"));
}

#[tokio::test]
async fn every_way_to_read_is_under_the_rules() {
    let disk = Disk::new(WorkspaceWrite).reading(&[], &[".env", "private/"]);
    disk.put("w/.env", "secret");
    disk.put("w/private/f", "secret");
    disk.link("w/innocent", ".env");
    disk.link("w/door", "private");
    let call = FsCall::new();
    for path in [".env", "private/f", "innocent", "door/f"] {
        let target = disk.target(path).await;
        let said = format!(
            "cannot read \"{}\": file access denied by the read rules",
            disk.at("w").join(path).display()
        );
        denied(disk.fence.stat(&target, &call).await, &said);
        denied(disk.fence.lstat(path, Some(&disk.at("w")), &call).await, &said);
        denied(disk.fence.read_text(&target, &call).await, &said);
        denied(disk.fence.stream_text(&target, None, &call).await, &said);
        // Where another session has been is no way in either.
        let from = ResumePoint { offset: 0, version: FsVersion::new("of another session") };
        denied(disk.fence.stream_text(&target, Some(&from), &call).await, &said);
        denied(disk.fence.read_bytes(&target, 10, &call).await, &said);
        denied(disk.fence.list_dir(&target, &call).await, &said);
        let said = said.replace("cannot read", "cannot write");
        denied(disk.write(path).await, &said);
        denied(disk.edit(path, "secret", "x").await, &said);
    }
    for path in ["private", "door"] {
        let target = disk.target(path).await;
        let said = format!(
            "cannot read \"{}\": file access denied by the read rules",
            disk.at("w").join(path).display()
        );
        denied(disk.fence.stat(&target, &call).await, &said);
        denied(disk.fence.list_dir(&target, &call).await, &said);
    }
    assert_eq!(disk.text("w/.env").unwrap(), "secret");
    // What does not exist yet is no different.
    let said =
        format!("cannot write \"{}\": file access denied by the read rules", disk.at("w/new/.env").display());
    denied(disk.write("new/.env").await, &said);
    assert!(!disk.at("w/new").exists());
}

#[tokio::test]
async fn a_denied_name_is_denied_wherever_it_leads() {
    let disk = Disk::new(WorkspaceWrite).reading(&["w"], &[".env", "private/"]);
    disk.put("w/real", "secret");
    disk.put("w/open/f", "secret");
    disk.link("w/.env", "real");
    disk.link("w/private", "open");
    let call = FsCall::new();
    for path in [".env", "private/f", "private"] {
        let target = disk.target(path).await;
        let shown = disk.at("w").join(path);
        let said = format!("cannot read \"{}\": file access denied by the read rules", shown.display());
        denied(disk.fence.stat(&target, &call).await, &said);
        if path != "private" {
            denied(disk.fence.lstat(path, Some(&disk.at("w")), &call).await, &said);
            denied(disk.fence.read_text(&target, &call).await, &said);
            let said = said.replace("cannot read", "cannot write");
            denied(disk.write(path).await, &said);
            denied(disk.edit(path, "secret", "x").await, &said);
        }
    }
    let listed = disk.fence.list_dir(&disk.target(".").await, &call).await.unwrap();
    let names: Vec<_> = listed.iter().map(|child| child.name.as_str()).collect();
    assert_eq!(names, ["open", "real"]);
    assert_eq!(disk.read("open/f").await.unwrap(), "secret");
    assert_eq!(disk.text("w/real").unwrap(), "secret");
}

#[tokio::test]
async fn what_is_permitted_reads_as_without_rules() {
    let disk = Disk::new(WorkspaceWrite).reading(&["w", "tmp"], &["*.pem"]);
    disk.put("w/sub/a.txt", "text\n");
    disk.link("w/l", "sub");
    let call = FsCall::new();
    let target = disk.target("l/a.txt").await;
    assert_eq!(disk.read("l/a.txt").await.unwrap(), "text\n");
    assert_eq!(disk.fence.read_bytes(&target, 10, &call).await.unwrap().bytes, b"text\n");
    assert!(matches!(disk.fence.stream_text(&target, None, &call).await.unwrap(), TextStream::Open(_)));
    assert_eq!(disk.fence.stat(&target, &call).await.unwrap().unwrap().size, Some(5));
    let looked = disk.fence.lstat("l", Some(&disk.at("w")), &call).await.unwrap().unwrap();
    assert_eq!(looked.kind, dsh_fs::FsPathKind::Symlink);
    let looked = disk.fence.lstat("l/", Some(&disk.at("w")), &call).await.unwrap().unwrap();
    assert_eq!(looked.kind, dsh_fs::FsPathKind::Directory);
    assert!(disk.fence.lstat("none", Some(&disk.at("w")), &call).await.unwrap().is_none());
    disk.edit("l/a.txt", "text", "more").await.unwrap();
    disk.write("../tmp/t").await.unwrap();
    assert_eq!(disk.text("w/sub/a.txt").unwrap(), "more\n");
}

#[tokio::test]
async fn listings_leave_out_what_may_not_be_read() {
    let disk = Disk::new(WorkspaceWrite).reading(&["w"], &["*.pem", "private/"]);
    for name in ["a", "k.pem", "private/f", "sub/private"] {
        disk.put(&format!("w/{name}"), "");
    }
    disk.link("w/out", "../outside/keep.txt");
    disk.link("w/hidden", "k.pem");
    disk.link("w/shown", "a");
    fs::write(disk.at("w").join(OsStr::from_bytes(b"caf\xE9")), "bytes").unwrap();
    let call = FsCall::new();
    let listed = disk.fence.list_dir(&disk.target(".").await, &call).await.unwrap();
    let names: Vec<_> = listed.iter().map(|child| child.name.as_str()).collect();
    assert_eq!(names, ["a", "caf\u{fffd}", "shown", "sub"]);
    // A target whose name is not text has no path to be asked for again, and reads all the same.
    assert_eq!(disk.fence.read_text(&listed[1].target, &call).await.unwrap().text, "bytes");
    let listed = disk.fence.list_dir(&disk.target("sub").await, &call).await.unwrap();
    assert_eq!(listed.len(), 1, "`private/` is no rule for files");
}

#[tokio::test]
async fn full_access_does_not_lift_the_read_rules() {
    let disk = Disk::new(DangerFullAccess).reading(&["w"], &[]);
    let shown = disk.at("outside/keep.txt");
    for (verb, outcome) in [
        ("read", disk.read("../outside/keep.txt").await.map(drop)),
        ("write", disk.write("../outside/keep.txt").await),
        ("write", disk.edit("../outside/keep.txt", "keep", "x").await),
    ] {
        denied(
            outcome,
            &format!("cannot {verb} \"{}\": file access denied by the read rules", shown.display()),
        );
    }
    disk.write("new").await.unwrap();
    assert_eq!(disk.text("outside/keep.txt").unwrap(), "keep\n");
}

#[tokio::test]
async fn the_rules_are_told_to_those_who_walk_themselves() {
    assert!(Disk::new(WorkspaceWrite).fence.read_rules().is_none());
    let disk = Disk::new(WorkspaceWrite).reading(&[], &["*.pem"]);
    let rules = disk.fence.read_rules().unwrap();
    assert!(rules.permits(&disk.at("w/a"), false) && !rules.permits(&disk.at("w/a.pem"), false));
}

#[tokio::test]
async fn of_two_fences_both_must_permit() {
    let fs = MemoryFileSystem::with_files([("/w/a.key", "k"), ("/w/a.pem", "p"), ("/w/a", "a")]);
    let policy = Arc::new(StandingPolicy::new(WorkspaceWrite, "/w".into()));
    let inner = Fence::new(fs, policy.clone(), vec![]).reading_by(Some(rules(&[], &["*.key"])));
    let outer = Fence::new(inner, policy, vec![]).reading_by(Some(rules(&[], &["*.pem"])));
    let call = FsCall::new();
    for (path, permitted) in [("/w/a.key", false), ("/w/a.pem", false), ("/w/a", true)] {
        let target = outer.resolve(path, None, &call).await.unwrap();
        let told = outer.read_rules().unwrap().permits(Path::new(path), false);
        let read = outer.read_text(&target, &call).await.is_ok();
        let written = outer.write_text(&target, "x", None, &call).await.is_ok();
        assert_eq!((told, read, written), (permitted, permitted, permitted), "{path}");
    }
}
