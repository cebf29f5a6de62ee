use std::time::Instant;

use serde_json::{Value as Json, json};

use crate::binary::Folder;

fn read(path: &str) -> Json {
    json!({"tool": "read", "args": {"file_path": path}})
}

fn edit(old: &str, new: &str) -> Json {
    json!({"tool": "edit", "args": {"file_path": "a.txt", "old_string": old, "new_string": new}})
}

/// The call with more keys.
fn with(mut call: Json, more: &Json) -> Json {
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call
}

#[test]
fn every_line_gets_one_line_and_the_end_of_input_is_exit_code_0() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let mut talk = folder.talk(["run"]);
    let first = talk.ask(read("a.txt"));
    let keys: Vec<&String> = first.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["content", "isError", "meta"]);
    assert_eq!(first["isError"], false);
    let done = json!({
        "content": format!("The file {} has been updated successfully.", folder.path("a.txt").display()),
        "isError": false,
        "meta": {"diffs": [{"path": "a.txt", "oldText": "one", "newText": "two"}]},
    });
    assert_eq!(talk.ask(edit("one", "two")), done);
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn values_are_there_only_on_request() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    assert_eq!(folder.talk(["run"]).ask(read("a.txt")).get("value"), None);
    let mut talk = folder.talk(["run", "--values"]);
    let value = json!({"path": folder.path("a.txt"), "offset": 1, "lines": [{"number": 1, "text": "one"}], "totalLines": 1});
    assert_eq!(talk.ask(read("a.txt"))["value"], value);
    assert_eq!(talk.ask(read("none")).get("value"), None);
}

#[test]
fn ids_come_back_whatever_they_are() {
    let folder = Folder::new();
    let mut talk = folder.talk(["run"]);
    for id in [json!(1), json!("x"), json!(null), json!({"a": [1]})] {
        assert_eq!(talk.ask(with(read("none"), &json!({"id": id})))["id"], id);
    }
    assert_eq!(talk.ask(read("none")).get("id"), None);
}

#[test]
fn what_one_session_has_read_no_other_has() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let mut talk = folder.talk(["run"]);
    talk.ask(with(read("a.txt"), &json!({"session": "x"})));
    for session in [json!({}), json!({"session": "y"}), json!({"session": null})] {
        let refused = talk.ask(with(edit("one", "two"), &session));
        assert_eq!(refused["error"]["code"], "FS_NOT_OBSERVED", "{session}: {refused}");
    }
    assert_eq!(talk.ask(with(edit("one", "two"), &json!({"session": "x"})))["isError"], false);
    // Absent and "s1" are one session.
    talk.ask(read("a.txt"));
    assert_eq!(talk.ask(with(edit("two", "three"), &json!({"session": "s1"})))["isError"], false);
}

#[test]
fn a_batch_is_answered_in_the_order_of_its_calls_which_may_be_of_several_sessions() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let mut talk = folder.talk(["run"]);
    let calls = [
        with(read("a.txt"), &json!({"id": "first"})),
        with(edit("one", "two"), &json!({"session": "other"})),
        edit("one", "two"),
        read("a.txt"),
    ];
    let answer = talk.ask(json!({"session": "b", "calls": calls, "id": 9}));
    assert_eq!(answer["id"], 9);
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    assert_eq!(results[0]["id"], "first");
    assert_eq!(results[1]["error"]["code"], "FS_NOT_OBSERVED");
    assert_eq!(results[2]["isError"], false);
    assert!(results[3]["content"].as_str().unwrap().contains("1: two"), "{answer}");
    assert_eq!(talk.ask(json!({"calls": []})), json!({"results": []}));
}

#[test]
fn a_call_that_is_aborted_before_its_start_does_nothing() {
    let folder = Folder::new();
    let mut talk = folder.talk(["run"]);
    let write = json!({"tool": "write", "args": {"file_path": "n.txt", "content": "x"}, "abort": "pre"});
    let aborted = json!({
        "content": "Error: tool call aborted before dispatch",
        "isError": true,
        "error": {
            "message": "tool call aborted before dispatch",
            "name": "AbortError",
            "code": "ABORTED_BEFORE_DISPATCH",
        },
    });
    assert_eq!(talk.ask(write), aborted);
    assert!(folder.names().is_empty());
}

#[test]
fn a_call_is_aborted_after_the_time_it_names_and_the_next_line_goes_on() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    folder.sparse("long", &"0123456\n".repeat(1024), 64 << 30);
    let mut talk = folder.talk(["run"]);
    let started = Instant::now();
    let stopped = talk.ask(with(read("long"), &json!({"abort": 100})));
    assert_eq!(stopped["error"]["code"], "FS_ABORTED", "{stopped}");
    let took = started.elapsed().as_millis();
    assert!((100..2000).contains(&took), "{took} ms");
    assert_eq!(talk.ask(read("a.txt"))["isError"], false);
    // One call of a batch is stopped, the others are not.
    let answer = talk.ask(json!({"calls": [with(read("long"), &json!({"abort": 50})), read("a.txt")]}));
    assert_eq!(answer["results"][0]["error"]["code"], "FS_ABORTED");
    assert_eq!(answer["results"][1]["isError"], false);
    // A time that is longer than the call changes nothing and is not waited for.
    let started = Instant::now();
    assert_eq!(talk.ask(with(read("a.txt"), &json!({"abort": 60_000})))["isError"], false);
    assert!(started.elapsed().as_secs() < 20);
    assert_eq!(talk.end(), Some(0));
}

#[test]
fn arguments_are_the_tools_to_judge() {
    let folder = Folder::new();
    let mut talk = folder.talk(["run"]);
    for args in [json!(null), json!(5), json!("x"), json!([])] {
        let refused = talk.ask(json!({"tool": "read", "args": args}));
        assert_eq!(refused["content"], "Error: invalid arguments: \"arguments\" must be an object");
        assert_eq!(refused["error"]["code"], "INVALID_ARGS");
    }
    let refused = talk.ask(json!({"tool": "read"}));
    assert_eq!(refused["content"], "Error: invalid arguments: missing required property \"file_path\"");
}

#[test]
fn a_last_line_without_its_newline_is_answered() {
    use std::io::Write as _;
    use std::process::Stdio;
    let folder = Folder::new();
    let mut child = folder.dsh_fs(["run"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(read("none").to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &answer["error"]["code"]), (Some(0), &json!("FS_NOT_FOUND")));
}
