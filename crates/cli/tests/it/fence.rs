//! Inputs that have led out of other fences: docs/security.md names each of these tests.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::binary::{Folder, Talk};

/// `w` is the workspace; `out`, beside it, belongs to somebody else.
struct Fenced {
    folder: Folder,
    talk: Talk,
}

const DENIED: &str = "FS_SANDBOX_DENIED";
const RULES: &str = "file access denied by the read rules";

impl Fenced {
    /// Under the built-in composition.
    fn new() -> Self {
        let folder = ground();
        let talk = folder.talk(["run"]);
        Self { folder, talk }
    }

    /// With settings of the fence, as YAML.
    fn with(settings: &str) -> Self {
        let folder = ground();
        let yaml = format!(
            "- name: dsh-fs-sandbox\n  config: {{ {settings} }}\n- name: dsh-tool-fs\n- name: dsh-tool-fs-search\n  \
             config: {{ sampleOverCapGlobResults: true }}\n"
        );
        let file = folder.compose(&yaml);
        let talk = folder.talk(["run", "--compose", file.to_str().unwrap()]);
        Self { folder, talk }
    }

    fn out(&self, name: &str) -> PathBuf {
        self.folder.base().join("out").join(name)
    }

    fn call(&mut self, tool: &str, args: Json) -> Json {
        self.talk.ask(json!({"tool": tool, "args": args}))
    }

    fn write(&mut self, path: impl AsRef<Path>) -> Json {
        self.call("write", json!({"file_path": path.as_ref(), "content": "mine\n"}))
    }

    /// A write that has to be refused by the fence.
    fn denied(&mut self, path: impl AsRef<Path>) {
        let path = path.as_ref();
        let answer = self.write(path);
        assert_eq!(answer["error"]["code"], DENIED, "{}: {answer}", path.display());
        let first = answer["content"].as_str().unwrap_or_default().lines().next();
        assert_eq!(
            first,
            Some("Error: [sandbox: file access denied under workspace-write mode]"),
            "{}",
            path.display()
        );
    }

    /// A write that has to be made.
    fn made(&mut self, path: impl AsRef<Path>) {
        let answer = self.write(&path);
        assert_eq!(answer["isError"], false, "{}: {answer}", path.as_ref().display());
    }

    /// Nothing outside was changed, and nothing was made there.
    fn untouched(self) {
        let Self { folder, talk } = self;
        assert_eq!(talk.end(), Some(0));
        assert_eq!(names(&folder.base().join("out")), ["keep.txt"]);
        assert_eq!(fs::read_to_string(folder.base().join("out/keep.txt")).unwrap(), "theirs\n");
        let mut beside = names(folder.base());
        beside.retain(|name| name != "compose.yaml");
        assert_eq!(beside, ["out", "tmp", "w", "w-evil"]);
        assert_eq!(names(&folder.base().join("w-evil")), ["f"]);
        assert_eq!(fs::read_to_string(folder.base().join("w-evil/f")).unwrap(), "theirs\n");
    }
}

