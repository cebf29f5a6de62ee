use serde_json::Value as Json;

use crate::binary::{Folder, Talk};

const COMPOSITION: &str = "- name: dsh-fs-local\n- name: dsh-tool-fs\n";

#[test]
fn schemas_are_printed_as_a_model_gets_them() {
    let folder = Folder::new();
    let compose = folder.compose(COMPOSITION);
    let output = folder.output(["tools", "--compose", compose.to_str().unwrap()]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let tools: Vec<Json> = serde_json::from_str(&output.stdout).unwrap();
    for tool in &tools {
        let keys: Vec<&String> = tool.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["name", "description", "parameters"]);
    }
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["edit", "read", "write"]);
    let printed_again = serde_json::to_string_pretty(&tools).unwrap() + "\n";
    assert_eq!(output.stdout, printed_again, "two spaces a level, keys in order");
}

#[test]
fn an_mcp_client_gets_the_same_schemas_and_descriptions() {
    let folder = Folder::new();
    let printed: Vec<Json> = serde_json::from_str(&folder.output(["tools"]).stdout).unwrap();
    let mut talk = Talk::mcp(&folder);
    let listed = talk.request("tools/list", serde_json::json!({}));
    let listed = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(printed.len(), listed.len());
    for (printed, listed) in printed.iter().zip(listed) {
        assert_eq!(printed["name"], listed["name"]);
        assert_eq!(printed["description"], listed["description"]);
        // As text: the order of the keys counts.
        assert_eq!(printed["parameters"].to_string(), listed["inputSchema"].to_string());
    }
    assert_eq!(talk.end(), Some(0));
}
