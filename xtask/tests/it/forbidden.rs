//! The bad examples are written in two parts: this file is checked too.

use xtask::check::forbidden::check;

use crate::{repository, told};

fn found(path: &str, text: &str) -> Vec<String> {
    told(&check(&repository([(path, text)])).unwrap())
}

#[test]
fn folders_of_one_machine_are_found() {
    for path in [
        concat!("/wo", "rk/main"),
        concat!("/ro", "ot/.cargo"),
        concat!("/fa", "rm/x"),
        concat!("/ho", "me/ada/x"),
    ] {
        for text in [path.to_owned(), format!("\"{path}\""), format!("cd {path}"), format!("a={path}")] {
            assert_eq!(found("README.md", &text).len(), 1, "{text}");
        }
        assert_eq!(found("testdata/cases.jsonl", path), [""; 0]);
    }
    for text in [
        concat!("my/wo", "rk/x"),
        concat!("~/ho", "me/ada/x"),
        concat!("/ho", "me/"),
        concat!("$HOME/wo", "rk/"),
    ] {
        assert_eq!(found("README.md", text), [""; 0], "{text}");
    }
}

#[test]
fn hosts_of_registries_are_found() {
    let host = concat!("registry.npmjs", ".org");
    let line = format!("\"resolved\": \"https://{host}/a\"");
    assert_eq!(
        found("tests/package-lock.json", &format!("{{\n{line}\n}}\n")),
        [format!("tests/package-lock.json:2: names a registry's host, {host}")]
    );
    assert_eq!(found("Cargo.lock", &line), [""; 0]);
}

#[test]
fn unfinished_code_is_found() {
    for code in [
        concat!("#[igno", "re]"),
        concat!("#[igno", "re = \"slow\"]"),
        concat!("todo", "!()"),
        concat!("unimplemented", "!()"),
    ] {
        assert_eq!(found("crates/a/src/lib.rs", code).len(), 1, "{code}");
        assert_eq!(found("CONTRIBUTING.md", code), [""; 0], "{code}");
    }
    for word in [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")] {
        assert_eq!(
            found("a.rs", &format!("let a = 1; // {word}: more")),
            [format!("a.rs:1: is unfinished: {word}")]
        );
        assert_eq!(found("a.rs", &format!("/// {word} more")).len(), 1);
        assert_eq!(found("run.sh", &format!("ls # {word}")).len(), 1);
        assert_eq!(found("test", &format!("# {word}(me)")).len(), 1);
        // Data, not a mark: an edit of such a line, a template of mktemp.
        assert_eq!(found("a.rs", &format!("edit(\"{word}: old\")")), [""; 0]);
        assert_eq!(found("run.sh", &format!("mktemp a.{word}{word} # {word}{word}")), [""; 0]);
    }
}

#[test]
fn exceptions_from_the_banned_functions_stand_where_they_may() {
    let exception = concat!("#![expect(clippy::disallowed", "_methods, reason = \"why\")]");
    for allowed in [
        "crates/cli/src/args.rs",
        "crates/fs-local/src/lib.rs",
        "crates/plugin/src/composition.rs",
        "crates/fs/tests/it/main.rs",
    ] {
        assert_eq!(found(allowed, exception), [""; 0], "{allowed}");
    }
    for banned in ["crates/tool-fs/src/read.rs", "crates/plugin/src/lib.rs", "crates/fs/tests/it/text.rs"] {
        let what = "an exception from clippy.toml in a crate that may have none";
        assert_eq!(found(banned, exception), [format!("{banned}:1: {what}")]);
    }
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    assert_eq!(found("Cargo.toml", "[workspace]\n[workspace.lints.rust]\n"), [""; 0]);
    assert_eq!(found("crates/a/Cargo.toml", "[package]\nname = \"a\"\n[lints]\nworkspace = true\n"), [""; 0]);
    assert_eq!(found("crates/a/Cargo.toml", "lints.workspace = true\n[package]\nname = \"a\"\n"), [""; 0]);
    for silent in ["", "[lints.rust]\nunsafe_code = \"deny\"\n", "[lints]\nworkspace = false\n"] {
        assert_eq!(
            found("crates/a/Cargo.toml", &format!("[package]\nname = \"a\"\n{silent}")),
            ["crates/a/Cargo.toml: does not take the lints of the workspace (`[lints] workspace = true`)"]
        );
    }
    assert!(check(&repository([("crates/a/Cargo.toml", "[package")])).is_err());
}
