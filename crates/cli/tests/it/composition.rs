use crate::binary::Folder;

const READ: [&str; 3] = ["call", "read", r#"{"file_path": "a.txt"}"#];

/// Runs `arguments` with a composition; gives exit code, standard output and standard error.
fn with(folder: &Folder, yaml: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let file = folder.compose(yaml);
    let output = folder.output(arguments.iter().copied().chain(["--compose", file.to_str().unwrap()]));
    (output.code, output.stdout, output.stderr)
}

#[test]
fn names_may_have_the_prefix_and_the_policy_its_older_name() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let yaml =
        "- name: '@deepseek-ai/dsh-fs-local'\n- name: dsh-fs-policy\n- name: '@deepseek-ai/dsh-tool-fs'\n";
    assert_eq!(with(&folder, yaml, &READ).0, Some(0));
    let (code, shown, _) =
        with(&folder, yaml, &["call", "write", r#"{"file_path": "a.txt", "content": "x"}"#]);
    assert_eq!((code, shown.contains("without reading it first")), (Some(1), true), "{shown}");
}

#[test]
fn without_the_policy_the_tools_work_unguarded() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let yaml = "- name: dsh-fs-local\n- name: dsh-tool-fs\n";
    let (code, shown, _) =
        with(&folder, yaml, &["call", "write", r#"{"file_path": "a.txt", "content": "x"}"#]);
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(folder.read("a.txt"), "x");
}

#[test]
fn a_relative_cwd_is_relative_to_the_folder_of_the_file() {
    let folder = Folder::new();
    std::fs::create_dir(folder.base().join("elsewhere")).unwrap();
    std::fs::write(folder.base().join("elsewhere/a.txt"), "found\n").unwrap();
    let file = folder.compose("- name: dsh-fs-local\n  config: { cwd: elsewhere }\n- name: dsh-tool-fs\n");
    // A call without a session has only the backend's folder.
    let mut talk = folder.talk(["run", "--compose", file.to_str().unwrap()]);
    let result = talk.ask(r#"{"session": null, "tool": "read", "args": {"file_path": "a.txt"}}"#);
    assert!(result["content"].as_str().unwrap().contains("1: found"), "{result}");
    let path = folder.base().join("elsewhere/a.txt");
    assert_eq!(result["meta"]["path"], path.to_str().unwrap());
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn the_built_in_composition_has_the_workspace_as_its_folder() {
    let folder = Folder::new();
    folder.write("a.txt", "found\n");
    let mut talk = folder.talk(["run"]);
    let result = talk.ask(r#"{"session": null, "tool": "read", "args": {"file_path": "a.txt"}}"#);
    assert_eq!(result["meta"]["path"], folder.path("a.txt").to_str().unwrap(), "{result}");
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn settings_reach_the_plugins() {
    let folder = Folder::new();
    folder.write("a.txt", "one\ntwo\n");
    let yaml = "- name: dsh-fs-local\n- name: dsh-tool-fs\n  config: { readLimit: 1 }\n";
    let (_, shown, _) = with(&folder, yaml, &READ);
    assert!(shown.contains("(Showing lines 1-1 of 2. Use offset=2 to continue.)"), "{shown}");
}

#[test]
fn what_cannot_start_is_one_clear_message_and_exit_code_2() {
    let folder = Folder::new();
    for (yaml, parts) in [
        (
            "- name: dsh-fs-locl\n",
            vec!["unknown plugin \"dsh-fs-locl\"", "dsh-fs-local", "dsh-tool-fs", "compose.yaml"],
        ),
        ("- name: dsh-fs-local\n  config: { cwdd: . }\n", vec!["cwdd", "diffBasisMaxBytes", "compose.yaml"]),
        ("- name: dsh-tool-fs\n", vec!["dsh-tool-fs", "fs", "compose.yaml"]),
        ("- name: dsh-fs-local\n- name: dsh-fs-local\n", vec!["dsh-fs-local", "compose.yaml"]),
        ("name: x\n", vec!["composition file must be a list of rows"]),
    ] {
        for command in ["run", "mcp", "tools", "prompt"] {
            let (code, shown, said) = with(&folder, yaml, &[command]);
            assert_eq!((code, shown.as_str()), (Some(2), ""), "{yaml}: {said}");
            // A plugin that fails to start is in the log as well; the message comes last.
            let said = said.lines().last().unwrap_or_default();
            assert!(said.starts_with("dsh-fs: "), "{yaml}: {said}");
            assert!(parts.iter().all(|part| said.contains(part)), "{yaml}: {said}");
        }
    }
}

#[test]
fn a_workspace_or_a_composition_that_is_not_there_is_exit_code_2() {
    let folder = Folder::new();
    folder.write("file", "");
    for (arguments, part) in [
        (["tools", "--compose", "no.yaml"], "no.yaml"),
        (["tools", "--compose", "compose.txt"], ".yaml, .yml or .json"),
    ] {
        let output = folder.output(arguments);
        assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{output:?}");
        assert!(output.stderr.starts_with("dsh-fs: ") && output.stderr.contains(part), "{}", output.stderr);
    }
    for (cwd, message) in [("w/none", "No such file or directory"), ("w/file", "not a folder")] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dsh-fs"));
        command.args(["tools", "--cwd", cwd]).current_dir(folder.base());
        let output = crate::binary::Output::of(&mut command);
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains(&format!("/{cwd}: {message}")), "{}", output.stderr);
    }
}

#[test]
fn two_plugins_that_decide_on_one_thing_are_reported_in_the_log() {
    let folder = Folder::new();
    let yaml = "- name: dsh-fs-local\n- name: dsh-fs-observation-policy\n- name: dsh-fs-observation-policy\n- name: dsh-tool-fs\n";
    let (code, _, said) = with(&folder, yaml, &["tools"]);
    assert_eq!(code, Some(0));
    for slot in ["fs/write-intent", "fs/edit-intent"] {
        let line = said.lines().find(|line| line.contains(&format!("2 plugins decide on {slot}: ")));
        assert!(line.is_some_and(|line| line.contains("WARN")), "{slot}: {said}");
    }
    let (_, _, said) =
        with(&folder, "- name: dsh-fs-local\n- name: dsh-fs-policy\n- name: dsh-tool-fs\n", &["tools"]);
    assert_eq!(said, "");
}
