use crate::binary::Folder;

#[test]
fn help_tells_examples_exit_codes_and_where_to_go_on() {
    let folder = Folder::new();
    let output = folder.output(["--help"]);
    assert_eq!(output.code, Some(0));
    for part in [
        "Examples:",
        "Exit codes:",
        "DSH_LOG",
        "NO_COLOR",
        "call",
        "run",
        "mcp",
        "tools",
        "prompt",
        "doctor",
        "log",
    ] {
        assert!(output.stdout.contains(part), "{part}\n{}", output.stdout);
    }
    for command in ["call", "run", "mcp", "tools", "prompt", "doctor", "log", "completions", "man"] {
        let output = folder.output([command, "--help"]);
        assert_eq!(output.code, Some(0), "{command}");
        assert!(output.stdout.contains("See also:"), "{command}\n{}", output.stdout);
        assert!(!output.stdout.contains('\u{1b}'), "no colours where nobody looks");
    }
}

#[test]
fn a_log_filter_that_cannot_be_read_is_said_and_does_not_stop_anything() {
    let folder = Folder::new();
    let output = crate::binary::Output::of(folder.dsh_fs(["prompt"]).env("DSH_LOG", "a=b=c"));
    assert_eq!(output.code, Some(0));
    assert!(output.stderr.starts_with("dsh-fs: DSH_LOG=\"a=b=c\" is no filter ("), "{}", output.stderr);
}

#[test]
fn logs_go_to_standard_error_only() {
    let folder = Folder::new();
    let quiet = folder.output(["tools"]);
    let loud = crate::binary::Output::of(folder.dsh_fs(["tools"]).env("DSH_LOG", "trace"));
    assert_eq!(quiet.stderr, "");
    assert_eq!(quiet.stdout, loud.stdout);
}

#[test]
fn output_that_cannot_be_written_is_said_with_exit_code_1() {
    let folder = Folder::new();
    for arguments in [vec!["tools"], vec!["prompt"], vec!["call", "nope", "{}"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = folder.dsh_fs(&arguments);
        let output = command.stdin(std::process::Stdio::null()).stdout(full).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let message = "dsh-fs: cannot write to standard output: No space left on device (os error 28)\n";
        assert_eq!((output.status.code(), said.as_str()), (Some(1), message), "{arguments:?}");
    }
}
