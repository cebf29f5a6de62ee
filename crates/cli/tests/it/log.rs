//! `dsh-fs log`, and the logs that `--state` keeps.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::binary::{Folder, Output};

struct Logged {
    folder: Folder,
    state: PathBuf,
}

impl Logged {
    fn new() -> Self {
        let folder = Folder::new();
        let state = folder.base().join("state");
        Self { folder, state }
    }

    fn state(&self) -> &str {
        self.state.to_str().unwrap()
    }

    /// Makes calls in session `s1`, in a process of their own.
    fn call(&self, calls: &[(&str, Json)]) -> Output {
        let mut arguments = vec!["call".to_owned(), "--state".to_owned(), self.state().to_owned()];
        arguments.extend(calls.iter().flat_map(|(tool, args)| [(*tool).to_owned(), args.to_string()]));
        self.folder.output(arguments)
    }

    fn log(&self, arguments: &[&str]) -> Output {
        let mut command = self.folder.dsh_fs(["log", "--state", self.state()]);
        Output::of(command.args(arguments).env_remove("COLUMNS"))
    }

    /// What `dsh-fs log s1` shows, without times and the day.
    fn shown(&self, arguments: &[&str]) -> String {
        let output = self.log(arguments);
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
        let untimed = |line: &str| match line.split_at_checked(10) {
            Some((time, rest)) if time.as_bytes()[2] == b':' && time.ends_with("  ") => rest.to_owned(),
            _ => line.to_owned(),
        };
        let lines = output.stdout.lines().map(untimed).map(|line| match line.rsplit_once(", 2") {
            Some((session, day)) if day.ends_with(" (UTC)") => session.to_owned(),
            _ => line,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn file(&self) -> PathBuf {
        self.state.join("s1.jsonl")
    }
}

fn read(path: &str) -> (&'static str, Json) {
    ("read", json!({"file_path": path}))
}

fn edit() -> (&'static str, Json) {
    ("edit", json!({"file_path": "a.txt", "old_string": "two", "new_string": "2"}))
}

#[test]
fn calls_are_shown_as_they_were_whatever_became_of_the_files() {
    let logged = Logged::new();
    logged.folder.write("a.txt", "one\ntwo\n");
    let glob = ("glob", json!({"pattern": "b*"}));
    let grep = ("grep", json!({"pattern": "2"}));
    let made = ("write", json!({"file_path": "b.txt", "content": "new\n"}));
    let wrong = ("read", json!({"file_path": 1}));
    logged.call(&[edit(), read("a.txt"), edit(), made, glob, grep, wrong]);
    std::fs::remove_dir_all(logged.folder.cwd()).unwrap();
    std::fs::create_dir(logged.folder.cwd()).unwrap();
    let cwd = logged.folder.cwd();
    let cwd = cwd.display();
    let expected = format!(
        "\
session s1 in {cwd}
Edit a.txt
    Error: edit requires reading \"{cwd}/a.txt\" first — read the file, then retry

    Call read with file_path \"{cwd}/a.txt\" (any part of it will do), then send this edit again.
Read a.txt
         1  one
         2  two
Edit a.txt
      one
    - two
    + 2
Write b.txt
    + new
Glob b*
    b.txt
Grep 2
    a.txt
         2  2
read {{\"file_path\":1}}
    Error: invalid arguments: \"file_path\" must be a string"
    );
    assert_eq!(logged.shown(&["s1"]), expected);
}

#[test]
fn long_bodies_are_cut_until_all_is_asked_for_and_lines_to_the_columns() {
    let logged = Logged::new();
    logged.folder.write("a.txt", &"0123456789\n".repeat(22));
    logged.call(&[read("a.txt")]);
    let shown = logged.shown(&["s1"]);
    assert_eq!(shown.lines().count(), 1 + 1 + 20 + 1, "{shown}");
    assert!(shown.ends_with("        20  0123456789\n    … 2 more lines (--full)"), "{shown}");
    assert_eq!(logged.shown(&["s1", "--full"]).lines().count(), 1 + 1 + 22);
    let mut command = logged.folder.dsh_fs(["log", "--state", logged.state(), "s1"]);
    let narrow = Output::of(command.env("COLUMNS", "16").env("CLICOLOR_FORCE", "1"));
    assert!(narrow.stdout.contains("\n         1  012…\n"), "{}", narrow.stdout);
    assert!(narrow.stdout.contains("\u{1b}[1m"), "{}", narrow.stdout);
    let mut command = logged.folder.dsh_fs(["log", "--state", logged.state(), "s1"]);
    let plain = Output::of(command.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"));
    assert!(plain.stdout.contains("Read a.txt"), "{}", plain.stdout);
}

#[test]
fn json_gives_each_event_with_its_card() {
    let logged = Logged::new();
    logged.folder.write("a.txt", "one\ntwo\n");
    logged.call(&[read("a.txt"), edit()]);
    let output = logged.log(&["s1", "--json"]);
    let events: Vec<Json> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["session/start", "tool/call", "tool/result", "tool/call", "tool/result"]);
    assert_eq!(events[0].get("card"), None);
    assert_eq!(events[1]["card"]["title"], "Read a.txt");
    assert_eq!(events[2]["card"]["lines"][1], json!({"number": 2, "text": "two"}));
    assert_eq!(
        events[4]["card"]["diffs"],
        json!([{"path": "a.txt", "oldText": "one\ntwo", "newText": "one\n2"}])
    );
    assert_eq!(events[4]["data"]["call"], events[3]["seq"]);
}

#[test]
fn a_torn_last_line_and_a_call_without_end_are_said() {
    let logged = Logged::new();
    logged.folder.write("a.txt", "one\n");
    logged.call(&[read("a.txt")]);
    let text = std::fs::read_to_string(logged.file()).unwrap();
    std::fs::write(logged.file(), &text[..text.len() - 20]).unwrap();
    let output = logged.log(&["s1"]);
    assert_eq!(output.code, Some(0));
    assert_eq!(output.stderr, "dsh-fs: 1 line is not whole, and passed over\n");
    let unfinished =
        "Read a.txt\n    no result: the call is still under way, or the process has ended before it\n";
    assert!(output.stdout.ends_with(unfinished), "{}", output.stdout);
}

#[test]
fn what_was_read_before_a_restart_is_not_known_after_it_in_the_same_session() {
    let logged = Logged::new();
    logged.folder.write("a.txt", "one\ntwo\n");
    assert_eq!(logged.call(&[read("a.txt")]).code, Some(0));
    let again = logged.call(&[edit()]);
    assert_eq!(again.code, Some(1));
    assert!(again.stdout.contains("edit requires reading"), "{}", again.stdout);
    assert_eq!(logged.shown(&["s1"]).matches("session s1 in").count(), 2);
}

#[test]
fn logs_are_private_and_out_of_the_tools_reach_even_in_the_workspace() {
    let mut logged = Logged::new();
    logged.state = logged.folder.path(".state");
    logged.folder.write("a.txt", "one\n");
    assert_eq!(logged.call(&[read("a.txt")]).code, Some(0));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&logged.state), mode(&logged.file())), (0o700, 0o600));
    let log = ".state/s1.jsonl";
    let forged = logged.call(&[read(log), ("write", json!({"file_path": log, "content": "forged\n"}))]);
    assert_eq!(forged.code, Some(1));
    assert!(forged.stdout.contains("file access denied"), "{}", forged.stdout);
    assert!(!std::fs::read_to_string(logged.file()).unwrap().starts_with("forged"));
}

#[test]
fn without_state_nothing_is_written() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    folder.output(["call", "read", "{\"file_path\": \"a.txt\"}"]);
    assert_eq!(folder.names(), ["a.txt"]);
    let beside: Vec<_> =
        std::fs::read_dir(folder.base()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside, ["w"]);
}

#[test]
fn json_lines_and_mcp_keep_logs_too() {
    let logged = Logged::new();
    logged.folder.write("a.txt", "one\n");
    let mut talk = logged.folder.talk(["run", "--state", logged.state()]);
    for session in [json!("s1"), json!("a/b"), json!(null)] {
        talk.ask(json!({"tool": "read", "args": {"file_path": "a.txt"}, "session": session}));
    }
    assert_eq!(talk.end(), Some(0));
    let mut talk = crate::binary::Talk::mcp_with(&logged.folder, ["mcp", "--state", logged.state()]);
    talk.tool("read", json!({"file_path": "a.txt"}));
    assert_eq!(talk.end(), Some(0));
    let mut names: Vec<_> = std::fs::read_dir(&logged.state)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["a~002Fb.jsonl", "s1.jsonl", "stdio.jsonl"]);
    for session in ["a/b", "s1", "stdio"] {
        assert!(logged.shown(&[session]).contains("Read a.txt"), "{session}");
    }
}

#[test]
fn a_log_that_is_not_there_is_an_error_that_names_those_that_are() {
    let logged = Logged::new();
    let output = logged.log(&["s1"]);
    let missing =
        format!("dsh-fs: cannot read {}: No such file or directory (os error 2)\n", logged.file().display());
    assert_eq!((output.code, output.stderr), (Some(2), missing));
    assert!(!logged.state.exists(), "looking makes no folder");
    logged.call(&[read("a.txt")]);
    let output = logged.log(&["s2"]);
    let known =
        format!("dsh-fs: there is no log of session \"s2\" in {}; there are: s1\n", logged.state.display());
    assert_eq!((output.code, output.stderr), (Some(2), known));
    let output = logged.folder.output(["log", "s1"]);
    let said = "dsh-fs: log: say with --state DIR where the logs of sessions are kept\n";
    assert_eq!((output.code, output.stderr.as_str()), (Some(2), said));
    let file = logged.file();
    let output = logged.folder.output(["call", "--state", file.to_str().unwrap(), "read", "{}"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.starts_with(&format!("dsh-fs: --state {}: ", file.display())), "{}", output.stderr);
}
