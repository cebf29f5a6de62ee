use crate::binary::Folder;

#[test]
fn every_shell_gets_a_script_that_knows_commands_and_options() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = folder.output(["completions", shell]);
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{shell}");
        for word in ["call", "run", "mcp", "doctor", "log", "completions", "man", "compose", "state", "full"]
        {
            assert!(output.stdout.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(folder.output(["completions", "nosuch"]).code, Some(2));
}
