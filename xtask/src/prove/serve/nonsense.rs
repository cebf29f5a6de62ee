//! Requests that are none.

use std::net::SocketAddr;

use serde_json::json;

use crate::dice::Dice;
use crate::prove::serve::http::encoded;

/// The longest body that the server is told to take.
pub(crate) const MOST_BYTES: usize = 1 << 20;

/// Something to be sent as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nonsense {
    /// In words.
    pub(crate) what: &'static str,
    /// All that is sent.
    pub(crate) bytes: Vec<u8>,
    /// This side says that nothing more comes.
    pub(crate) ends: bool,
    /// This side does not wait for an answer.
    pub(crate) leaves: bool,
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"file_path":"b.txt","content":"x"}}}"#;

/// A call that is one, of a tool that is not there.
const NOTHING: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing","arguments":{}}}"#;

/// Any of them.
pub(crate) fn make(address: SocketAddr, dice: &mut Dice) -> Nonsense {
    match dice.below(8) {
        0 => bytes(dice),
        1 => framing(address, dice),
        2 => oversized(address, dice),
        3 => left(address, dice),
        4 => place(address, dice),
        5 => door(address, dice),
        6 => message(address, dice),
        _ => json_body(address, dice),
    }
}

fn raw(what: &'static str, bytes: impl Into<Vec<u8>>) -> Nonsense {
    Nonsense { what, bytes: bytes.into(), ends: true, leaves: false }
}

fn post(address: SocketAddr, what: &'static str, headers: &[(&str, &str)], body: &[u8]) -> Nonsense {
    request(address, what, "POST", "/mcp", headers, body)
}

fn request(
    address: SocketAddr,
    what: &'static str,
    method: &str,
    path: &str,
    more: &[(&str, &str)],
    body: &[u8],
) -> Nonsense {
    let usual = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("Connection", "close"),
    ];
    let kept = usual.iter().filter(|(name, _)| more.iter().all(|(other, _)| other != name));
    let headers: Vec<_> =
        kept.chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Nonsense { ends: false, ..raw(what, encoded(address, method, path, &headers, body)) }
}

/// Not HTTP at all.
fn bytes(dice: &mut Dice) -> Nonsense {
    let length = 1 + dice.below(4096);
    let mut bytes: Vec<u8> = (0..length).map(|_| u8::try_from(dice.below(256)).unwrap_or_default()).collect();
    if dice.one_in(3) {
        bytes.splice(0..0, *b"POST /mcp HTTP/1.1\r\n");
    }
    raw("any bytes", bytes)
}

/// Almost HTTP.
fn framing(address: SocketAddr, dice: &mut Dice) -> Nonsense {
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\n");
    let kind = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    match dice.below(7) {
        0 => raw("a length that is no number", format!("{head}{kind}Content-Length: many\r\n\r\n{CALL}")),
        1 => raw("two lengths", format!("{head}{kind}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{CALL}")),
        2 => raw(
            "a chunk without a size",
            format!("{head}{kind}Transfer-Encoding: chunked\r\n\r\nxyz\r\n{CALL}\r\n0\r\n\r\n"),
        ),
        3 => raw("an unknown transfer", format!("{head}{kind}Transfer-Encoding: gzip\r\n\r\n{CALL}")),
        4 => raw("a version of HTTP that is none", format!("POST /mcp HTTP/9.9\r\nHost: {address}\r\n\r\n")),
        5 => raw("a header of 1 MB", format!("{head}X-Long: {}\r\n\r\n", "x".repeat(1 << 20))),
        _ => raw("a thousand headers", format!("{head}{}\r\n", "X-Many: 1\r\n".repeat(1000))),
    }
}

