//! What a model is told before it calls anything, byte for byte.

use dsh_harness::SYSTEM_PROMPT;

use crate::rig::Rig;

#[tokio::test]
async fn guidance_sections() {
    let rig = Rig::new([]).await;
    let sections: Vec<_> = rig
        .ctx
        .service(SYSTEM_PROMPT)
        .unwrap()
        .sections()
        .into_iter()
        .filter(|(name, ..)| name.starts_with("tool:"))
        .collect();
    let expected = [
        (
            "tool:read",
            100,
            "Use the read tool — not shell commands like cat — to inspect text files. Results include line numbers. \
             Use offset and limit to continue reading large files.",
        ),
        (
            "tool:write",
            101,
            "Use the write tool to create files or completely replace file contents. Existing files are overwritten, \
             so read an existing file first (the default fs-policy requires it) and prefer edit for targeted changes.",
        ),
        (
            "tool:edit",
            102,
            "Use the edit tool for targeted changes to existing UTF-8 text files. It replaces literal old_string with \
             new_string; by default old_string must appear exactly once. If old_string appears multiple times, \
             provide a more specific old_string or set replace_all to true. Read the file first (the default \
             fs-policy requires it), unless you just created or edited it in this session.",
        ),
    ];
    assert_eq!(sections, expected.map(|(name, order, text)| (name.to_owned(), order, text.to_owned())));
}

#[tokio::test]
async fn schemas() {
    let rig = Rig::new([]).await;
    let tools: Vec<_> = rig
        .tools
        .definitions()
        .iter()
        .map(|tool| format!("{}: {}\n{}", tool.name, tool.description, tool.parameters.to_json()))
        .collect();
    assert_eq!(
        tools,
        [
            concat!(
                "edit: Edit an existing UTF-8 text file by replacing literal text.\n",
                r#"{"type":"object","properties":{"#,
                r#""file_path":{"type":"string","description":"Path to edit, resolved by the filesystem backend."},"#,
                r#""old_string":{"type":"string","description":"Literal text to replace. Must match exactly."},"#,
                r#""new_string":{"type":"string","description":"Literal replacement text. Use an empty string to delete the match."},"#,
                r#""replace_all":{"type":"boolean","description":"Replace all matches. Defaults to false; when false, old_string must appear exactly once."}},"#,
                r#""required":["file_path","old_string","new_string"]}"#,
            ),
            concat!(
                "read: Read a UTF-8 text file and return line-numbered content.\n",
                r#"{"type":"object","properties":{"#,
                r#""file_path":{"type":"string","description":"Path to read, resolved by the filesystem backend."},"#,
                r#""offset":{"type":"number","description":"1-based first line to return. Defaults to 1."},"#,
                r#""limit":{"type":"number","description":"Maximum number of lines to return. Defaults to 2000."}},"#,
                r#""required":["file_path"]}"#,
            ),
            concat!(
                "write: Create or fully replace a UTF-8 text file.\n",
                r#"{"type":"object","properties":{"#,
                r#""file_path":{"type":"string","description":"Path to write, resolved by the filesystem backend."},"#,
                r#""content":{"type":"string","description":"Full UTF-8 text content to write."}},"#,
                r#""required":["file_path","content"]}"#,
            ),
        ]
    );
}

#[tokio::test]
async fn everything_is_withdrawn_with_the_plugin() {
    let rig = Rig::new([]).await;
    assert_eq!(rig.tools.definitions().len(), 3);
    rig.plugin.dispose().await;
    assert_eq!(rig.tools.definitions().len(), 0);
    let sections = rig.ctx.service(SYSTEM_PROMPT).unwrap().sections();
    assert!(sections.iter().all(|(name, ..)| !name.starts_with("tool:")));
    assert_eq!(rig.read("a").await.text(), "Error: unknown tool \"read\"");
}
