use crate::binary::Folder;

#[test]
fn the_page_tells_the_commands_and_what_all_of_them_take() {
    let folder = Folder::new();
    let output = folder.output(["man"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    for part in [".TH dsh-fs 1", "\\-\\-cwd", "\\-\\-state", "dsh\\-fs\\-call(1)", "Exit codes:"] {
        assert!(output.stdout.contains(part), "{part}\n{}", output.stdout);
    }
}

#[test]
fn a_folder_gets_a_page_for_every_command() {
    let folder = Folder::new();
    let output = folder.output(["man", folder.cwd().to_str().unwrap()]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    for command in ["call", "run", "mcp", "tools", "prompt", "doctor", "log", "completions", "man"] {
        let page = folder.read(&format!("dsh-fs-{command}.1"));
        assert!(page.contains("See also:"), "{command}");
    }
    assert!(folder.names().contains(&"dsh-fs.1".to_owned()));
    let output = folder.output(["man", "/nosuch/folder"]);
    assert_eq!(output.code, Some(2));
    assert!(
        output.stderr.starts_with("dsh-fs: cannot write manual pages to /nosuch/folder: "),
        "{}",
        output.stderr
    );
}