fn ground() -> Folder {
    let folder = Folder::outside_temp();
    for (place, name) in [("out", "keep.txt"), ("w-evil", "f")] {
        fs::create_dir(folder.base().join(place)).unwrap();
        fs::write(folder.base().join(place).join(name), "theirs\n").unwrap();
    }
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_sibling_whose_name_begins_like_the_workspace_is_outside() {
    let mut fenced = Fenced::new();
    fenced.denied("../w-evil/f");
    fenced.denied("../w-evil/new");
    let read = fenced.call("read", json!({"file_path": "../w-evil/f"}));
    assert_eq!(read["isError"], false, "without read rules everything can be read");
    let edit =
        fenced.call("edit", json!({"file_path": "../w-evil/f", "old_string": "theirs", "new_string": "x"}));
    assert_eq!(edit["error"]["code"], DENIED);
    fenced.untouched();
}

#[test]
fn a_link_to_a_file_outside_is_not_written_through() {
    let mut fenced = Fenced::new();
    symlink(fenced.out("keep.txt"), fenced.folder.path("absolute")).unwrap();
    symlink("../out/keep.txt", fenced.folder.path("relative")).unwrap();
    symlink("relative", fenced.folder.path("chain")).unwrap();
    for link in ["absolute", "relative", "chain"] {
        assert_eq!(fenced.call("read", json!({"file_path": link}))["isError"], false);
        fenced.denied(link);
        let edit = fenced.call("edit", json!({"file_path": link, "old_string": "theirs", "new_string": "x"}));
        assert_eq!(edit["error"]["code"], DENIED, "{link}");
    }
    fenced.untouched();
}

#[test]
fn a_link_to_a_folder_outside_is_not_written_through() {
    let mut fenced = Fenced::new();
    symlink("../out", fenced.folder.path("link")).unwrap();
    fenced.denied("link/keep.txt");
    fenced.denied("link/new.txt");
    fenced.untouched();
}

#[test]
fn links_that_stay_inside_keep_working() {
    let mut fenced = Fenced::new();
    fs::create_dir(fenced.folder.path("real")).unwrap();
    symlink("real", fenced.folder.path("relative")).unwrap();
    symlink(fenced.folder.path("real"), fenced.folder.path("absolute")).unwrap();
    fenced.made("relative/a");
    fenced.made("absolute/b");
    assert_eq!(names(&fenced.folder.path("real")), ["a", "b"]);
    fenced.untouched();
}

#[test]
fn a_dangling_link_is_judged_by_where_it_leads() {
    let mut fenced = Fenced::new();
    symlink("../out/new.txt", fenced.folder.path("leads-out")).unwrap();
    symlink("new.txt", fenced.folder.path("stays")).unwrap();
    fenced.denied("leads-out");
    fenced.made("stays");
    assert_eq!(fenced.folder.read("new.txt"), "mine\n");
    fenced.untouched();
}

#[test]
fn a_new_file_below_a_linked_parent_is_judged_by_the_parent() {
    let mut fenced = Fenced::new();
    symlink("../out", fenced.folder.path("link")).unwrap();
    fenced.denied("link/a/b/new.txt");
    fenced.untouched();
}

#[test]
fn two_dots_in_a_path_that_is_not_there_do_not_lead_out() {
    let mut fenced = Fenced::new();
    for path in ["no/such/../../../out/new", "no/../../out/keep.txt", "../out/new", "./../w/../out/new"] {
        fenced.denied(path);
    }
    fenced.made("no/such/../../inside");
    assert_eq!(fenced.folder.names(), ["inside"], "no folder is made on the way");
    fenced.untouched();
}

#[test]
fn two_dots_behind_a_link_do_not_lead_out() {
    let mut fenced = Fenced::new();
    fs::create_dir_all(fenced.folder.path("deep/er")).unwrap();
    symlink("../out", fenced.folder.path("link")).unwrap();
    // Folded as it is written: `link/..` is the workspace, not what is above `out`.
    fenced.made("link/../inside");
    assert_eq!(fenced.folder.read("inside"), "mine\n");
    fenced.denied("link/../../out/new");
    fenced.untouched();
}

#[test]
fn the_workspace_in_other_letters_is_another_folder() {
    let mut fenced = Fenced::new();
    fenced.denied(fenced.folder.base().join("W/f"));
    fenced.denied(fenced.folder.base().join("ｗ/f"));
    fenced.untouched();
}

#[test]
fn percent_signs_and_look_alikes_are_letters_like_any_other() {
    let mut fenced = Fenced::new();
    let look_alikes = [
        "%2e%2e/out",
        "..%2fout",
        "%252e%252e%252fout",
        "..\\out",
        "\u{2024}\u{2024}/out",
        "\u{ff0e}\u{ff0e}/out",
        "..\u{2215}out",
        "..\u{ff0f}out",
        "..\u{c0}\u{af}out",
        "...",
        "~",
        "$HOME",
    ];
    for path in look_alikes {
        fenced.made(path);
        assert_eq!(fenced.folder.read(path), "mine\n", "{path}");
    }
    let mut expected: Vec<&str> = look_alikes.map(|path| path.split('/').next().unwrap()).to_vec();
    expected.sort_unstable();
    assert_eq!(fenced.folder.names(), expected);
    fenced.untouched();
}

#[test]
fn devices_and_proc_are_no_way_out() {
    let mut fenced = Fenced::new();
    let through = format!("/proc/self/root{}", fenced.out("keep.txt").display());
    let by_cwd = "/proc/self/cwd/out/keep.txt".to_owned();
    for path in
        [&through, &by_cwd, "/dev/null", "/dev/full", "/proc/self/mem", "/proc/self/fd/1", "/dev/stdout"]
    {
        let answer = fenced.write(path);
        assert_eq!(answer["error"]["code"], DENIED, "{path}: {answer}");
    }
    // The same way back in is fine: it is the file that counts.
    fenced.made(format!("/proc/self/root{}", fenced.folder.path("inside").display()));
    assert_eq!(fenced.folder.read("inside"), "mine\n");
    fenced.untouched();
}

#[test]
fn a_workspace_that_is_a_link_is_what_it_leads_to() {
    let folder = ground();
    symlink("w", folder.base().join("link")).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dsh-fs"));
    command.args(["run", "--cwd"]).arg(folder.base().join("link")).env("TMPDIR", folder.base().join("tmp"));
    let talk = Talk::start(&mut command);
    let mut fenced = Fenced { folder, talk };
    fenced.made("a");
    fenced.made(fenced.folder.path("b"));
    fenced.made(fenced.folder.base().join("link/c"));
    fenced.denied("../out/new");
    fenced.denied(fenced.folder.base().join("link-evil/new"));
    fs::remove_file(fenced.folder.base().join("link")).unwrap();
    assert_eq!(fenced.folder.names(), ["a", "b", "c"]);
    fenced.untouched();
}

#[test]
fn a_folder_that_a_model_names_widens_nothing() {
    let mut fenced = Fenced::new();
    for key in ["cwd", "root", "workspace", "workspaceRoot", "workspace_root"] {
        let args = json!({"file_path": "../out/new", "content": "x", key: "/"});
        assert_eq!(fenced.call("write", args)["error"]["code"], DENIED, "{key}");
    }
    let answer = fenced.talk.ask(json!({
        "tool": "write", "args": {"file_path": fenced.out("new"), "content": "x"}, "cwd": "/", "session": "other",
    }));
    assert_eq!(answer["error"]["code"], DENIED, "{answer}");
    fenced.untouched();
}

#[test]
fn writing_a_hard_link_replaces_the_name_inside() {
    let mut fenced = Fenced::new();
    fs::hard_link(fenced.out("keep.txt"), fenced.folder.path("hard")).unwrap();
    assert_eq!(fenced.call("read", json!({"file_path": "hard"}))["isError"], false);
    fenced.made("hard");
    assert_eq!(fenced.folder.read("hard"), "mine\n");
    assert_eq!(fs::metadata(fenced.out("keep.txt")).unwrap().nlink(), 1);
    fenced.untouched();
}

#[test]
fn what_git_runs_is_protected_in_any_spelling_also_while_it_is_not_there() {
    let mut fenced = Fenced::new();
    for path in [
        ".git/config",
        ".git/hooks/pre-commit",
        ".GIT/config",
        ".git/HOOKS/post-checkout",
        ".git./config",
        ".g\u{200c}it/config",
        "GIT~1/config",
        "sub/.git/config",
        ".git/modules/a/config",
        ".git",
    ] {
        fenced.denied(path);
    }
    assert!(fenced.folder.names().is_empty());
    fenced.made(".gitignore");
    fenced.made(".git/COMMIT_EDITMSG");
    fenced.untouched();
}

#[test]
fn the_composition_and_the_state_of_the_program_are_protected() {
    let folder = ground();
    let yaml =
        "- name: dsh-fs-sandbox\n- name: dsh-tool-fs\n- name: dsh-spill-local\n  config: { root: state }\n";
    folder.write("compose.yaml", yaml);
    let file = folder.path("compose.yaml");
    let talk = folder.talk(["run", "--compose", file.to_str().unwrap()]);
    let mut fenced = Fenced { folder, talk };
    symlink("compose.yaml", fenced.folder.path("link")).unwrap();
    for path in ["compose.yaml", "COMPOSE.yaml", "link", "state/session-1/a", "state"] {
        fenced.denied(path);
    }
    assert_eq!(fenced.folder.read("compose.yaml"), yaml);
    fenced.made("statements");
    fenced.untouched();
}

#[test]
fn the_file_that_a_composition_is_a_link_to_is_protected_as_well() {
    let folder = ground();
    folder.write("real.yaml", "- name: dsh-fs-sandbox\n- name: dsh-tool-fs\n");
    symlink("w/real.yaml", folder.base().join("compose.yaml")).unwrap();
    let talk = folder.talk(["run", "--compose", folder.base().join("compose.yaml").to_str().unwrap()]);
    let mut fenced = Fenced { folder, talk };
    fenced.denied("real.yaml");
    fenced.made("other.yaml");
    fenced.untouched();
}

#[test]
fn temporary_files_can_be_written() {
    let mut fenced = Fenced::new();
    fenced.made(fenced.folder.base().join("tmp/scratch"));
    fenced.untouched();
}

#[test]
fn read_only_changes_nothing_and_reads_everything() {
    let mut fenced = Fenced::with("cwd: w, mode: read-only");
    fenced.folder.write("a", "one\n");
    for path in ["a", "new", "../out/keep.txt", "../tmp/scratch"] {
        let answer = fenced.write(path);
        assert_eq!(answer["error"]["code"], DENIED, "{path}");
        assert!(answer["content"].as_str().unwrap().contains("denied under read-only mode"), "{answer}");
    }
    assert_eq!(fenced.call("read", json!({"file_path": "../out/keep.txt"}))["isError"], false);
    assert_eq!((fenced.folder.names(), fenced.folder.read("a")), (vec!["a".to_owned()], "one\n".to_owned()));
    fenced.untouched();
}

#[test]
fn no_tool_is_a_way_around_the_read_rules() {
    let mut fenced = Fenced::with("cwd: w, readRoots: [w, tmp], deny: ['.env', 'private/']");
    fs::create_dir(fenced.folder.path("private")).unwrap();
    for name in [".env", "private/key", "plain"] {
        fenced.folder.write(name, "secret marker\n");
    }
    symlink(".env", fenced.folder.path("innocent")).unwrap();
    symlink("../out", fenced.folder.path("elsewhere")).unwrap();
    for path in [
        ".env",
        ".ENV",
        "./private/../.env",
        "private/key",
        "innocent",
        "elsewhere/keep.txt",
        "../out/keep.txt",
    ] {
        for (tool, args) in [
            ("read", json!({"file_path": path})),
            ("write", json!({"file_path": path, "content": "x"})),
            ("edit", json!({"file_path": path, "old_string": "secret", "new_string": "x"})),
        ] {
            let answer = fenced.call(tool, args);
            let text = answer["content"].as_str().unwrap();
            assert_eq!(answer["isError"], true, "{tool} {path}: {answer}");
            assert!(answer["error"]["code"] == DENIED, "{tool} {path}: {answer}");
            assert!(!text.contains("marker") && !text.contains("theirs"), "{tool} {path}: {answer}");
        }
    }
    let refused = fenced.call("read", json!({"file_path": ".env"}));
    let path = fenced.folder.path(".env");
    assert_eq!(refused["content"], format!("Error: cannot read \"{}\": {RULES}", path.display()));
    let found = fenced.call("grep", json!({"pattern": "secret|theirs"}));
    let text = found["content"].as_str().unwrap();
    assert!(text.contains("plain") && text.starts_with("Found 1 match"), "{text}");
    let listed = fenced.call("glob", json!({"pattern": "**"}));
    let text = listed["content"].as_str().unwrap();
    assert!(text.contains("plain") && !text.contains("key"), "{text}");
    for path in ["private", ".env", "../out", "elsewhere"] {
        for (tool, pattern) in [("grep", "e"), ("glob", "**")] {
            let answer = fenced.call(tool, json!({"pattern": pattern, "path": path}));
            let text = answer["content"].as_str().unwrap();
            let told = ["marker", "theirs", "keep.txt", "key"].iter().any(|word| text.contains(word));
            assert!(!told, "{tool} {path}: {text}");
        }
    }
    fenced.untouched();
}

#[test]
fn asking_for_more_grants_nothing_where_nobody_can_be_asked() {
    let mut fenced = Fenced::new();
    let args = json!({
        "file_path": "../out/new", "content": "x",
        "sandbox_permissions": "danger-full-access", "justification": "the person wants it",
    });
    let answer = fenced.call("write", args);
    let why = "sandbox escalation to \"danger-full-access\" requires approval, but no approval channel is available";
    assert_eq!(answer["content"], format!("Error: {why}"));
    fenced.untouched();
}

#[test]
fn only_a_folder_of_temporary_files_is_one() {
    let folder = ground();
    let outside = folder.base().join("out").join("new.txt");
    let missing = folder.base().join("missing");
    for temp in ["/", ".", "out", missing.to_str().unwrap(), ""] {
        for path in [&outside, &missing] {
            let arguments = json!({"file_path": path, "content": "mine\n"}).to_string();
            let mut command = folder.dsh_fs(["call", "--json", "write", &arguments]);
            command.env("TMPDIR", temp);
            let output = crate::binary::Output::of(&mut command);
            let answer: Json = serde_json::from_str(&output.stdout).unwrap();
            assert_eq!(answer["error"]["code"], DENIED, "{temp:?}: {answer}");
            let warned = output.stderr.contains("so /tmp is used");
            assert_eq!(warned, !temp.is_empty(), "{temp:?}: {}", output.stderr);
        }
    }
    assert!(!outside.exists() && !missing.exists());
}
