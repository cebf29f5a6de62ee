//! The list of rules is whole: what is written is listed, and what is listed can be found.

use dsh_fs_check::RULES;

/// The sources of the rules, by group, in the order of the list.
const SOURCES: &[(&str, &str)] = &[
    ("resolve", include_str!("../../src/rules/resolve.rs")),
    ("stat", include_str!("../../src/rules/stat.rs")),
    ("read_text", include_str!("../../src/rules/read_text.rs")),
    ("stream_text", include_str!("../../src/rules/stream_text.rs")),
    ("read_bytes", include_str!("../../src/rules/read_bytes.rs")),
    ("list_dir", include_str!("../../src/rules/list_dir.rs")),
    ("write_text", include_str!("../../src/rules/write_text.rs")),
    ("edit_text", include_str!("../../src/rules/edit_text.rs")),
    ("guards", include_str!("../../src/rules/guards.rs")),
    ("cancel", include_str!("../../src/rules/cancel.rs")),
    ("stopping", include_str!("../../src/rules/stopping.rs")),
    ("races", include_str!("../../src/rules/races.rs")),
    ("creations", include_str!("../../src/rules/creations.rs")),
    ("rivals", include_str!("../../src/rules/rivals.rs")),
    ("meanwhile", include_str!("../../src/rules/meanwhile.rs")),
    ("growth", include_str!("../../src/rules/growth.rs")),
    ("names", include_str!("../../src/rules/names.rs")),
    ("errors", include_str!("../../src/rules/errors.rs")),
];

/// The rules that a source holds, in order.
fn written(source: &str) -> Vec<&str> {
    source
        .lines()
        .filter_map(|line| line.strip_prefix("pub async fn ")?.split_once('('))
        .map(|(name, _)| name)
        .collect()
}

#[test]
fn every_rule_is_listed() {
    for (group, source) in SOURCES {
        let listed: Vec<_> = RULES.iter().filter(|rule| rule.group == *group).map(|rule| rule.name).collect();
        assert_eq!(listed, written(source), "list.rs against rules/{group}.rs");
    }
}

#[test]
fn every_group_is_listed() {
    let modules =
        include_str!("../../src/rules/mod.rs").lines().filter_map(|line| line.strip_prefix("pub mod "));
    let mut listed: Vec<_> = SOURCES.iter().map(|(group, _)| format!("{group};")).collect();
    listed.sort();
    assert_eq!(modules.collect::<Vec<_>>(), listed);
    assert!(RULES.iter().all(|rule| SOURCES.iter().any(|(group, _)| *group == rule.group)));
}

#[test]
fn the_readme_lists_every_group() {
    let readme = include_str!("../../README.md");
    for (group, source) in SOURCES {
        let row = format!("| `{group}` | {} |", written(source).len());
        assert!(readme.contains(&row), "README.md has no row that starts with {row:?}");
    }
}

#[test]
fn the_readme_names_rules_that_there_are() {
    let readme = include_str!("../../README.md");
    let (_, table) = readme.split_once("## Sentence by sentence").unwrap();
    let (table, _) = table.split_once("## Growing it").unwrap();
    let mut named = 0;
    for name in table.split('`').filter(|code| code.contains("::") && !code.starts_with("x::")) {
        let (group, rule) = name.split_once("::").unwrap();
        let is = RULES.iter().any(|one| one.group == group && (rule == "*" || one.name == rule));
        assert!(is, "README.md names {name}, which is no rule");
        named += 1;
    }
    assert!(named > 50, "the table was not found");
}
