//! `--confine`: what the fence would permit, the kernel does not.

use std::fs;

use serde_json::{Value as Json, json};

use crate::binary::{Folder, Talk};

const OPEN: &str = "- name: dsh-fs-sandbox\n  config: { cwd: w, mode: danger-full-access }\n- name: dsh-tool-fs\n- name: dsh-spill-local\n  \
                    config: { root: state }\n";

/// `None` where the kernel cannot: then it says so, and nothing is started.
fn confined(folder: &Folder, yaml: &str) -> Option<Talk> {
    let file = folder.compose(yaml);
    let compose = ["--compose", file.to_str().unwrap()];
    let report: Json = serde_json::from_str(&folder.output(["doctor", "--json"]).stdout).unwrap();
    if report["kernel"]["landlock"].as_u64().is_some_and(|version| version >= 3) {
        return Some(Talk::mcp_with(folder, ["mcp", "--confine"].iter().chain(&compose)));
    }
    let output = folder.output(["mcp", "--confine"].iter().chain(&compose));
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""));
    assert!(
        output.stderr.starts_with("dsh-fs: --confine: this kernel cannot confine a process"),
        "{output:?}"
    );
    None
}

fn text(result: &Json) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[test]
fn nothing_is_written_outside_even_with_full_access() {
    let folder = Folder::outside_temp();
    let out = folder.base().join("out");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("a"), "theirs\n").unwrap();
    let Some(mut talk) = confined(&folder, OPEN) else { return };
    for path in [out.join("a"), out.join("new"), out.join("sub/new"), folder.base().join("compose.yaml")] {
        let refused = talk.tool("write", json!({"file_path": path, "content": "mine\n"}));
        assert_eq!(refused["isError"], true, "{refused}");
        assert_eq!(text(&refused), format!("Error: cannot write \"{}\": permission denied", path.display()));
    }
    let edit = json!({"file_path": out.join("a"), "old_string": "theirs", "new_string": "mine"});
    assert_eq!(talk.tool("edit", edit)["isError"], true);
    let read = talk.tool("read", json!({"file_path": out.join("a")}));
    assert!(text(&read).contains("1: theirs"), "{read}");

    for path in [folder.path("new"), folder.path("sub/new"), folder.base().join("tmp/new")] {
        for (content, done) in [("one\n", "Created file"), ("two\n", "Updated file")] {
            let made = talk.tool("write", json!({"file_path": path, "content": content}));
            assert!(text(&made).contains(done), "{made}");
        }
        let edit = json!({"file_path": path, "old_string": "two", "new_string": "three"});
        assert_eq!(talk.tool("edit", edit)["isError"], false);
        assert_eq!(fs::read_to_string(&path).unwrap(), "three\n");
    }
    assert_eq!(talk.end(), Some(0));
    let left: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["a"]);
    assert_eq!(fs::read_to_string(out.join("a")).unwrap(), "theirs\n");
    assert_eq!(fs::read_to_string(folder.base().join("compose.yaml")).unwrap(), OPEN);
}

#[test]
fn no_call_can_be_granted_more() {
    let folder = Folder::outside_temp();
    let Some(mut talk) = confined(&folder, "- name: dsh-fs-sandbox\n- name: dsh-tool-fs\n") else { return };
    let listed = talk.request("tools/list", json!({}));
    assert!(!listed.to_string().contains("sandbox_permissions"), "{listed}");
    let args = json!({
        "file_path": "../new", "content": "x",
        "sandbox_permissions": "danger-full-access", "justification": "the person wants it",
    });
    let refused = talk.tool("write", args);
    assert_eq!(refused["isError"], true);
    assert!(text(&refused).contains("the process is confined by the kernel"), "{refused}");
    let denied = talk.tool("write", json!({"file_path": "../new", "content": "x"}));
    assert_eq!(text(&denied), "Error: [sandbox: file access denied under workspace-write mode]");
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn a_folder_that_cannot_be_permitted_is_said_before_anything_starts() {
    let folder = Folder::outside_temp();
    folder.write("file", "");
    let file = folder.compose("- name: dsh-fs-local\n- name: dsh-spill-local\n  config: { root: w/file }\n");
    let output = folder.output(["run", "--confine", "--compose", file.to_str().unwrap()]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{output:?}");
    assert!(output.stderr.starts_with("dsh-fs: --confine: "), "{output:?}");
}
