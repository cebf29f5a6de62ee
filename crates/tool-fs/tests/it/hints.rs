//! What a model sees with `editHints`, to the letter, and what it must not see.

use dsh_fs::SandboxMode;
use dsh_tool_fs::ToolFsConfig;
use serde_json::json;

use crate::rig::{Rig, assert_error, session};

fn on() -> ToolFsConfig {
    ToolFsConfig { edit_hints: true, ..ToolFsConfig::default() }
}

/// With the observation policy and hints.
async fn hinted<const N: usize>(files: [(&str, &str); N]) -> Rig {
    Rig::build(files, true, on()).await
}

/// What follows the blank line; nothing where there is none.
fn hint(said: &str) -> &str {
    said.split_once("\n\n").map_or("", |(_, hint)| hint)
}

/// The hint of an edit of a file that was read.
async fn hint_of(text: &str, old: &str, new: &str) -> String {
    let rig = hinted([("a.txt", text)]).await;
    rig.read("a.txt").await;
    let said = rig.edit("a.txt", old, new).await.text();
    let (first, rest) = said.split_once('\n').unwrap_or((&said, ""));
    assert!(first.starts_with("Error: old_string "), "{said}");
    assert!(rest.len() <= 601, "{} bytes", rest.len());
    hint(&said).to_owned()
}

const TEXT: &str = "fn main() {\n\tlet name = \"it’s\";\n\tprintln!(\"{name}\");\n}\n";

#[tokio::test]
async fn one_place_is_named_with_its_kind_its_first_difference_and_its_text() {
    for (text, old, lines, kind, difference, instead) in [
        (
            TEXT,
            "    let name = \"it’s\";\n    println!",
            "lines 2-3",
            "indentation",
            "line 2, column 1: the file has a tab, old_string has 4 spaces",
            "\tlet name = \"it’s\";\n\tprintln!",
        ),
        (
            TEXT,
            "fn main() {  \n\tlet",
            "lines 1-2",
            "blanks at the end of a line",
            "line 1, column 12: the file has a line break, old_string has 2 spaces",
            "fn main() {\n\tlet",
        ),
        (
            TEXT,
            "let name = \"it's\";",
            "line 2",
            "quotes, dashes or blanks that look alike",
            "line 2, column 16: the file has U+2019, old_string has `'s\";`",
            "let name = \"it’s\";",
        ),
        (
            TEXT,
            "FN main()",
            "line 1",
            "letter case",
            "line 1, column 1: the file has `fn`, old_string has `FN`",
            "fn main()",
        ),
        (
            "caf\u{e9} = 1\n",
            "cafe\u{301} = 1",
            "line 1",
            "Unicode normal form",
            "line 1, column 4: the file has `\u{e9}` U+00E9, old_string has `e` and U+0301",
            "caf\u{e9} = 1",
        ),
        (
            TEXT,
            "fn main() {\\n\\tlet",
            "lines 1-2",
            "escapes written out (\\n, \\t, \\\") in old_string",
            "line 1, column 12: the file has a line break, old_string has `\\n\\tlet`",
            "fn main() {\n\tlet",
        ),
        (
            "let x = \"a\\nb\";\n",
            "let x = \"a\nb\";",
            "line 1",
            "escapes that the file has written out (\\n, \\t, \\\")",
            "line 1, column 11: the file has `\\nb\";`, old_string has a line break",
            "let x = \"a\\nb\";",
        ),
        (
            TEXT,
            "2: \tlet name = \"it’s\";\n3: \tprintln!",
            "lines 2-3",
            "line numbers copied into old_string",
            "line 2, column 1: the file has a tab, old_string has `2:`",
            "\tlet name = \"it’s\";\n\tprintln!",
        ),
        (
            TEXT,
            "\tlet name = \"it’... (line truncated to 15 chars)",
            "line 2",
            "a truncation mark or footer copied into old_string",
            "line 2, column 17: the file has `s\";`, old_string has `...`",
            "\tlet name = \"it’",
        ),
        (
            "one\ntwo three",
            "two three\n",
            "line 2",
            "a missing final newline (the file ends there without one)",
            "line 2, column 10: the file has nothing more, old_string has a line break",
            "two three",
        ),
        (
            TEXT,
            "\tlet nama = \"its\";\n\tprintln!(\"{nam}\");",
            "lines 2-3",
            "text",
            "line 2, column 9: the file has `e`, old_string has `a`",
            "\tlet name = \"it’s\";\n\tprintln!(\"{name}\");",
        ),
    ] {
        let expected = format!(
            "Nearest: {lines}; differs in {kind}. First difference: {difference}.\nUse this as old_string:\n{instead}"
        );
        assert_eq!(hint_of(text, old, "x").await, expected);
        let rig = hinted([("a.txt", text)]).await;
        rig.read("a.txt").await;
        let made = rig.edit("a.txt", instead, "x").await;
        assert_eq!(made.error(), None, "{instead}");
    }
}

