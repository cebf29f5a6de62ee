use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value as Json, json};

use crate::binary::{Folder, Output};

const STAGE: &str = ".dsh-0123456789ab";
const CONFLICT: &str = "a.txt.dsh-conflict-1";
const KEEP_STAGE: &str =
    "keep: may hold somebody's bytes (a text that was never published, or the text before the last change)";
const KEEP_CONFLICT: &str =
    "keep: may hold somebody's bytes (another program wrote them while the file was replaced)";

/// What is said of leftovers, with what differs between machines and runs made equal.
fn plain(output: &Output, folder: &Folder) -> String {
    let mut plain = Vec::new();
    for line in output.stdout.lines().skip_while(|line| !line.is_empty()) {
        let line = line.replace(&*folder.cwd().to_string_lossy(), "/w");
        let line = line.replace(&format!("owner {}", rustix::process::geteuid().as_raw()), "owner ME");
        match line
            .split_once(" bytes, ")
            .and_then(|(before, rest)| Some((before, rest.split_once(" old, ")?.1)))
        {
            Some((before, after)) => plain.push(format!("{before} bytes, {after}\n")),
            None => plain.push(line + "\n"),
        }
    }
    plain.concat()
}

fn report(leftovers: &str, last: &str) -> String {
    format!("\n{leftovers}{last}\n")
}

#[test]
fn a_clean_workspace_is_exit_code_0() {
    let folder = Folder::new();
    // None of these is a leftover: another alphabet, too short, a folder, links.
    folder.write(".dsh-0123456789az", "");
    folder.write(".dsh-0123", "");
    folder.write("a.dsh-conflict-0", "");
    fs::create_dir(folder.path(STAGE)).unwrap();
    symlink("nowhere", folder.path(CONFLICT)).unwrap();
    let output = folder.output(["doctor"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    assert_eq!(plain(&output, &folder), report("", "no leftovers"));
    let capabilities = output.stdout.lines().find(|line| line.starts_with("file system: exchange ")).unwrap();
    assert!(capabilities.ends_with('s') || capabilities.ends_with('o'), "{capabilities}");
}

#[test]
fn leftovers_are_listed_and_judged_in_the_order_of_names() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    folder.write(CONFLICT, "two\n");
    folder.write("b.txt.dsh-conflict-12", "one\n");
    fs::create_dir_all(folder.path("sub/deep")).unwrap();
    folder.write(&format!("sub/deep/{STAGE}"), "");
    folder.write("sub/.dsh-vvvvvvvvvvvv", "three\n");
    let output = folder.output(["doctor", "--older-than", "0"]);
    let shown = format!(
        "/w/a.txt.dsh-conflict-1\n  conflict file, 4 bytes, owner ME\n  {KEEP_CONFLICT}\n\n\
         /w/b.txt.dsh-conflict-12\n  conflict file, 4 bytes, owner ME\n  safe: a.txt has the same bytes\n\n\
         /w/sub/.dsh-vvvvvvvvvvvv\n  stage file, 6 bytes, owner ME\n  {KEEP_STAGE}\n\n\
         /w/sub/deep/{STAGE}\n  stage file, 0 bytes, owner ME\n  safe: it is empty\n\n"
    );
    assert_eq!(plain(&output, &folder), report(&shown, "leftovers: 4"));
    assert_eq!((output.code, output.stderr.as_str()), (Some(1), ""));
    assert_eq!(folder.read(CONFLICT), "two\n");
}

#[test]
fn a_stage_file_may_be_in_use_while_it_is_young_or_its_folder_is_locked() {
    let folder = Folder::new();
    folder.write(STAGE, "");
    let shown =
        format!("/w/{STAGE}\n  stage file, 0 bytes, owner ME\n  in use: a call may be at work with it\n\n");
    let young = folder.output(["doctor", "--remove"]);
    assert_eq!(plain(&young, &folder), report(&shown, "leftovers: 1"));
    let lock = File::open(folder.cwd()).unwrap();
    lock.lock().unwrap();
    let path = folder.path(STAGE);
    let locked = folder.output(["doctor", "--remove", "--older-than", "0", path.to_str().unwrap()]);
    assert_eq!((plain(&locked, &folder), locked.code), (report(&shown, "leftovers: 1"), Some(1)));
    drop(lock);
    let free = folder.output(["doctor", "--remove", "--older-than", "0"]);
    assert_eq!(free.code, Some(0));
    assert!(folder.names().is_empty());
}

#[test]
fn remove_takes_what_is_safe_and_what_is_named() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    folder.write(STAGE, "one\n");
    folder.write(CONFLICT, "two\n");
    let output = folder.output(["doctor", "--remove", "--older-than", "0"]);
    let shown = format!(
        "/w/{STAGE}\n  stage file, 4 bytes, owner ME\n  removed: a.txt has the same bytes\n\n\
         /w/{CONFLICT}\n  conflict file, 4 bytes, owner ME\n  {KEEP_CONFLICT}\n\n"
    );
    assert_eq!(plain(&output, &folder), report(&shown, "leftovers: 2, removed: 1"));
    assert_eq!((output.code, folder.names()), (Some(1), vec!["a.txt".to_owned(), CONFLICT.to_owned()]));

    let path = folder.path(CONFLICT);
    let output = folder.output(["doctor", "--remove", path.to_str().unwrap()]);
    let shown = format!("/w/{CONFLICT}\n  conflict file, 4 bytes, owner ME\n  removed, as it was named\n\n");
    assert_eq!(plain(&output, &folder), report(&shown, "leftovers: 1, removed: 1"));
    assert_eq!((output.code, folder.names()), (Some(0), vec!["a.txt".to_owned()]));
}

