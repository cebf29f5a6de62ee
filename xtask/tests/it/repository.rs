//! This repository as it is. What one of these says is mended where it points to, or by `cargo xtask generate`.

use xtask::{Check, Freshness, Page, Verdict, home};

use crate::told;

fn holds(check: Check) {
    if let Verdict::Broken(problems) = check.run(&home()).unwrap() {
        panic!("the rule is broken:\n  {}", told(&problems).join("\n  "));
    }
}

fn is_current(page: Page) {
    let freshness = page.freshness(&home()).unwrap();
    assert_eq!(freshness, Freshness::Current, "{}: run `cargo xtask generate`", page.path());
}

#[test]
fn crates_import_what_the_table_allows() {
    holds(Check::Imports);
}

#[test]
fn the_contract_stays_under_its_number_of_crates() {
    holds(Check::Budget);
}

#[test]
fn modules_and_crates_have_their_pages() {
    holds(Check::Docs);
}

#[test]
fn licences_are_allowed() {
    holds(Check::Licences);
}

#[test]
fn dependencies_come_from_the_default_registry() {
    holds(Check::Sources);
}

#[test]
fn cargo_deny_finds_nothing_where_it_is_installed() {
    holds(Check::Deny);
}

#[test]
fn examples_in_readmes_are_their_files() {
    holds(Check::Readme);
}

#[test]
fn every_source_file_is_compiled() {
    holds(Check::Modules);
}

#[test]
fn nothing_forbidden_is_in_the_tree() {
    holds(Check::Forbidden);
}

#[test]
fn the_tool_catalogue_is_current() {
    is_current(Page::Tools);
}

#[test]
fn the_option_reference_is_current() {
    is_current(Page::Options);
}

#[test]
fn what_a_model_sees_is_current() {
    is_current(Page::Model);
}