#[tokio::test]
async fn a_text_that_is_not_enough_alone_is_given_with_the_lines_around_it() {
    let text = "if a {\n\tb\n}\nif c {\n\td\n}\n";
    assert_eq!(
        hint_of(text, "6: }\n\n(End of file - total 6 lines)", "x").await,
        "Nearest: line 6; differs in line numbers copied into old_string. First difference: line 6, column 1: the file has \
         `}`, old_string has `6:`.\nUse this as old_string (the text alone is there more than once):\n\td\n}"
    );
}

#[tokio::test]
async fn a_carriage_return_is_asked_for_and_not_shown() {
    assert_eq!(
        hint_of("a\rb\rc\rd", "b\nc", "x").await,
        "Nearest: line 1; differs in line endings (a lone carriage return, \\r, in the file). First difference: line 1, \
         column 4: the file has a carriage return, old_string has a line break.\nIn the file:\na\\rb\\rc\\rd\nWrite \\r, not \
         \\n, where the file has a carriage return."
    );
}

#[tokio::test]
async fn several_places_are_listed() {
    assert_eq!(
        hint_of("  if a {\n    b\n  }\n\tif a {\n\tb\n}\n", "if a {\n   b\n }", "x").await,
        "Nearest places:\nlines 1-3, indentation, from line 2 column 1:     b\nlines 4-6, indentation, from line 5 column \
         1: \tb\nMake old_string the text of the one that you mean, exactly."
    );
}

#[tokio::test]
async fn a_place_that_does_not_fit_is_pointed_to() {
    let lines: Vec<String> =
        (1..=40).map(|n| format!("\tstatement number {n} of a long function;")).collect();
    let text = lines.join("\n") + "\n";
    let old = text.replace('\t', "    ");
    assert_eq!(
        hint_of(&text, &old, "x").await,
        "Nearest: lines 1-40; differs in indentation. First difference: line 1, column 1: the file has a tab, old_string \
         has 4 spaces.\nIn the file:\n\tstatement number 1 of a long function;\nRead offset=1, limit=40 and copy old_string \
         from there, without the line numbers."
    );
}

#[tokio::test]
async fn an_edit_that_was_made_before_is_told_to_be_made() {
    assert_eq!(
        hint_of(TEXT, "\tprintln!(\"{title}\");", "\tprintln!(\"{name}\");").await,
        "The edit seems to be made already: new_string is in the file, at line 3, and old_string is not. Read from there \
         (offset=3) before you change anything."
    );
}

#[tokio::test]
async fn what_is_nothing_like_the_file_gets_no_hint() {
    assert_eq!(hint_of(TEXT, "something else entirely", "x").await, "");
    assert_eq!(hint_of("", "x", "y").await, "");
    assert_eq!(hint_of("\n \n", "\n\n\n\n", "y").await, "");
}

#[tokio::test]
async fn a_text_of_another_file_of_that_name_is_found_there_if_the_session_knows_it() {
    let files =
        [("a/mod.rs", "fn a() {}\n"), ("b/mod.rs", "//\nfn other() {}\n"), ("c/mod.rs", "fn third() {}\n")];
    let rig = hinted(files).await;
    rig.read("a/mod.rs").await;
    rig.read("b/mod.rs").await;
    let said = rig.edit("a/mod.rs", "fn other() {}", "x").await.text();
    assert_eq!(hint(&said), "old_string is in another file that you know, \"/w/b/mod.rs\", at line 2.");
    let said = rig.edit("a/mod.rs", "fn third() {}", "x").await.text();
    assert!(!said.contains("/w/c/"), "{said}");
}

#[tokio::test]
async fn several_matches_are_numbered_and_the_first_two_extended() {
    assert_eq!(
        hint_of("x = 1\ny = 2\nx = 1\nz = 3\n", "x = 1", "x = 2").await,
        "Matches begin at lines 1, 3.\nFor the one at line 1, old_string could be:\nx = 1\ny = 2\nFor the one at line 3, \
         old_string could be:\ny = 2\nx = 1"
    );
    assert_eq!(
        hint_of(&"x\n".repeat(12), "x", "y").await,
        "Matches begin at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …."
    );
}