#[test]
fn a_folder_can_be_named_instead_of_the_workspace() {
    let folder = Folder::new();
    fs::create_dir(folder.path("sub")).unwrap();
    folder.write(CONFLICT, "two\n");
    let sub = folder.path("sub");
    assert_eq!(folder.output(["doctor", sub.to_str().unwrap()]).code, Some(0));
}

#[test]
fn what_is_neither_folder_nor_leftover_is_bad_usage() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    folder.write(STAGE, "");
    for (name, why) in
        [("a.txt", "is neither a folder nor a leftover"), ("none", "No such file or directory (os error 2)")]
    {
        let path = folder.path(name);
        let arguments = ["doctor", "--remove", "--older-than", "0", folder.base().to_str().unwrap()];
        let output = folder.output(arguments.into_iter().chain([path.to_str().unwrap()]));
        let colon = if name == "none" { ":" } else { "" };
        let said = format!("dsh-fs: doctor: {}{colon} {why}\n", path.display());
        assert_eq!((output.code, output.stderr, output.stdout.as_str()), (Some(2), said, ""));
    }
    assert_eq!(folder.names(), [STAGE, "a.txt"], "nothing is removed before all is understood");
}

#[test]
fn a_folder_that_cannot_be_read_is_told() {
    if rustix::process::geteuid().is_root() {
        // Nothing is closed to root.
        return;
    }
    let folder = Folder::new();
    fs::create_dir(folder.path("closed")).unwrap();
    fs::set_permissions(folder.path("closed"), Permissions::from_mode(0o000)).unwrap();
    let output = folder.output(["doctor"]);
    fs::set_permissions(folder.path("closed"), Permissions::from_mode(0o700)).unwrap();
    let shown = "not looked at: /w/closed (Permission denied (os error 13))\n\n";
    assert_eq!((plain(&output, &folder), output.code), (report(shown, "no leftovers"), Some(0)));
}

