//! Every sentence and every code, to the letter: this table is the one in README.md.

use std::error::Error as _;

use dsh_fs::{FsError, FsErrorCode, FsOp, FsVersion, NotText};

/// Every constructor: its error, the code and the sentence.
fn table() -> Vec<(FsError, &'static str, &'static str)> {
    let p = "/w/a.txt";
    vec![
        (FsError::blank_path(), "FS_NOT_FOUND", "file_path must be a non-empty string"),
        (FsError::nul_in_path(), "FS_NOT_FOUND", "file_path must not contain a NUL character"),
        (
            FsError::parent_not_directory(p),
            "FS_NOT_FOUND",
            r#"cannot resolve "/w/a.txt": a parent path segment is not a directory"#,
        ),
        (
            FsError::slash_names_folder(p),
            "FS_NOT_FOUND",
            r#"cannot resolve "/w/a.txt": a path that ends in a slash names a folder"#,
        ),
        (FsError::not_found(FsOp::Read, p), "FS_NOT_FOUND", r#"cannot read "/w/a.txt": not found"#),
        (
            FsError::not_regular_file(FsOp::Write, p),
            "FS_NOT_REGULAR_FILE",
            r#"cannot write "/w/a.txt": not a regular file"#,
        ),
        (FsError::not_directory(p), "FS_NOT_DIRECTORY", r#"cannot list "/w/a.txt": not a directory"#),
        (
            FsError::not_text(FsOp::Read, p, NotText::Binary),
            "FS_NOT_TEXT",
            r#"cannot read "/w/a.txt": binary file"#,
        ),
        (
            FsError::not_text(FsOp::Edit, p, NotText::InvalidUtf8),
            "FS_NOT_TEXT",
            r#"cannot edit "/w/a.txt": invalid UTF-8 text"#,
        ),
        (
            FsError::too_large(p, 6, 5),
            "FS_TOO_LARGE",
            r#"cannot read "/w/a.txt": 6 bytes exceeds the 5-byte limit"#,
        ),
        (
            FsError::grew_too_large(p, 5),
            "FS_TOO_LARGE",
            r#"cannot read "/w/a.txt": content exceeds the 5-byte limit"#,
        ),
        (
            FsError::permission_denied(FsOp::Stat, p),
            "FS_PERMISSION_DENIED",
            r#"cannot stat "/w/a.txt": permission denied"#,
        ),
        (
            FsError::io(FsOp::Lstat, p, "no space left on the device"),
            "FS_IO_ERROR",
            r#"cannot lstat "/w/a.txt": no space left on the device"#,
        ),
        (
            FsError::changed(FsOp::Edit, p),
            "FS_STALE_VERSION",
            r#"cannot edit "/w/a.txt": file changed since it was read"#,
        ),
        (FsError::gone(p), "FS_STALE_VERSION", r#"cannot write "/w/a.txt": file no longer exists"#),
        (
            FsError::exists(p),
            "FS_NOT_OBSERVED",
            r#"cannot overwrite existing "/w/a.txt" without reading it first"#,
        ),
        (FsError::edit_not_found(p), "FS_EDIT_NOT_FOUND", r#"old_string was not found in "/w/a.txt""#),
        (
            FsError::ambiguous_edit(p, 3),
            "FS_AMBIGUOUS_EDIT",
            "old_string matched 3 times in \"/w/a.txt\"; provide a more specific old_string or set replace_all to true",
        ),
        (FsError::aborted(FsOp::Write), "FS_ABORTED", "write aborted"),
    ]
}

#[test]
fn every_error_has_its_code_and_sentence() {
    for (error, code, sentence) in table() {
        assert_eq!((error.code().as_str(), &*error.to_string()), (code, sentence));
        let why = error.source().map(|source| source.downcast_ref::<NotText>().is_some());
        assert_eq!(why, (code == "FS_NOT_TEXT").then_some(true), "{sentence}");
        assert!(error.met().is_none(), "{sentence}");
    }
}

#[test]
fn every_operation_names_itself() {
    let ops = [FsOp::Resolve, FsOp::Stat, FsOp::Lstat, FsOp::Read, FsOp::List, FsOp::Write, FsOp::Edit];
    let said: Vec<_> = ops.map(|op| FsError::aborted(op).to_string()).into();
    let verbs = ["resolve", "stat", "lstat", "read", "list", "write", "edit"];
    assert_eq!(said, verbs.map(|verb| format!("{verb} aborted")));
    for (op, verb) in ops.into_iter().zip(verbs) {
        assert_eq!(FsError::not_found(op, "x").to_string(), format!(r#"cannot {verb} "x": not found"#));
    }
}

#[test]
fn every_code_has_its_name() {
    use FsErrorCode as C;
    for (code, name) in [
        (C::NotFound, "FS_NOT_FOUND"),
        (C::NotDirectory, "FS_NOT_DIRECTORY"),
        (C::NotText, "FS_NOT_TEXT"),
        (C::NotRegularFile, "FS_NOT_REGULAR_FILE"),
        (C::TooLarge, "FS_TOO_LARGE"),
        (C::PermissionDenied, "FS_PERMISSION_DENIED"),
        (C::SandboxDenied, "FS_SANDBOX_DENIED"),
        (C::IoError, "FS_IO_ERROR"),
        (C::StaleVersion, "FS_STALE_VERSION"),
        (C::NotObserved, "FS_NOT_OBSERVED"),
        (C::AmbiguousEdit, "FS_AMBIGUOUS_EDIT"),
        (C::EditNotFound, "FS_EDIT_NOT_FOUND"),
        (C::Aborted, "FS_ABORTED"),
    ] {
        assert_eq!(code.as_str(), name);
    }
}

#[test]
fn an_error_says_its_name_and_code() {
    use dsh_plugin::Coded;
    let error = FsError::gone("x");
    assert_eq!((Coded::name(&error), Coded::code(&error)), ("FsError", Some("FS_STALE_VERSION")));
}

#[test]
fn what_is_added_to_an_error_stays() {
    let version = FsVersion::new("v");
    let error = FsError::not_text(FsOp::Read, "x", NotText::Binary)
        .with_met(version.clone())
        .with_source(std::io::Error::other("below"));
    assert_eq!(error.code(), FsErrorCode::NotText);
    assert_eq!(error.met(), Some(&version));
    assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("below"));
    let own = FsError::new(FsErrorCode::SandboxDenied, "fenced");
    assert_eq!((own.code(), own.to_string()), (FsErrorCode::SandboxDenied, "fenced".to_owned()));
}

#[test]
fn the_readme_has_every_sentence() {
    let readme = include_str!("../../README.md");
    for (_, code, sentence) in table() {
        let sentence = sentence
            .replace("/w/a.txt", "<path>")
            .replace("cannot read", "cannot <op>")
            .replace("cannot write", "cannot <op>")
            .replace("cannot edit", "cannot <op>")
            .replace("cannot lstat", "cannot <op>")
            .replace("cannot stat", "cannot <op>")
            .replace("write aborted", "<op> aborted")
            .replace("no space left on the device", "<what happened>")
            .replace("6 bytes", "<size> bytes")
            .replace("5-byte", "<max>-byte")
            .replace("matched 3 times", "matched <n> times");
        let always =
            |op: &str| readme.contains(&format!("| `{}` | `{code}` |", sentence.replace("<op>", op)));
        assert!(
            ["<op>", "read", "write"].into_iter().any(always),
            "README.md lacks `{sentence}` with `{code}`"
        );
    }
}