/// More than is taken, said beforehand or not.
fn oversized(address: SocketAddr, dice: &mut Dice) -> Nonsense {
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    );
    match dice.below(3) {
        0 => Nonsense {
            ends: false,
            ..raw("a length of 1 TB", format!("{head}Content-Length: {}\r\n\r\n{CALL}", 1_u64 << 40))
        },
        1 => {
            let body = CALL.replace("\"x\"", &format!("\"{}\"", "x".repeat(MOST_BYTES)));
            post(address, "a call of more than 1 MB", &[], body.as_bytes())
        }
        _ => {
            let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
            let chunks = chunk.repeat(MOST_BYTES / 0x10000 + 1);
            let body = format!("{chunks}{:x}\r\n{CALL}\r\n0\r\n\r\n", CALL.len());
            raw("more than 1 MB in chunks", format!("{head}Transfer-Encoding: chunked\r\n\r\n{body}"))
        }
    }
}

/// A request whose sender leaves in the middle.
fn left(address: SocketAddr, dice: &mut Dice) -> Nonsense {
    let whole = post(address, "", &[], CALL.as_bytes()).bytes;
    let end = dice.below(whole.len());
    let leaves = dice.one_in(2);
    Nonsense { what: "a request that breaks off", bytes: whole[..end].to_vec(), ends: true, leaves }
}

/// A place where nothing is, or not by this method.
fn place(address: SocketAddr, dice: &mut Dice) -> Nonsense {
    let long = format!("/mcp/{}", "n".repeat(129));
    let path = dice.pick(&[
        "/",
        "/mcp/..",
        "/mcp/a%2Fb",
        "/mcp/a/b",
        "/mcp/%00",
        "/etc/passwd",
        "/mcp/%",
        "//",
        long.as_str(),
    ]);
    let method = dice.pick(&["POST", "PUT", "PATCH", "BREW", "DELETE"]);
    request(address, "another place", method, path, &[], NOTHING.as_bytes())
}

/// Somebody who is not let in, or says two things at once.
fn door(address: SocketAddr, dice: &mut Dice) -> Nonsense {
    let long = "n".repeat(129);
    let (name, value) = dice.pick(&[
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
        ("Host", "evil.example"),
        ("Dsh-Session", "../../etc"),
        ("Dsh-Session", ""),
        ("Dsh-Session", long.as_str()),
        ("Mcp-Session-Id", "nobody's"),
        ("MCP-Protocol-Version", "1066-10-14"),
        ("Content-Type", "text/plain"),
        ("Accept", "image/png"),
    ]);
    post(address, "somebody at the door", &[(name, value)], NOTHING.as_bytes())
}

/// JSON, but not of the protocol.
fn message(address: SocketAddr, dice: &mut Dice) -> Nonsense {
    let method = dice.pick(&["tools/call", "initialize", "no/such", ""]);
    let odd = [
        json!(null),
        json!(7),
        json!("x"),
        json!([]),
        json!([[]]),
        json!({"name": 7}),
        json!({"name": "write", "arguments": []}),
    ];
    let params = odd[dice.below(odd.len())].clone();
    let id = dice.pick(&["1", "1.5", "\"x\"", "[]", "{}", "-1"]);
    let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
    post(address, "a message that is none", &[], body.as_bytes())
}

/// A body that is not JSON, or not an object.
fn json_body(address: SocketAddr, dice: &mut Dice) -> Nonsense {
    let nested = "[".repeat(100_000);
    let body: &[u8] = match dice.below(9) {
        0 => b"",
        1 => b"nonsense",
        2 => &CALL.as_bytes()[..CALL.len() / 2],
        3 => b"[]",
        4 => b"[1,2,3]",
        5 => b"\xff\xfe{}",
        6 => nested.as_bytes(),
        7 => br#"{"jsonrpc":"1.0","id":1,"method":"tools/list","session":"/"}"#,
        _ => br#"{"jsonrpc":"2.0","id":1,"session":7}"#,
    };
    // A session may be asked for without a word.
    let path = if body.is_empty() { "/mcp" } else { dice.pick(&["/mcp", "/mcp/some", "/sessions"]) };
    request(address, "a body that is no message", "POST", path, &[], body)
}