#[test]
fn json_has_it_all() {
    let folder = Folder::new();
    folder.write(CONFLICT, "two\n");
    let output = folder.output(["doctor", "--json"]);
    let mut report: Json = serde_json::from_str(&output.stdout).unwrap();
    assert!(report["leftovers"][0]["ageSeconds"].take().is_u64());
    for capability in ["writable", "exchange", "noReplace", "tmpfile", "flock", "sync", "xattrs", "acls"] {
        assert!(report["fileSystem"][capability].is_boolean(), "{capability}");
    }
    report["fileSystem"].take();
    assert!(report["kernel"]["release"].take().as_str().is_some_and(|release| !release.is_empty()));
    assert!(report["kernel"]["openat2"].take().is_boolean());
    let landlock = report["kernel"]["landlock"].take();
    assert!(landlock.is_u64() || landlock.is_null(), "{landlock}");
    report["sandbox"]["writable"].take();
    let expected = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "workspace": folder.cwd(),
        "backend": "dsh-fs-sandbox",
        "sandbox": {"mode": "workspace-write", "writable": null, "protected": [], "readRoots": [], "deny": []},
        "kernel": {"release": null, "openat2": null, "landlock": null},
        "fileSystem": null,
        "leftovers": [{
            "path": folder.path(CONFLICT),
            "kind": "conflict",
            "bytes": 4,
            "ageSeconds": null,
            "owner": rustix::process::geteuid().as_raw(),
            "judgement": "keep",
            "reason": "may hold somebody's bytes (another program wrote them while the file was replaced)",
            "removed": false,
        }],
        "skipped": [],
    });
    assert_eq!((report, output.code), (expected, Some(1)));
}

/// The lines before the leftovers, without those that are a machine's.
fn bounds(output: &Output, folder: &Folder) -> String {
    let told = output.stdout.lines().take_while(|line| !line.is_empty());
    let same = told.filter(|line| !line.starts_with("file system: ") && !line.starts_with("kernel: Linux "));
    same.map(|line| line.replace(&*folder.base().to_string_lossy(), "/b") + "\n").collect()
}

#[test]
fn it_says_what_bounds_the_tools() {
    let folder = Folder::outside_temp();
    let version = env!("CARGO_PKG_VERSION");
    let built_in = format!(
        "dsh-fs {version}, backend dsh-fs-sandbox (a fence over dsh-fs-local)\nworkspace /b/w\nmode workspace-write\n  \
         can be written: /b/w, /tmp, /b/tmp\n  \
         but for what Git runs: hooks, config, config.worktree and commondir of any .git\n  \
         can be read: everything\n"
    );
    assert_eq!(bounds(&folder.output(["doctor"]), &folder), built_in);
    for (yaml, said) in [
        ("- name: dsh-fs-local\n", "no fence: the tools can read and write what you can\n"),
        (
            "- name: dsh-fs-sandbox\n  config: { mode: read-only, readRoots: [w], deny: ['*.pem', .env] }\n",
            "mode read-only\n  nothing can be written\n  can be read: /b/w; but not *.pem, .env\n",
        ),
        (
            "- name: dsh-fs-sandbox\n  config: { mode: danger-full-access }\n",
            "mode danger-full-access\n  everything that you can write can be written\n  can be read: everything\n",
        ),
        (
            "- name: dsh-fs-sandbox\n- name: dsh-spill-local\n  config: { root: state }\n",
            "mode workspace-write\n  can be written: /b/w, /tmp, /b/tmp\n  but for what Git runs: hooks, config, \
             config.worktree and commondir of any .git; and /b/compose.yaml, /b/state\n  can be read: everything\n",
        ),
    ] {
        let file = folder.compose(yaml);
        let output = folder.output(["doctor", "--compose", file.to_str().unwrap()]);
        let backend = if yaml.contains("sandbox") {
            "dsh-fs-sandbox (a fence over dsh-fs-local)"
        } else {
            "dsh-fs-local"
        };
        let head = format!("dsh-fs {version}, backend {backend}\nworkspace /b/w\n");
        assert_eq!((bounds(&output, &folder), output.code), (head + said, Some(0)), "{yaml}");
    }
}

#[test]
fn a_composition_that_cannot_be_used_is_exit_code_2() {
    let folder = Folder::new();
    let file = folder.compose("- name: dsh-fs-sandbox\n  config: { mode: some }\n");
    let output = folder.output(["doctor", "--compose", file.to_str().unwrap()]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""));
    assert!(output.stderr.contains("mode must be one of"), "{}", output.stderr);
}
