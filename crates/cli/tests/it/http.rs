//! Many agents at one server: what one has read licenses nobody else.

use serde_json::{Value as Json, json};

use crate::binary::Folder;
use crate::web::Web;

fn serve(folder: &Folder, more: &[&str]) -> Web {
    Web::start(&mut folder.dsh_fs(["mcp", "--http", "127.0.0.1:0"].iter().chain(more)))
}

fn read() -> Json {
    json!({"file_path": "a.txt"})
}

fn edit(from: &str, to: &str) -> Json {
    json!({"file_path": "a.txt", "old_string": from, "new_string": to})
}

fn code(result: &Json) -> Option<&str> {
    result["_meta"]["dsh-fs/error"]["code"].as_str()
}

#[test]
fn what_one_session_has_read_no_other_may_change() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let web = serve(&folder, &[]);
    assert_eq!(web.tool("/mcp/alice", &[], "read", read())["isError"], false);
    let older = web.hello("/mcp");
    let refused = [
        web.tool("/mcp/bob", &[], "edit", edit("one", "two")),
        web.tool("/mcp", &[("dsh-session", "carol")], "edit", edit("one", "two")),
        web.tool("/mcp", &[], "edit", edit("one", "two")),
        web.older_tool(&older, "edit", edit("one", "two")),
    ];
    for refused in &refused {
        assert_eq!(code(refused), Some("FS_NOT_OBSERVED"), "{refused}");
    }
    assert_eq!(folder.read("a.txt"), "one\n");
    assert_eq!(web.tool("/mcp", &[("dsh-session", "alice")], "edit", edit("one", "two"))["isError"], false);
    assert_eq!(web.older_tool(&older, "read", read())["isError"], false);
    assert_eq!(web.older_tool(&older, "edit", edit("two", "three"))["isError"], false);
    assert_eq!(code(&web.tool("/mcp/alice", &[], "edit", edit("three", "four"))), Some("FS_STALE_VERSION"));
    assert_eq!(folder.read("a.txt"), "three\n");
    assert_eq!(web.terminate().code(), Some(0));
}

#[test]
fn without_a_session_files_are_read_and_created_and_never_overwritten() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let web = serve(&folder, &[]);
    let write = |name: &str| web.tool("/mcp", &[], "write", json!({"file_path": name, "content": "new\n"}));
    assert_eq!(web.tool("/mcp", &[], "read", read())["isError"], false);
    assert_eq!(write("b.txt")["isError"], false);
    for name in ["a.txt", "b.txt"] {
        let refused = write(name);
        assert_eq!(refused["isError"], true);
        let hint = refused["content"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap();
        assert!(hint.contains("/mcp/<session>") && hint.contains("Dsh-Session"), "{hint}");
    }
    assert_eq!((folder.read("a.txt").as_str(), folder.read("b.txt").as_str()), ("one\n", "new\n"));
}

#[test]
fn a_server_that_was_started_again_remembers_no_session() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let state = folder.base().join("state");
    let state = ["--state", state.to_str().unwrap()];
    let web = serve(&folder, &state);
    assert_eq!(web.tool("/mcp/alice", &[], "read", read())["isError"], false);
    assert_eq!(web.terminate().code(), Some(0));
    let web = serve(&folder, &state);
    assert_eq!(code(&web.tool("/mcp/alice", &[], "edit", edit("one", "two"))), Some("FS_NOT_OBSERVED"));
    assert_eq!(folder.read("a.txt"), "one\n");
}

#[test]
fn a_session_works_in_the_workspace_that_it_was_minted_with() {
    let folder = Folder::outside_temp();
    for name in ["all/one", "all/two"] {
        std::fs::create_dir_all(folder.base().join(name)).unwrap();
    }
    let all = folder.base().join("all");
    let web = serve(&folder, &["--workspaces", all.to_str().unwrap()]);
    let mint = |body: Json| web.post("/sessions", &[], &body.to_string());
    assert_eq!(mint(json!({"session": "one", "workspace": "one"})).status, 201);
    let write =
        |path: &str| web.tool("/mcp/one", &[], "write", json!({"file_path": path, "content": "new\n"}));
    assert_eq!(write("a.txt")["isError"], false);
    assert_eq!(std::fs::read_to_string(all.join("one/a.txt")).unwrap(), "new\n");
    // Its fence is its own too.
    for outside in ["../two/a.txt", folder.path("a.txt").to_str().unwrap()] {
        assert_eq!(code(&write(outside)), Some("FS_SANDBOX_DENIED"), "{outside}");
    }
    for (name, refused) in
        [("..", "WORKSPACE_OUTSIDE"), ("/", "WORKSPACE_OUTSIDE"), ("three", "NO_SUCH_WORKSPACE")]
    {
        assert_eq!(mint(json!({"workspace": name})).code(), refused, "{name}");
    }
    assert_eq!(
        web.post("/mcp/two", &[], r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).code(),
        "NO_SUCH_SESSION"
    );
}

#[test]
fn what_would_be_open_to_all_is_not_started() {
    let folder = Folder::new();
    let open = folder.output(["mcp", "--http", "0.0.0.0:0"]);
    assert_eq!(open.code, Some(2));
    assert!(
        open.stderr.ends_with("without tokens only an address of the loopback is served\n"),
        "{}",
        open.stderr
    );
    let tokens = folder.base().join("tokens");
    std::fs::write(&tokens, "short\n").unwrap();
    let wrong = folder.output(["mcp", "--http", "127.0.0.1:0", "--tokens", tokens.to_str().unwrap()]);
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stderr.ends_with("tokens: line 1: a token has 16 characters or more\n"),
        "{}",
        wrong.stderr
    );
    let without = folder.output(["mcp", "--workspaces", "x"]);
    assert_eq!(without.code, Some(2), "{without:?}");
}

#[test]
fn a_token_opens_the_door() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let tokens = folder.base().join("tokens");
    std::fs::write(&tokens, "aaaaaaaaaaaaaaaaaaaa session=alice\n").unwrap();
    let web = serve(&folder, &["--tokens", tokens.to_str().unwrap()]);
    let mint = |headers: &[(&str, &str)]| web.post("/sessions", headers, r#"{"session": "alice"}"#).status;
    assert_eq!(mint(&[]), 401);
    assert_eq!(mint(&[("authorization", "Bearer bbbbbbbbbbbbbbbbbbbb")]), 401);
    let alice = ("authorization", "Bearer aaaaaaaaaaaaaaaaaaaa");
    assert_eq!(mint(&[alice]), 201);
    assert_eq!(web.tool("/mcp/alice", &[alice], "read", read())["isError"], false);
}
