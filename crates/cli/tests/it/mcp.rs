//! The protocol itself: handshake, listing, the end.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value as Json, json};

use crate::binary::{Folder, Talk};

fn modern_meta() -> Json {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn the_server_says_its_name_and_version() {
    let folder = Folder::new();
    let mut talk = folder.talk(["mcp"]);
    let hello = json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = talk.request("initialize", hello);
    assert_eq!(answer["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(
        answer["result"]["serverInfo"],
        json!({"name": "dsh-fs", "version": env!("CARGO_PKG_VERSION")})
    );
    assert_eq!(answer["result"]["capabilities"], json!({"tools": {"listChanged": true}}));
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn tools_carry_all_their_hints() {
    let folder = Folder::new();
    let mut talk = Talk::mcp(&folder);
    let answer = talk.request("tools/list", json!({}));
    let hints = |name: &str| {
        let tool =
            answer["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        let hints = &tool["annotations"];
        ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]
            .map(|hint| hints[hint].as_bool())
    };
    assert_eq!(hints("read"), [Some(true), Some(false), Some(true), Some(false)]);
    assert_eq!(hints("write"), [Some(false), Some(true), Some(true), Some(false)]);
    assert_eq!(hints("edit"), [Some(false), Some(true), Some(false), Some(false)]);
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn a_client_of_the_newer_protocol_needs_no_handshake() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let mut talk = folder.talk(["mcp"]);
    let found = talk.request("server/discover", json!({"_meta": modern_meta()}));
    assert!(
        found["result"]["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")),
        "{found}"
    );
    let listed = talk.request("tools/list", json!({"_meta": modern_meta()}));
    assert_eq!(listed["result"]["resultType"], "complete");
    let call = json!({"name": "read", "arguments": {"file_path": "a.txt"}, "_meta": modern_meta()});
    let read = talk.request("tools/call", call);
    assert_eq!(
        (&read["result"]["isError"], &read["result"]["resultType"]),
        (&json!(false), &json!("complete"))
    );
    // The process is the session: what was read is known to the next call.
    let edit = json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"});
    let edited =
        talk.request("tools/call", json!({"name": "edit", "arguments": edit, "_meta": modern_meta()}));
    assert_eq!(edited["result"]["isError"], false, "{edited}");
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn what_comes_before_the_handshake_does_not_end_the_server() {
    let folder = Folder::new();
    let mut talk = folder.talk(["mcp"]);
    talk.say(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    talk.say(br#"{"jsonrpc":"2.0","id":99,"result":{}}"#);
    talk.say(b"");
    assert_eq!(talk.request("ping", json!({}))["result"], json!({}));
    let refused = talk.request("tools/list", json!({}));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    talk.say(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    assert!(talk.request("initialize", hello)["result"].is_object());
    assert!(talk.request("tools/list", json!({}))["result"]["tools"].is_array());
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn the_end_of_input_lets_calls_under_way_answer() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let mut command = folder.dsh_fs(["mcp"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let call = json!({"name": "read", "arguments": {"file_path": "a.txt"}, "_meta": modern_meta()});
    let line = json!({"jsonrpc": "2.0", "id": "only", "method": "tools/call", "params": call});
    // Not even a newline at its end.
    child.stdin.take().unwrap().write_all(line.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!("only"), &json!(false)));
}

#[test]
fn an_empty_input_is_a_clean_end() {
    let folder = Folder::new();
    let output = folder.output(["mcp"]);
    assert_eq!((output.code, output.stdout.as_str(), output.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn with_its_output_closed_it_ends_without_a_word() {
    let folder = Folder::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = folder.dsh_fs(["mcp"]);
    let mut child = command.stdin(Stdio::piped()).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    // Its input is still open: it ends because nobody reads its answers.
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn an_idle_server_takes_little_memory() {
    let folder = Folder::new();
    let mut talk = Talk::mcp(&folder);
    assert_eq!(talk.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().len(), 5);
    let status = std::fs::read_to_string(format!("/proc/{}/status", talk.id())).unwrap();
    // Its own memory. The pages of the program come on top; those of a debug build say nothing of what is shipped. The proof
    // `serve` holds the shipped program to the whole budget of 20 MiB.
    let own = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    let kib: u64 = own.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kib <= 5 * 1024, "{kib} KiB");
    assert_eq!(talk.end(), Some(0));
}
