use serde_json::json;

use crate::rig::{Rig, assert_error, assert_text};

fn envelope(path: &str, body: &str) -> String {
    format!("<path>{path}</path>\n<type>file</type>\n<content>\n{body}\n</content>")
}

#[tokio::test]
async fn creates_and_replaces() {
    let rig = Rig::new([]).await;
    let created = rig.write("d/n.txt", "one\n").await;
    assert_text(&created, &envelope("/w/d/n.txt", "Created file"));
    assert_eq!(
        created.value(),
        Some(json!({ "path": "/w/d/n.txt", "operation": "create", "before": null, "after": "one\n" }))
    );
    assert_eq!(created.meta(), Some(json!({ "diffs": [] })));

    let updated = rig.write("d/n.txt", "two\n").await;
    assert_text(&updated, &envelope("/w/d/n.txt", "Updated file"));
    assert_eq!(
        updated.value(),
        Some(json!({ "path": "/w/d/n.txt", "operation": "update", "before": "one\n", "after": "two\n" }))
    );
    assert_eq!(
        updated.meta(),
        Some(json!({ "diffs": [{ "path": "d/n.txt", "oldText": "one", "newText": "two" }] }))
    );
    assert_eq!(rig.text("d/n.txt").unwrap(), "two\n");
}

#[tokio::test]
async fn bad_arguments_write_nothing() {
    let rig = Rig::new([]).await;
    for (args, message) in [
        (json!({ "file_path": " ", "content": "x" }), "file_path must be a non-empty string"),
        (json!({ "file_path": "n" }), "invalid arguments: missing required property \"content\""),
        (json!({ "file_path": "n", "content": 1 }), "invalid arguments: \"content\" must be a string"),
        (
            json!({ "file_path": "n", "content": "x", "sandbox_permissions": "workspace-write" }),
            "invalid escalation: sandbox_permissions requires a justification",
        ),
        (
            json!({ "file_path": "n", "content": "x", "justification": "because" }),
            "invalid escalation: justification is only valid together with sandbox_permissions",
        ),
        (
            json!({ "file_path": "n", "content": "x", "sandbox_permissions": "x", "justification": " " }),
            "invalid justification: expected a non-empty sentence",
        ),
        (
            json!({ "file_path": "n", "content": "x", "sandbox_permissions": "x", "justification": "why" }),
            "sandbox_permissions is not available in this composition (no sandboxing filesystem to escalate)",
        ),
    ] {
        assert_error(&rig.call("write", args).await, "INVALID_ARGS", &format!("Error: {message}"));
    }
    assert_eq!(rig.text("n"), None);
}
