//! Pages that a reader counts on: of modules, of crates, of the whole.

use crate::problem::Problem;
use crate::repository::{File, Repository};

/// Lines of a source file beyond which it says why it is one file.
const LONG_FILE: usize = 600;
/// How it says so, in its module page.
const REASON: &str = "//! Long on purpose: ";
const MAP: &str = "ARCHITECTURE.md";
const MAP_LINES: usize = 200;
const DECISION_LINES: usize = 60;
/// Lines of a crate page that is not the crate's README.
const CRATE_PAGE_LINES: usize = 3;

/// Checks all of them.
pub fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in repository.ending(".rs") {
        problems.extend(module_page(file));
        problems.extend(reason_for_length(file));
    }
    for folder in repository.crate_folders() {
        problems.extend(crate_pages(repository, folder));
    }
    problems.extend(map(repository));
    problems.extend(decisions(repository));
    problems
}

/// Every module of a crate begins with its page. Tests explain themselves, and so do generated files.
fn module_page(file: &File) -> Option<Problem> {
    let path = file.path.as_str();
    let test = path.ends_with("/tests.rs") || path.contains("/tests/");
    let ours = path.starts_with("crates/") && path.contains("/src/") && !test;
    let first = file.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if !ours || is_page(first) || first.starts_with("// @generated") {
        return None;
    }
    Some(Problem::at(path, "a module begins with its page (`//!`): what it holds, and why it is a module"))
}

fn is_page(line: &str) -> bool {
    line.starts_with("//!") || line.starts_with("#![doc = include_str!(")
}

fn reason_for_length(file: &File) -> Option<Problem> {
    let lines = file.text.lines().count();
    let page = file.text.lines().take_while(|line| line.trim().is_empty() || line.starts_with("//!"));
    if lines <= LONG_FILE || page.into_iter().any(|line| line.starts_with(REASON)) {
        return None;
    }
    let what =
        format!("{lines} lines; a file over {LONG_FILE} gives its reason in its page, after `{REASON}`");
    Some(Problem::at(&file.path, what))
}

fn crate_pages(repository: &Repository, folder: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let readme = format!("{folder}/README.md");
    if repository.text(&readme).is_none_or(|text| text.trim().is_empty()) {
        problems.push(Problem::at(&readme, "every crate has a README"));
    }
    let root = format!("{folder}/src/lib.rs");
    let text = repository.text(&root).unwrap_or_default();
    let included = text.starts_with("#![doc = include_str!(");
    if !included && text.lines().take_while(|line| line.starts_with("//!")).count() < CRATE_PAGE_LINES {
        let what =
            format!("the crate page is the README, included, or {CRATE_PAGE_LINES} lines of `//!` at least");
        problems.push(Problem::at(&root, what));
    }
    problems
}

fn map(repository: &Repository) -> Vec<Problem> {
    let Some(text) = repository.text(MAP) else {
        return vec![Problem::at(MAP, "there is no map of the house")];
    };
    let mut problems = Vec::new();
    let lines = text.lines().count();
    if lines > MAP_LINES {
        problems.push(Problem::at(MAP, format!("{lines} lines; a map has {MAP_LINES} at most")));
    }
    for folder in repository.crate_folders() {
        let name = folder.replacen("crates/", "dsh-", 1);
        if !names(text, folder) && !names(text, &name) {
            problems.push(Problem::at(MAP, format!("does not name `{name}`")));
        }
    }
    problems
}

/// Does the text hold this name, and not only a longer one that begins or ends with it?
fn names(text: &str, name: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + name.len()..].chars().next());
        !before.is_some_and(part_of_name) && !after.is_some_and(part_of_name)
    })
}

fn decisions(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in repository.ending(".md").filter(|file| file.path.starts_with("docs/decisions/")) {
        let lines = file.text.lines().count();
        if lines > DECISION_LINES {
            let what = format!("{lines} lines; a decision has {DECISION_LINES} at most");
            problems.push(Problem::at(&file.path, what));
        }
    }
    problems
}
