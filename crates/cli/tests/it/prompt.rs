use serde_json::json;

use crate::binary::Folder;

// The harness's own "You are an AI agent powered by …" is for agents that run in it, not for the clients of a server.
#[test]
fn the_sections_are_printed_in_order_joined_by_blank_lines_and_then_the_runtime_context() {
    let folder = Folder::new();
    let compose = folder.compose("- name: dsh-fs-local\n- name: dsh-tool-fs\n");
    let output = folder.output(["prompt", "--compose", compose.to_str().unwrap()]);
    assert_eq!(output.code, Some(0));
    let starts: Vec<String> = output
        .stdout
        .trim_end()
        .split("\n\n")
        .map(|section| section.split_whitespace().take(4).collect::<Vec<_>>().join(" "))
        .collect();
    let sections = ["Use the read tool", "Use the write tool", "Use the edit tool"];
    let context = ["Current runtime context. This", "Approval policy: ask. Operations"];
    assert_eq!(starts, [&sections[..], &context].concat());
}

#[test]
fn an_mcp_client_gets_them_as_instructions() {
    let folder = Folder::new();
    let printed = folder.output(["prompt"]).stdout;
    let mut talk = folder.talk(["mcp"]);
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = talk.request("initialize", hello);
    assert_eq!(answer["result"]["instructions"].as_str().unwrap(), printed.trim_end());
    assert_eq!(talk.end(), Some(0));
}
