//! What must not be in the tree, whoever wrote it.

use anyhow::Context as _;

use crate::problem::Problem;
use crate::repository::{File, Repository};

/// Written in two parts, so that this file is not its own first finding.
const MACHINE_PATHS: [&str; 3] = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/fa", "rm/")];
const HOMES: &str = concat!("/ho", "me/");
const REGISTRY_HOSTS: [&str; 8] = [
    concat!("//crates", ".io"),
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("registry.npmjs", ".org"),
    concat!("registry.yarnpkg", ".com"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("deb.debian", ".org"),
];
const UNFINISHED_CODE: [&str; 3] =
    [concat!("#[igno", "re"), concat!("todo", "!("), concat!("unimplemented", "!(")];
const UNFINISHED_WORDS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// The lint that clippy.toml fills, and where an exception to it may stand.
const BYPASS: &str = concat!("clippy::disallowed", "_methods");
const MAY_BYPASS: [&str; 7] = [
    "crates/fs-local/",
    "crates/cli/",
    "crates/plugin/src/composition.rs",
    "crates/harness/src/log_file.rs",
    "crates/harness/src/spill_local.rs",
    "crates/tool-fs-search/src/search/host.rs",
    "xtask/",
];

/// Checks every file. An error means that a manifest cannot be read.
pub fn check(repository: &Repository) -> anyhow::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for file in repository.files().filter(|file| !is_data(file)) {
        for (number, line) in file.lines() {
            let found = in_line(file, line).map(|what| Problem::at(format!("{}:{number}", file.path), what));
            problems.extend(found);
        }
    }
    for manifest in repository.ending("Cargo.toml") {
        problems.extend(lints(manifest)?);
    }
    Ok(problems)
}

/// Scenarios speak of paths that a model made up; the lock file names the registry in cargo's own words.
fn is_data(file: &File) -> bool {
    file.extension() == "jsonl" || file.path == "Cargo.lock"
}

fn in_line(file: &File, line: &str) -> Option<String> {
    if let Some(path) = MACHINE_PATHS.into_iter().find(|path| begins_a_path(line, path)) {
        return Some(format!("names a folder of one machine, {path}"));
    }
    if is_somebodys_home(line) {
        return Some(format!("names a folder of one machine, below {HOMES}"));
    }
    if let Some(host) = REGISTRY_HOSTS.into_iter().find(|host| line.contains(host)) {
        return Some(format!("names a registry's host, {host}"));
    }
    if file.extension() == "rs" {
        if let Some(mark) = UNFINISHED_CODE.into_iter().find(|mark| line.contains(mark)) {
            return Some(format!("is unfinished: {mark}"));
        }
        if line.contains(BYPASS) && !may_bypass(&file.path) {
            return Some("an exception from clippy.toml in a crate that may have none".to_owned());
        }
    }
    let word = UNFINISHED_WORDS
        .into_iter()
        .find(|word| comment(file, line).is_some_and(|text| begins_with(text, word)));
    word.map(|word| format!("is unfinished: {word}"))
}

/// `/a/` at the start of a path, and not in the middle of `b/a/`.
fn begins_a_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        !line[..at]
            .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '}' | '$' | '~' | '/'))
    })
}

fn is_somebodys_home(line: &str) -> bool {
    begins_a_path(line, HOMES)
        && line.match_indices(HOMES).any(|(at, _)| {
            let rest = &line[at + HOMES.len()..];
            let name = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
            name.is_some_and(|end| end > 0 && rest[end..].starts_with('/'))
        })
}

fn may_bypass(path: &str) -> bool {
    MAY_BYPASS.iter().any(|allowed| path.starts_with(allowed)) || path.ends_with("/tests/it/main.rs")
}

/// What a comment on this line says.
fn comment<'a>(file: &File, line: &'a str) -> Option<&'a str> {
    let sign = match file.extension() {
        "rs" | "ts" | "js" | "mjs" => "//",
        "md" | "json" => return None,
        _ => "#",
    };
    let (_, said) = line.split_once(sign)?;
    Some(said.trim_start_matches(['/', '!', '#', ' ']))
}

fn begins_with(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
}

/// Every crate takes the lints of the workspace.
fn lints(manifest: &File) -> anyhow::Result<Option<Problem>> {
    let table: toml::Table = toml::from_str(&manifest.text).with_context(|| manifest.path.clone())?;
    let inherits = || table.get("lints")?.get("workspace")?.as_bool();
    if !table.contains_key("package") || inherits() == Some(true) {
        return Ok(None);
    }
    Ok(Some(Problem::at(
        &manifest.path,
        "does not take the lints of the workspace (`[lints] workspace = true`)",
    )))
}
