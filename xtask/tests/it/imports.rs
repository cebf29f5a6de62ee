use xtask::check::imports::check;

use crate::{dependency, member, told, workspace};

#[test]
fn an_import_outside_the_table_is_named() {
    let workspace = workspace([
        member("dsh-plugin", "crates/plugin", &["serde"]),
        member("dsh-fs", "crates/fs", &["dsh-plugin", "dsh-harness", "tokio"]),
        member("dsh-harness", "crates/harness", &["dsh-plugin"]),
        dependency("tokio", &[]),
    ]);
    assert_eq!(
        told(&check(&workspace)),
        ["dsh-fs: imports dsh-harness; of this workspace it may import plugin"]
    );
}

#[test]
fn the_runtime_imports_nobody_and_nobody_imports_xtask() {
    let workspace = workspace([
        member("dsh-plugin", "crates/plugin", &["dsh-fs"]),
        member("dsh-fs", "crates/fs", &["dsh-plugin"]),
        member("dsh-cli", "crates/cli", &["dsh-plugin", "dsh-fs", "xtask"]),
        member("xtask", "xtask", &["dsh-cli"]),
    ]);
    assert_eq!(
        told(&check(&workspace)),
        [
            "dsh-plugin: imports dsh-fs; of this workspace it may import none",
            "dsh-cli: imports xtask; of this workspace it may import every crate"
        ]
    );
}

#[test]
fn a_crate_is_named_after_its_folder_and_has_a_row() {
    let workspace = workspace([
        member("dsh-fs-local", "crates/local", &[]),
        member("dsh-utils", "crates/utils", &[]),
        member("dsh-fs", "fs", &[]),
    ]);
    let row =
        "is not in the import table; a new crate is a decision: add its row to xtask/src/check/imports.rs";
    assert_eq!(
        told(&check(&workspace)),
        [
            "crates/local: the crate must be called dsh-local, not dsh-fs-local".to_owned(),
            format!("dsh-fs-local: {row}"),
            format!("dsh-utils: {row}"),
            "fs: a crate lives in crates/".to_owned(),
        ]
    );
}