#[tokio::test]
async fn a_stale_edit_is_told_which_lines_changed_and_reading_those_is_enough() {
    let lines: Vec<String> = (1..=100).map(|n| format!("line {n}")).collect();
    let text = lines.join("\n") + "\n";
    let rig = hinted([("a.txt", &text)]).await;
    rig.read("a.txt").await;
    rig.put("a.txt", text.replace("line 40\n", "line forty\nand a half\n"));
    let said = rig.edit("a.txt", "line 90\n", "x\n").await;
    assert_error(
        &said,
        "FS_STALE_VERSION",
        "Error: cannot edit \"/w/a.txt\": file changed since it was read — re-read the file, then retry\n\nChanged since \
         you saw it: lines 40-41, of 101 lines now. Read offset=40, limit=2, then retry.",
    );
    rig.call("read", json!({ "file_path": "a.txt", "offset": 40, "limit": 2 })).await;
    assert_eq!(rig.edit("a.txt", "line 90\n", "x\n").await.error(), None);

    rig.put("a.txt", text.replace("line 40\nline 41\n", "").replace("line 90\n", "x\n"));
    let said = rig.write("a.txt", "all new\n").await.text();
    assert_eq!(
        hint(&said),
        "Changed since you saw it: lines are gone after line 39, of 98 lines now. Read offset=39, limit=2, then retry."
    );
}

#[tokio::test]
async fn what_another_session_saw_is_not_known() {
    let rig = hinted([("a.txt", "one\ntwo\n")]).await;
    rig.read("a.txt").await;
    let other = Some(session("s1"));
    rig.call_in(other.clone(), "write", json!({ "file_path": "b.txt", "content": "x\n" })).await;
    rig.put("b.txt", "y\n");
    let args = json!({ "file_path": "b.txt", "content": "z\n" });
    let said = rig.call_in(other.clone(), "write", args).await.text();
    assert_eq!(
        hint(&said),
        "Changed since you saw it: line 1, of 1 lines now. Read offset=1, limit=1, then retry."
    );
    let said =
        rig.call_in(other, "edit", json!({ "file_path": "a.txt", "old_string": "on", "new_string": "x" }));
    assert!(!said.await.text().contains("two"));
}

#[tokio::test]
async fn a_file_that_was_not_read_is_never_quoted() {
    let rig = hinted([("a.txt", "the secret word\n")]).await;
    let said = rig.edit("a.txt", "the  secret", "x").await;
    assert_error(
        &said,
        "FS_NOT_OBSERVED",
        "Error: edit requires reading \"/w/a.txt\" first — read the file, then retry\n\nCall read with file_path \"/w/a.txt\" \
         (any part of it will do), then send this edit again.",
    );
    let said = rig.write("a.txt", "x").await.text();
    assert_eq!(
        hint(&said),
        "Call read with file_path \"/w/a.txt\" (any part of it will do), then send this write again."
    );
    // Looking at it for a hint was not reading it.
    assert_eq!(
        rig.edit("a.txt", "the secret", "x").await.error().unwrap().code.as_deref(),
        Some("FS_NOT_OBSERVED")
    );
    assert_eq!(rig.text("a.txt").unwrap(), "the secret word\n");
}

#[tokio::test]
async fn where_nobody_can_give_a_guard_no_read_is_asked_for() {
    let config = ToolFsConfig { require_guard: true, ..on() };
    let rig = Rig::build([("a.txt", "one\n")], false, config).await;
    let text = "Error: mutation requires a guard, but no policy answered";
    assert_error(&rig.edit("a.txt", "one", "1").await, "FS_NOT_OBSERVED", text);
}

#[tokio::test]
async fn a_path_that_is_not_there_is_answered_with_those_that_are() {
    let rig = hinted([
        ("src/main.rs", "a\n"),
        ("src/it’s.md", "b\n"),
        ("lib/deep/util.rs", "c\n"),
        (".git/util.rs", "c\n"),
        ("README.md", "d\n"),
    ])
    .await;
    for (path, expected) in [
        ("src/Main.rs", "There is no such file, but there is:\n\"/w/src/main.rs\" (other letter case)"),
        (
            "src/it's.md",
            "There is no such file, but there is:\n\"/w/src/it’s.md\" (characters that look alike)",
        ),
        ("scr/main.rs", "There is no such file, but there is:\n\"/w/src/main.rs\" (a similar name)"),
        (
            "util.rs",
            "There is no such file, but there is:\n\"/w/lib/deep/util.rs\" (the same name elsewhere)",
        ),
        ("REDME.md", "There is no such file, but there is:\n\"/w/README.md\" (a similar name)"),
        ("README.md/x", "There is no such file, but there is:\n\"/w/README.md\" (a file, not a folder)"),
        ("nothing.txt", "No file of that name is in the workspace. Use write if it is to be made."),
    ] {
        let said = rig.read(path).await.text();
        assert!(said.starts_with("Error: cannot re"), "{said}");
        assert_eq!(hint(&said), expected, "{path}");
    }
    let said = rig.edit("src/Main.rs", "a", "b").await.text();
    assert_eq!(hint(&said), "There is no such file, but there is:\n\"/w/src/main.rs\" (other letter case)");
}

