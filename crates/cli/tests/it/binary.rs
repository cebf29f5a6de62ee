//! The program under test and the folder it works in.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// An answer that takes longer has failed, even on a slow machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A private folder: `w` is the workspace, beside it compositions and whatever else a test needs.
pub(crate) struct Folder {
    dir: TempDir,
    temp: Option<PathBuf>,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("w")).unwrap();
        Self { dir, temp: None }
    }

    /// One that does not lie in a folder that a fence leaves open, with a folder of temporary files of its own: `tmp`.
    pub(crate) fn outside_temp() -> Self {
        let open = Path::new("/tmp").canonicalize().unwrap();
        let mut places = ["/var/tmp", "/dev/shm", env!("CARGO_TARGET_TMPDIR")].into_iter().map(PathBuf::from);
        let place = places.find(|place| place.canonicalize().is_ok_and(|place| !place.starts_with(&open)));
        let place = place.expect("there is a folder outside /tmp").canonicalize().unwrap();
        let dir = tempfile::tempdir_in(place).unwrap();
        std::fs::create_dir(dir.path().join("w")).unwrap();
        let temp = dir.path().join("tmp");
        std::fs::create_dir(&temp).unwrap();
        Self { dir, temp: Some(temp) }
    }

    pub(crate) fn base(&self) -> &Path {
        self.dir.path()
    }

    /// The workspace.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.base().join("w")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.cwd().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// A file of `size` bytes of which only the text at its start takes space; the rest is NUL.
    pub(crate) fn sparse(&self, name: &str, text: &str, size: u64) {
        self.write(name, text);
        let file = std::fs::OpenOptions::new().write(true).open(self.path(name)).unwrap();
        file.set_len(size).unwrap();
    }

    /// A composition file outside the workspace.
    pub(crate) fn compose(&self, yaml: &str) -> PathBuf {
        let file = self.base().join("compose.yaml");
        std::fs::write(&file, yaml).unwrap();
        file
    }

    /// The names in the workspace, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.cwd()).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The program, at work in the workspace.
    pub(crate) fn dsh_fs(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dsh-fs"));
        command.env_remove("DSH_LOG").env_remove("NO_COLOR").current_dir(self.base());
        command.args(arguments).arg("--cwd").arg(self.cwd());
        if let Some(temp) = &self.temp {
            command.env("TMPDIR", temp);
        }
        command
    }

    /// Runs to the end, with nothing to read.
    pub(crate) fn output(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
        Output::of(&mut self.dsh_fs(arguments))
    }

    pub(crate) fn talk(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Talk {
        Talk::start(&mut self.dsh_fs(arguments))
    }
}

/// What a program that has ended left behind.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.stdin(Stdio::null()).output().unwrap();
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A program that is spoken to line by line.
pub(crate) struct Talk {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: i64,
}

impl Talk {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        let stdin = child.stdin.take();
        Self { child, stdin, lines, next_id: 0 }
    }

    /// A server whose client has done the handshake of older protocols.
    pub(crate) fn mcp(folder: &Folder) -> Self {
        Self::mcp_with(folder, ["mcp"])
    }

    /// The same, started with other arguments.
    pub(crate) fn mcp_with(folder: &Folder, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let mut talk = folder.talk(arguments);
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        let answer = talk.request("initialize", hello);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        talk.say(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        talk
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a line.
    pub(crate) fn say(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line).unwrap();
        stdin.write_all(b"\n").unwrap();
    }

    /// The next line, whole.
    pub(crate) fn hear_line(&mut self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("the program answers")
    }

    pub(crate) fn hear(&mut self) -> Json {
        serde_json::from_str(&self.hear_line()).unwrap()
    }

    pub(crate) fn ask(&mut self, line: impl ToString) -> Json {
        self.say(line.to_string().as_bytes());
        self.hear()
    }

    /// Sends a JSON-RPC request and gives its id.
    pub(crate) fn post(&mut self, method: &str, params: Json) -> i64 {
        self.next_id += 1;
        let line = json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        self.say(line.to_string().as_bytes());
        self.next_id
    }

    pub(crate) fn request(&mut self, method: &str, params: Json) -> Json {
        let id = self.post(method, params);
        let answer = self.hear();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Posts a tool call and gives its id.
    pub(crate) fn post_tool(&mut self, name: &str, arguments: Json) -> i64 {
        self.post("tools/call", json!({"name": name, "arguments": arguments}))
    }

    /// The result of a tool call over MCP.
    pub(crate) fn tool(&mut self, name: &str, arguments: Json) -> Json {
        let mut answer = self.request("tools/call", json!({"name": name, "arguments": arguments}));
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].take()
    }

    /// Closes the input and waits for the end; nothing more may be said.
    pub(crate) fn end(mut self) -> Option<i32> {
        let code = self.close().code();
        assert_eq!(self.lines.try_recv().ok(), None, "something unread is left");
        code
    }

    /// Closes the input and waits for the end.
    pub(crate) fn close(&mut self) -> ExitStatus {
        self.stdin = None;
        self.ended()
    }

    /// Waits for an end that comes by itself.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let patience = Instant::now() + PATIENCE;
        while Instant::now() < patience {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        panic!("the program does not end");
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // After a test that failed half way. If it has ended this does nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
