use serde_json::json;

use super::*;

fn read(line: &str) -> Result<Request, String> {
    parse(line.as_bytes()).map_err(|invalid| invalid.message)
}

fn one(line: &str) -> Call {
    match read(line) {
        Ok(Request::Call(call)) => call,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn what_is_left_out_has_its_default() {
    let call =
        Call { session: Some("s1".into()), tool: "read".into(), args: json!({}), id: None, abort: None };
    assert_eq!(one(r#"{"tool":"read"}"#), call);
}

#[test]
fn absent_and_null_sessions_are_two_things() {
    assert_eq!(one(r#"{"tool":"t","session":null}"#).session, None);
    assert_eq!(one(r#"{"tool":"t","session":"x"}"#).session.as_deref(), Some("x"));
}

#[test]
fn arguments_and_id_are_any_value() {
    let call = one(r#"{"tool":"t","args":[1],"id":{"n":1}}"#);
    assert_eq!((call.args, call.id), (json!([1]), Some(json!({"n": 1}))));
    assert_eq!(one(r#"{"tool":"t","args":null}"#).args, Json::Null);
}

#[test]
fn an_abort_is_a_word_or_a_time() {
    assert_eq!(one(r#"{"tool":"t","abort":"pre"}"#).abort, Some(Abort::BeforeStart));
    assert_eq!(one(r#"{"tool":"t","abort":1.5}"#).abort, Some(Abort::After(Duration::from_micros(1500))));
}

#[test]
fn calls_of_a_batch_have_its_session_unless_they_say_otherwise() {
    let line = r#"{"session":"b","calls":[{"tool":"x"},{"tool":"y","session":null,"id":2}],"id":1}"#;
    let Ok(Request::Batch { calls, id }) = read(line) else { panic!("a batch") };
    assert_eq!(id, Some(json!(1)));
    let sessions: Vec<_> = calls.iter().map(|call| call.session.as_deref()).collect();
    assert_eq!(sessions, [Some("b"), None]);
    assert_eq!(calls[1].id, Some(json!(2)));
}

#[test]
fn every_refusal_says_what_and_what_was_expected() {
    for (line, message) in [
        ("", "a request must be one JSON object: EOF while parsing a value at line 1 column 0"),
        ("{", "a request must be one JSON object: EOF while parsing an object at line 1 column 1"),
        ("[]", "a request must be a JSON object, got an array"),
        ("null", "a request must be a JSON object, got null"),
        ("{}", "a request needs \"tool\" (a string) or \"calls\" (an array)"),
        (r#"{"tool":1}"#, "\"tool\" must be a string, got a number"),
        (r#"{"tool":"t","session":7}"#, "\"session\" must be a string or null, got a number"),
        (
            r#"{"tool":"t","abort":"post"}"#,
            "\"abort\" must be \"pre\" or a number of milliseconds from 0 on, got \"post\"",
        ),
        (
            r#"{"tool":"t","abort":-1}"#,
            "\"abort\" must be \"pre\" or a number of milliseconds from 0 on, got -1",
        ),
        (
            r#"{"tool":"t","abort":null}"#,
            "\"abort\" must be \"pre\" or a number of milliseconds from 0 on, got null",
        ),
        (r#"{"calls":{}}"#, "\"calls\" must be an array, got an object"),
        (r#"{"calls":[1]}"#, "\"calls[0]\" must be an object, got a number"),
        (r#"{"calls":[{"tool":"t"},{}]}"#, "\"calls[1].tool\" is missing: it must be a string"),
        (
            r#"{"calls":[{"tool":"t","session":[]}]}"#,
            "\"calls[0].session\" must be a string or null, got an array",
        ),
        (r#"{"tool":"t","calls":[]}"#, "\"tool\" belongs to a call, not beside \"calls\""),
        (
            r#"{"tool":"t","args":{"file_path":"\ud800"}}"#,
            "a request must be one JSON object: unexpected end of hex escape at line 1 column 40",
        ),
    ] {
        assert_eq!(read(line), Err(message.to_owned()), "{line}");
    }
    let not_utf8 = parse(b"{\"tool\":\"\xFF\"}").unwrap_err().message;
    assert_eq!(not_utf8, "a request must be UTF-8: byte 10 is not");
}

#[test]
fn a_refusal_keeps_the_id_of_the_line() {
    assert_eq!(parse(br#"{"id":5,"tool":1}"#).unwrap_err().id, Some(json!(5)));
}
