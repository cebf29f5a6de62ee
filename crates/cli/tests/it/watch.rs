//! `--watch`: what the composition file says is mounted while the server runs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::binary::{Folder, Talk};
use crate::web::Web;

const PATIENCE: Duration = Duration::from_secs(30);

fn rows(read_limit: u32) -> String {
    format!(
        "- name: dsh-fs-local\n- name: dsh-fs-observation-policy\n\
         - {{ name: dsh-tool-fs, config: {{ readLimit: {read_limit} }} }}\n"
    )
}

/// A server that follows its composition file, and what it says of that.
struct Watched {
    folder: Folder,
    file: PathBuf,
    talk: Talk,
    said: Receiver<String>,
}

impl Watched {
    fn start(folder: Folder, composition: &str, capabilities: Json) -> Self {
        let file = folder.compose(composition);
        Self::follow(folder, file, capabilities)
    }

    fn follow(folder: Folder, file: PathBuf, capabilities: Json) -> Self {
        let (stderr, writer) = std::io::pipe().unwrap();
        let mut command = folder.dsh_fs(["mcp", "--watch", "--compose", file.to_str().unwrap()]);
        command.stderr(writer);
        let mut talk = Talk::start(&mut command);
        // It holds the other end of the pipe.
        drop(command);
        let (send, said) = mpsc::channel();
        let lines = BufReader::new(stderr).lines();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "test", "version": "1"}});
        talk.request("initialize", hello);
        talk.say(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        Self { folder, file, talk, said }
    }

    /// As editors do: a new file in the place of the old one.
    fn save(&self, composition: &str) {
        let new = self.folder.base().join("compose.yaml.new");
        std::fs::write(&new, composition).unwrap();
        std::fs::rename(new, &self.file).unwrap();
    }

    fn said(&self) -> String {
        self.said.recv_timeout(PATIENCE).expect("it says something")
    }

    fn reloaded(&self, how: &str) {
        assert_eq!(self.said(), format!("dsh-fs: reloaded {}: {how}", self.file.display()));
    }

    /// The answer to a request, whatever notices come before it.
    fn answer(&mut self, id: i64) -> Json {
        loop {
            let mut message = self.talk.hear();
            if message["id"] == id && message.get("method").is_none() {
                return message["result"].take();
            }
        }
    }

    /// Whether the call was a success, and its text.
    fn call(&mut self, tool: &str, arguments: Json) -> (bool, String) {
        let id = self.talk.post_tool(tool, arguments);
        let result = self.answer(id);
        (result["isError"] == false, result["content"][0]["text"].as_str().unwrap().to_owned())
    }

    fn read(&mut self) -> bool {
        self.call("read", json!({"file_path": "a.txt", "limit": 2})).0
    }

    fn write(&mut self) -> (bool, String) {
        self.call("write", json!({"file_path": "a.txt", "content": "new\n"}))
    }

    fn end(mut self) {
        assert_eq!(self.talk.close().code(), Some(0));
        assert_eq!(self.said.recv_timeout(PATIENCE).ok(), None, "nothing else was said");
    }
}

fn plain() -> Folder {
    let folder = Folder::new();
    folder.write("a.txt", "one\ntwo\n");
    folder
}

#[test]
fn a_changed_row_is_in_force_and_what_was_read_stays_known() {
    let mut watched = Watched::start(plain(), &rows(2), json!({}));
    assert!(watched.read());
    watched.save(&rows(1));
    watched.reloaded("restarted dsh-tool-fs");
    let limit = "Error: limit must be less than or equal to 1".to_owned();
    assert_eq!(watched.call("read", json!({"file_path": "a.txt", "limit": 2})), (false, limit));
    assert!(watched.write().0, "the policy was not touched");
    // Settings are all that counts, and the file may be written in place.
    watched.save(&format!("# the same\n{}", rows(1)));
    let mut file = std::fs::OpenOptions::new().append(true).open(&watched.file).unwrap();
    file.write_all(b"- name: dsh-tool-call-timeout-policy\n").unwrap();
    watched.reloaded("added dsh-tool-call-timeout-policy");
    watched.end();
}

#[test]
fn a_bad_edit_keeps_what_runs_and_says_why() {
    let mut watched = Watched::start(plain(), &rows(2), json!({}));
    assert!(watched.read());
    let place = watched.file.display().to_string();
    let kept = "dsh-fs: the composition is not reloaded, what was running goes on";
    watched.save(&rows(2).replace("readLimit", "readLimt"));
    let said = watched.said();
    assert!(
        said.starts_with(&format!("{kept}: {place}:3: row 3 \"dsh-tool-fs\": unknown setting")),
        "{said}"
    );
    watched.save("- name: dsh-tool-fs\n");
    let waits = "waits for a service that no plugin provides: \"fs\"";
    assert_eq!(watched.said(), format!("{kept}: {place}:1: row 1 \"dsh-tool-fs\": {waits}"));
    std::fs::remove_file(&watched.file).unwrap();
    let said = watched.said();
    assert!(said.contains("cannot read the composition file"), "{said}");
    assert!(watched.read());
    watched.save(&rows(1));
    watched.reloaded("restarted dsh-tool-fs");
    assert!(!watched.read());
    watched.end();
}

