//! What must neither stop the program nor write anything: over JSON lines.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};

use crate::binary::{Folder, Talk};

/// A folder with one file, and a session that has read it.
fn start() -> (Folder, Talk) {
    let folder = Folder::new();
    folder.write("a.txt", "one\ntwo\n");
    let mut talk = folder.talk(["run"]);
    alive(&mut talk);
    (folder, talk)
}

fn alive(talk: &mut Talk) {
    let result = talk.ask(r#"{"tool": "read", "args": {"file_path": "a.txt"}}"#);
    assert_eq!(result["isError"], false, "{result}");
}

fn untouched(folder: &Folder, mut talk: Talk, names: &[&str]) {
    alive(&mut talk);
    assert_eq!(talk.end(), Some(0));
    assert_eq!(folder.names(), names);
    assert_eq!(folder.read("a.txt"), "one\ntwo\n");
}

fn invalid_request(message: &str) -> Json {
    json!({
        "content": format!("Error: {message}"),
        "isError": true,
        "error": {"message": message, "name": "RequestError", "code": "INVALID_REQUEST"},
    })
}

#[test]
fn a_line_that_is_no_request_is_answered_and_the_next_one_too() {
    let (folder, mut talk) = start();
    for (line, message) in [
        (&b""[..], "a request must be one JSON object: EOF while parsing a value at line 1 column 0"),
        (b"nonsense", "a request must be one JSON object: expected ident at line 1 column 2"),
        (
            b"{\"tool\": \"read\"",
            "a request must be one JSON object: EOF while parsing an object at line 1 column 15",
        ),
        (b"{} {}", "a request must be one JSON object: trailing characters at line 1 column 4"),
        (b"[]", "a request must be a JSON object, got an array"),
        (b"{}", "a request needs \"tool\" (a string) or \"calls\" (an array)"),
        (b"{\"tool\": 1}", "\"tool\" must be a string, got a number"),
        (b"{\"tool\": \"read\", \"session\": 1}", "\"session\" must be a string or null, got a number"),
        (b"{\"calls\": 1}", "\"calls\" must be an array, got a number"),
        (
            b"{\"calls\": [{\"tool\": \"write\", \"args\": {\"file_path\": \"n\", \"content\": \"\"}}, 7]}",
            "\"calls[1]\" must be an object, got a number",
        ),
        (
            b"{\"tool\": \"read\", \"args\": {\"file_path\": \"\xFF\"}}",
            "a request must be UTF-8: byte 41 is not",
        ),
        (
            b"{\"tool\": \"read\", \"args\": {\"file_path\": \"\\ud800\"}}",
            "a request must be one JSON object: unexpected end of hex escape at line 1 column 47",
        ),
    ] {
        talk.say(line);
        assert_eq!(talk.hear(), invalid_request(message), "{}", String::from_utf8_lossy(line));
    }
    let nested = format!("{{\"tool\": \"read\", \"args\": {}", "[".repeat(100_000));
    assert_eq!(talk.ask(nested)["error"]["code"], "INVALID_REQUEST");
    untouched(&folder, talk, &["a.txt"]);
}

#[test]
fn each_bad_call_has_its_code() {
    let (folder, mut talk) = start();
    std::fs::create_dir(folder.path("dir")).unwrap();
    mkfifo(&folder, "fifo");
    let not_regular = ["fifo", "/dev/zero", "dir"];
    let mut cases = vec![
        ("nope", json!({}), "UNKNOWN_TOOL"),
        ("read", json!({"file_path": 1}), "INVALID_ARGS"),
        ("read", json!({"file_path": "a.txt", "offset": "1"}), "INVALID_ARGS"),
        ("read", json!({"file_path": "a.txt", "limit": 1.5}), "INVALID_ARGS"),
        ("read", json!({"file_path": "a.txt", "offset": -1}), "INVALID_ARGS"),
        ("read", json!({"file_path": "a.txt", "offset": 1e308}), "FS_NOT_FOUND"),
        ("read", json!({"file_path": "a.txt", "offset": u64::MAX}), "FS_NOT_FOUND"),
        ("write", json!({"file_path": "n.txt", "content": null}), "INVALID_ARGS"),
        ("edit", json!({"file_path": "a.txt", "old_string": [], "new_string": ""}), "INVALID_ARGS"),
        ("read", json!({"file_path": "a\0b"}), "FS_NOT_FOUND"),
        ("write", json!({"file_path": "a\0b", "content": "x"}), "FS_NOT_FOUND"),
        ("edit", json!({"file_path": "a\0b", "old_string": "x", "new_string": "y"}), "FS_NOT_FOUND"),
    ];
    for path in not_regular {
        cases.push(("read", json!({"file_path": path}), "FS_NOT_REGULAR_FILE"));
        let outside = path.starts_with('/');
        let code = if outside { "FS_SANDBOX_DENIED" } else { "FS_NOT_REGULAR_FILE" };
        cases.push(("write", json!({"file_path": path, "content": "x"}), code));
        cases.push((
            "edit",
            json!({"file_path": path, "old_string": "x", "new_string": "y"}),
            "FS_NOT_OBSERVED",
        ));
    }
    for (tool, args, code) in cases {
        let result = talk.ask(json!({"tool": tool, "args": args}));
        assert_eq!(
            (&result["isError"], &result["error"]["code"]),
            (&json!(true), &json!(code)),
            "{tool} {args}"
        );
    }
    untouched(&folder, talk, &["a.txt", "dir", "fifo"]);
}

#[test]
fn a_huge_file_is_refused_if_it_is_no_text_and_paged_if_it_is() {
    let (folder, mut talk) = start();
    folder.sparse("nul", "", 300 << 20);
    folder.sparse("text", &"0123456\n".repeat(1024), 300 << 20);
    let refused = talk.ask(json!({"tool": "read", "args": {"file_path": "nul"}}));
    assert_eq!(refused["error"]["code"], "FS_NOT_TEXT");
    let paged = talk.ask(json!({"tool": "read", "args": {"file_path": "text", "limit": 2}}));
    let content = paged["content"].as_str().unwrap();
    assert!(
        content.ends_with("2: 0123456\n\n(Showing lines 1-2 of 1025. Use offset=3 to continue.)\n</content>"),
        "{content}"
    );
    // The last line is 292 MiB of NUL: it is cut, and the answer stays small.
    let last = talk.ask(json!({"tool": "read", "args": {"file_path": "text", "offset": 1025}}));
    assert!(last["content"].as_str().is_some_and(|text| text.len() < 10_000), "{}", last["error"]);
    untouched(&folder, talk, &["a.txt", "nul", "text"]);
}

#[test]
fn an_argument_of_20_mib_is_taken_or_refused_like_any_other() {
    let (folder, mut talk) = start();
    let long = "x".repeat(20 << 20);
    let refused = talk.ask(json!({"tool": "read", "args": {"file_path": long}}));
    assert_eq!(refused["error"]["code"], "FS_IO_ERROR", "{}", &refused["error"]["code"]);
    let refused = talk
        .ask(json!({"tool": "edit", "args": {"file_path": "a.txt", "old_string": long, "new_string": ""}}));
    assert_eq!(refused["error"]["code"], "FS_EDIT_NOT_FOUND", "{}", &refused["error"]["code"]);
    assert_eq!(folder.names(), ["a.txt"]);
    let written = talk.ask(json!({"tool": "write", "args": {"file_path": "n.txt", "content": long}}));
    assert_eq!(written["isError"], false);
    assert_eq!(folder.read("n.txt").len(), 20 << 20);
    untouched(&folder, talk, &["a.txt", "n.txt"]);
}

#[test]
fn an_unreadable_file_is_permission_denied() {
    let folder = Folder::new();
    folder.write("a.txt", "one\ntwo\n");
    folder.write("secret", "s\n");
    std::fs::set_permissions(folder.path("secret"), PermissionsExt::from_mode(0o000)).unwrap();
    // Root reads everything, so let somebody else try; the program has to lie where they may start it.
    let mut command = folder.dsh_fs(["run"]);
    if rustix::process::geteuid().is_root() {
        let binary = folder.base().join("dsh-fs");
        std::fs::copy(env!("CARGO_BIN_EXE_dsh-fs"), &binary).unwrap();
        std::fs::set_permissions(folder.base(), PermissionsExt::from_mode(0o755)).unwrap();
        command = Command::new(&binary);
        command.args(["run", "--cwd"]).arg(folder.cwd()).current_dir("/").uid(65534).gid(65534);
    }
    let mut talk = Talk::start(&mut command);
    let refused = talk.ask(json!({"tool": "read", "args": {"file_path": "secret"}}));
    assert_eq!(refused["error"]["code"], "FS_PERMISSION_DENIED", "{refused}");
    alive(&mut talk);
    assert_eq!(talk.end(), Some(0));
    std::fs::set_permissions(folder.path("secret"), PermissionsExt::from_mode(0o600)).unwrap();
    assert_eq!(folder.read("secret"), "s\n");
}

#[test]
fn with_its_output_closed_it_ends_without_a_word() {
    use std::io::Write as _;
    let folder = Folder::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = folder.dsh_fs(["run"]);
    let mut child = command.stdin(Stdio::piped()).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.as_mut().unwrap();
    stdin.write_all(b"{\"tool\": \"read\", \"args\": {\"file_path\": \"x\"}}\n").unwrap();
    // Its input is still open: it ends because nobody reads its answers.
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

fn mkfifo(folder: &Folder, name: &str) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, folder.path(name), rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

#[test]
fn a_file_that_would_grow_beyond_the_limit_of_the_process_is_an_error() {
    let folder = Folder::new();
    folder.write("a.txt", "one\ntwo\n");
    let program = folder.dsh_fs(["run"]);
    let mut limited = Command::new("sh");
    // One block, of 512 or 1024 bytes: shells differ.
    limited
        .args(["-c", "ulimit -f 1; exec \"$@\"", "sh"])
        .arg(program.get_program())
        .args(program.get_args());
    limited.env_remove("DSH_LOG").current_dir(folder.base());
    let mut talk = Talk::start(&mut limited);
    alive(&mut talk);
    let content = "x".repeat(5000);
    for path in ["a.txt", "new.txt"] {
        let line = json!({"tool": "write", "args": {"file_path": path, "content": content}});
        let result = talk.ask(&line);
        assert_eq!(result["error"]["code"], "FS_IO_ERROR", "{result}");
        let message = result["error"]["message"].as_str().unwrap();
        assert!(message.ends_with(": file too large for this file system"), "{message}");
    }
    untouched(&folder, talk, &["a.txt"]);
}
