use std::process::Stdio;

use serde_json::{Value as Json, json};

use crate::binary::{Folder, Output};

#[test]
fn it_prints_what_a_model_would_see() {
    let folder = Folder::new();
    folder.write("a.txt", "one\ntwo\n");
    let output = folder.output(["call", "read", r#"{"file_path": "a.txt"}"#]);
    let cwd = folder.cwd();
    let shown = format!(
        "<path>{}/a.txt</path>\n<type>file</type>\n<content>\n1: one\n2: two\n\n(End of file - total 2 lines)\n</content>\n",
        cwd.display()
    );
    assert_eq!((output.code, output.stdout.as_str(), output.stderr.as_str()), (Some(0), shown.as_str(), ""));
}

#[test]
fn the_calls_of_one_command_share_a_session() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let edit = r#"{"file_path": "a.txt", "old_string": "one", "new_string": "two"}"#;
    let output = folder.output(["call", "read", r#"{"file_path": "a.txt"}"#, "edit", edit]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(folder.read("a.txt"), "two\n");
}

#[test]
fn an_error_result_is_printed_too_and_gives_exit_code_1_after_all_calls() {
    let folder = Folder::new();
    let calls = [
        "call",
        "read",
        r#"{"file_path": "no.txt"}"#,
        "write",
        r#"{"file_path": "n.txt", "content": "x\n"}"#,
    ];
    let output = folder.output(calls);
    let cwd = folder.cwd();
    let shown = format!(
        "Error: cannot read \"{0}/no.txt\": not found\n\nNo file of that name is in the workspace. Use write if it is to be \
         made.\n<path>{0}/n.txt</path>\n<type>file</type>\n<content>\nCreated file\n</content>\n",
        cwd.display()
    );
    assert_eq!((output.code, output.stdout), (Some(1), shown));
    assert_eq!(folder.read("n.txt"), "x\n");
}

#[test]
fn json_prints_each_whole_result_on_a_line() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let output = folder.output(["call", "--json", "read", r#"{"file_path":"a.txt"}"#, "nope", "{}"]);
    let results: Vec<Json> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let path = folder.path("a.txt");
    assert_eq!(
        results[0]["value"],
        json!({"path": path, "offset": 1, "lines": [{"number": 1, "text": "one"}], "totalLines": 1})
    );
    let unknown = json!({
        "content": "Error: unknown tool \"nope\"",
        "isError": true,
        "error": {"message": "unknown tool \"nope\"", "name": "ToolNotFoundError", "code": "UNKNOWN_TOOL"},
    });
    assert_eq!(results[1..], [unknown]);
    assert_eq!(output.code, Some(1));
}

#[test]
fn bad_usage_is_exit_code_2_before_anything_is_done() {
    let folder = Folder::new();
    let write = r#"{"file_path": "n.txt", "content": "x"}"#;
    for (arguments, message) in [
        (
            vec!["call", "write", write, "read"],
            "dsh-fs: call: there are no arguments after \"read\"; give a tool and its JSON, in pairs\n",
        ),
        (
            vec!["call", "write", write, "read", "{"],
            "dsh-fs: call: the arguments of \"read\" are not JSON: EOF while parsing an object at line 1 column 1\n",
        ),
    ] {
        let output = folder.output(arguments);
        assert_eq!((output.code, output.stderr.as_str(), output.stdout.as_str()), (Some(2), message, ""));
    }
    for arguments in [vec!["call"], vec!["call", "read"], vec!["frobnicate"], vec![]] {
        let output = folder.output(&arguments);
        assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(output.stderr.contains("Usage: dsh-fs"), "{arguments:?}: {}", output.stderr);
    }
    assert!(folder.names().is_empty());
}

#[test]
fn with_its_output_closed_it_makes_all_calls_and_ends_without_a_word() {
    let folder = Folder::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let calls =
        ["call", "write", r#"{"file_path":"1","content":""}"#, "write", r#"{"file_path":"2","content":""}"#];
    let mut command = folder.dsh_fs(calls);
    let child = command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
    assert_eq!(folder.names(), ["1", "2"]);
}

#[test]
fn without_cwd_the_folder_it_is_started_in_is_the_workspace() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dsh-fs"));
    command.args(["call", "read", r#"{"file_path": "a.txt"}"#]).current_dir(folder.cwd());
    let output = Output::of(&mut command);
    assert!(output.stdout.contains("1: one"), "{output:?}");
}
