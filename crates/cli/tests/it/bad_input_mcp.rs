//! What must neither stop the server nor write anything: over the protocol.

use serde_json::{Value as Json, json};

use crate::binary::{Folder, Talk};

fn error(id: &Json, code: i32, message: &str) -> Json {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

fn alive(talk: &mut Talk) {
    assert_eq!(talk.tool("read", json!({"file_path": "a.txt"}))["isError"], false);
}

#[test]
fn a_message_that_cannot_be_read_is_answered_and_the_next_one_too() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let mut talk = Talk::mcp(&folder);
    for (line, answer) in [
        (
            &b"nonsense"[..],
            error(&json!(null), -32700, "the message is not valid JSON: expected ident at line 1 column 2"),
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\"",
            error(
                &json!(5),
                -32700,
                "the message is not valid JSON: EOF while parsing an object at line 1 column 45",
            ),
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":{\"x\":\"\xFF\"},\"id\":\"u\"}",
            error(
                &json!("u"),
                -32700,
                "the message is not valid JSON: invalid unicode code point at line 1 column 49",
            ),
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":{\"x\":\"\\udc00\"},\"id\":6}",
            error(
                &json!(6),
                -32700,
                "the message is not valid JSON: lone leading surrogate in hex escape at line 1 column 54",
            ),
        ),
        (b"[]", error(&json!(null), -32600, "batches are not supported: send one JSON object on each line")),
        (b"3", error(&json!(null), -32600, "a message must be a JSON object")),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
            error(&json!(null), -32600, "\"id\" must be a string or an integer"),
        ),
        (b"{\"id\":7,\"method\":\"ping\"}", error(&json!(7), -32600, "\"jsonrpc\" must be \"2.0\"")),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":9}",
            error(&json!(8), -32600, "\"method\" must be a string"),
        ),
    ] {
        talk.say(line);
        assert_eq!(talk.hear(), answer, "{}", String::from_utf8_lossy(line));
    }
    alive(&mut talk);
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn requests_that_make_no_sense_are_errors_of_the_protocol() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let mut talk = Talk::mcp(&folder);
    for (method, params, code, message) in [
        ("tools/call", json!({"name": 7}), -32602, "\"name\" of tools/call must be a string"),
        ("tools/call", json!([]), -32602, "\"params\" must be an object"),
        ("initialize", json!({"protocolVersion": 7}), -32602, "\"params\" do not fit initialize"),
        ("no/such", json!({}), -32601, "unknown method \"no/such\""),
    ] {
        let answer = talk.request(method, params);
        assert_eq!(answer["error"], json!({"code": code, "message": message}));
    }
    let unknown = talk.request("tools/call", json!({"name": "nope", "arguments": {}}));
    let data = json!({"name": "ToolNotFoundError", "code": "UNKNOWN_TOOL"});
    let message = "unknown tool \"nope\"";
    assert_eq!(unknown["error"], json!({"code": -32602, "message": message, "data": data}));
    for arguments in [json!("x"), json!([]), json!(7)] {
        let refused = talk.tool("read", arguments);
        assert_eq!(
            refused["content"][0]["text"],
            "Error: invalid arguments: \"arguments\" must be an object"
        );
        assert_eq!(refused["_meta"]["dsh-fs/error"]["code"], "INVALID_ARGS");
        assert_eq!(refused.get("resultType"), None, "older clients do not know it");
    }
    alive(&mut talk);
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn each_bad_call_has_its_code() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    std::fs::create_dir(folder.path("dir")).unwrap();
    let mut talk = Talk::mcp(&folder);
    for (tool, arguments, code) in [
        ("read", json!({"file_path": "a.txt", "offset": 1e308}), "FS_NOT_FOUND"),
        ("read", json!({"file_path": "a\0b"}), "FS_NOT_FOUND"),
        ("read", json!({"file_path": "/dev/zero"}), "FS_NOT_REGULAR_FILE"),
        ("write", json!({"file_path": "dir", "content": ""}), "FS_NOT_REGULAR_FILE"),
        ("write", json!({"file_path": "a.txt", "content": 7}), "INVALID_ARGS"),
        ("edit", json!({"file_path": "a.txt", "old_string": "one", "new_string": "x"}), "FS_NOT_OBSERVED"),
    ] {
        let result = talk.tool(tool, arguments.clone());
        assert_eq!(result["_meta"]["dsh-fs/error"]["code"], code, "{tool} {arguments}: {result}");
    }
    alive(&mut talk);
    assert_eq!(folder.names(), ["a.txt", "dir"]);
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn an_argument_of_20_mib_is_taken() {
    let folder = Folder::new();
    let mut talk = Talk::mcp(&folder);
    let content = "x".repeat(20 << 20);
    assert_eq!(talk.tool("write", json!({"file_path": "n.txt", "content": content}))["isError"], false);
    assert_eq!(folder.read("n.txt").len(), 20 << 20);
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn a_message_over_the_limit_is_answered_with_its_id_wherever_that_is() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let mut talk = Talk::mcp(&folder);
    let filler = "x".repeat(64 << 20);
    let too_long = "message too long: the limit is 67108864 bytes; nothing was done";
    let params = format!(r#"{{"name":"write","arguments":{{"file_path":"n.txt","content":"{filler}"}}}}"#);
    talk.say(format!(r#"{{"jsonrpc":"2.0","id":100,"method":"tools/call","params":{params}}}"#).as_bytes());
    assert_eq!(talk.hear(), error(&json!(100), -32600, too_long));
    talk.say(
        format!(r#"{{"method":"tools/call","params":{params},"jsonrpc":"2.0","id":"last"}}"#).as_bytes(),
    );
    assert_eq!(talk.hear(), error(&json!("last"), -32600, too_long));
    talk.say(filler.as_bytes());
    talk.say(filler.as_bytes());
    talk.say(format!("{filler}x").as_bytes());
    // Of exactly the limit: taken, and found to be no JSON.
    assert_eq!(talk.hear()["error"]["code"], -32700);
    assert_eq!(talk.hear()["error"]["code"], -32700);
    assert_eq!(talk.hear(), error(&json!(null), -32600, too_long));
    alive(&mut talk);
    assert_eq!(folder.names(), ["a.txt"]);
    assert_eq!(talk.end(), Some(0));
}