#[test]
fn a_policy_that_is_reloaded_has_seen_nothing() {
    let mut watched = Watched::start(plain(), &rows(2), json!({}));
    assert!(watched.read());
    watched.save(&format!("- name: dsh-tool-call-timeout-policy\n{}", rows(2)));
    watched.reloaded(
        "restarted dsh-fs-local, dsh-fs-observation-policy, dsh-tool-fs; added dsh-tool-call-timeout-policy",
    );
    let (written, why) = watched.write();
    assert!(!written && why.contains("without reading it first"), "{why}");
    assert!(watched.read());
    assert!(watched.write().0);
    watched.end();
}

#[test]
fn a_link_that_leads_to_another_file_is_a_change() {
    let folder = plain();
    let versions = folder.base().join("versions");
    for (version, limit) in [("one", 2), ("two", 1)] {
        std::fs::create_dir_all(versions.join(version)).unwrap();
        std::fs::write(versions.join(version).join("compose.yaml"), rows(limit)).unwrap();
    }
    let file = folder.base().join("linked.yaml");
    symlink("versions/one/compose.yaml", &file).unwrap();
    let mut watched = Watched::follow(folder, file, json!({}));
    assert!(watched.read());
    let new: &Path = &watched.folder.base().join("new");
    symlink("versions/two/compose.yaml", new).unwrap();
    std::fs::rename(new, &watched.file).unwrap();
    watched.reloaded("restarted dsh-tool-fs");
    assert!(!watched.read());
    watched.end();
}

#[test]
fn a_call_under_way_is_finished_as_it_began_before_anything_is_reloaded() {
    let folder = Folder::outside_temp();
    folder.write("a.txt", "one\ntwo\n");
    let rows = |limit: u32| rows(limit).replace("dsh-fs-local", "dsh-fs-sandbox");
    let mut watched = Watched::start(folder, &rows(2), json!({"elicitation": {}}));
    assert!(watched.read());
    let outside = watched.folder.base().join("outside.txt");
    let asked = json!({
        "file_path": outside, "content": "x\n",
        "sandbox_permissions": "danger-full-access", "justification": "the person wants it",
    });
    let under_way = watched.talk.post_tool("write", asked);
    let question = loop {
        let message = watched.talk.hear();
        if message["method"] == "elicitation/create" {
            break message["id"].clone();
        }
    };
    watched.save(&rows(1));
    assert_eq!(
        watched.said(),
        "dsh-fs: the composition was changed; waiting for the end of a call before it is reloaded"
    );
    let yes = json!({"jsonrpc": "2.0", "id": question, "result": {"action": "accept", "content": {}}});
    watched.talk.say(yes.to_string().as_bytes());
    let result = watched.answer(under_way);
    assert_eq!(result["isError"], false, "{result}");
    watched.reloaded("restarted dsh-tool-fs");
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "x\n");
    assert!(watched.write().0, "what was read before is still known");
    watched.end();
}

#[test]
fn it_wants_a_file_to_follow_and_no_walls_that_cannot_follow() {
    let folder = Folder::new();
    let output = folder.output(["mcp", "--watch"]);
    assert_eq!(output.code, Some(2));
    assert_eq!(output.stderr, "dsh-fs: --watch follows a composition file: say which with --compose\n");
    let file = folder.compose(&rows(2));
    let output = folder.output(["mcp", "--watch", "--confine", "--compose", file.to_str().unwrap()]);
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    assert!(output.stderr.contains("cannot be used with"), "{}", output.stderr);
}

#[test]
fn sessions_over_http_outlive_a_reload_but_not_a_restart() {
    let folder = plain();
    let file = folder.compose(&rows(2));
    let start = || {
        let file = file.to_str().unwrap();
        Web::start(&mut folder.dsh_fs(["mcp", "--http", "127.0.0.1:0", "--watch", "--compose", file]))
    };
    let refused = |web: &Web, session: &str, tool: &str| {
        let arguments = json!({"file_path": "a.txt", "limit": 2, "content": "new\n"});
        web.tool(&format!("/mcp/{session}"), &[], tool, arguments)["isError"] == true
    };
    let web = start();
    assert!(!refused(&web, "one", "read"));
    std::fs::write(&file, rows(1)).unwrap();
    let deadline = Instant::now() + PATIENCE;
    while !refused(&web, "one", "read") {
        assert!(Instant::now() < deadline, "it is reloaded");
    }
    assert!(refused(&web, "two", "write"), "what another session has read licenses nothing");
    assert!(!refused(&web, "one", "write"));
    assert_eq!(web.terminate().code(), Some(0));
    let web = start();
    assert!(refused(&web, "one", "write"), "after a restart nothing has been read");
    assert_eq!(web.terminate().code(), Some(0));
}