#[tokio::test]
async fn of_many_folders_alike_a_few_are_asked_for_the_file() {
    let names: Vec<String> = (10..50).map(|number| format!("package{number}/other.rs")).collect();
    let files: [(&str, &str); 40] = std::array::from_fn(|index| (names[index].as_str(), "a\n"));
    let (plain, hinted) = (Rig::new(files).await, hinted(files).await);
    plain.read("package1/main.rs").await;
    let said = hinted.read("package1/main.rs").await.text();
    assert_eq!(hint(&said), "No file of that name is in the workspace. Use write if it is to be made.");
    assert_eq!(hinted.files.stats() - plain.files.stats(), 16);
    let said = hinted.read("package1/other.rs").await.text();
    assert_eq!(hint(&said).lines().count(), 4, "{said}");
}

#[tokio::test]
async fn what_may_not_be_read_is_not_named() {
    let rig = hinted([("key.pem", "a\n"), ("b/kez.pem", "b\n")]).await;
    let said = rig.read("kez.pem").await.text();
    assert!(said.contains("/w/key.pem") && said.contains("/w/b/kez.pem"), "{said}");
    rig.files.hide("/w/key.pem");
    let said = rig.read("kez.pem").await.text();
    assert!(!said.contains("key.pem") && said.contains("/w/b/kez.pem"), "{said}");
}

#[tokio::test]
async fn a_denial_names_the_step_that_works() {
    for (mode, can_escalate, path, expected) in [
        (SandboxMode::ReadOnly, false, "in.txt", "Nothing can be written here. Say what you would change."),
        (SandboxMode::WorkspaceWrite, false, "/out.txt", "Write below the workspace instead, \"/w\"."),
        (SandboxMode::WorkspaceWrite, true, "/out.txt", ""),
    ] {
        let rig = Rig::fenced_with(mode, can_escalate, on()).await;
        let said = rig.write(path, "x\n").await;
        assert_eq!(said.error().unwrap().code.as_deref(), Some("FS_SANDBOX_DENIED"));
        assert_eq!(hint(&said.text()), expected);
    }
}

#[tokio::test]
async fn what_is_no_text_or_no_file_is_told_with_what_can_be_done() {
    let rig = hinted([("folder/a.txt", "a\n"), ("folder/b/c.txt", "c\n")]).await;
    rig.put("bytes", [0xFF, 0xFE, 0x00]);
    let expected = "No tool shows it as lines. If you mean to replace it, write the whole file.";
    assert_eq!(hint(&rig.read("bytes").await.text()), expected);
    let expected = "Replace the whole file with write: edit changes UTF-8 text only.";
    assert_eq!(hint(&rig.edit("bytes", "a", "b").await.text()), expected);
    assert_eq!(rig.write("bytes", "text\n").await.error(), None);
    let expected = "It is a folder; name a file. In it, among others: \"a.txt\"";
    assert_eq!(hint(&rig.read("folder").await.text()), expected);
}

#[tokio::test]
async fn a_file_over_a_megabyte_is_not_looked_into() {
    let large = "a line of a file that is too large for hints\n".repeat(30_000);
    let rig = hinted([("a.txt", &large)]).await;
    rig.read("a.txt").await;
    let text = "Error: old_string was not found in \"/w/a.txt\"";
    assert_error(&rig.edit("a.txt", "A line", "x").await, "FS_EDIT_NOT_FOUND", text);
}

#[tokio::test]
async fn the_text_before_a_hint_is_the_text_without_hints() {
    let files = [("a.txt", TEXT), ("twice.txt", "x\nx\n")];
    let (plain, hinted) = (Rig::new(files).await, hinted(files).await);
    for rig in [&plain, &hinted] {
        rig.read("a.txt").await;
        rig.read("twice.txt").await;
    }
    for (path, old) in [("a.txt", "FN"), ("twice.txt", "x"), ("A.txt", "x"), ("b.txt", "x")] {
        let (before, now) = (plain.edit(path, old, "y").await, hinted.edit(path, old, "y").await);
        let (code, text) = (&before.error().unwrap().code, now.text());
        assert_eq!((code, text.split("\n\n").next().unwrap()), (&now.error().unwrap().code, &*before.text()));
        let (before, now) = (plain.read(path).await, hinted.read(path).await);
        assert!(now.text().starts_with(&before.text()));
    }
}
