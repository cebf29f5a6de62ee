use xtask::check::modules::check;

use crate::{repository, told};

#[test]
fn roots_and_named_files_are_compiled() {
    let house = repository([
        ("crates/a/build.rs", ""),
        ("crates/a/benches/speed.rs", ""),
        ("crates/a/examples/embed.rs", ""),
        ("crates/a/src/bin/tool.rs", ""),
        ("crates/a/src/lib.rs", "mod one;\npub(crate) mod two;\n"),
        ("crates/a/src/one.rs", "#[cfg(test)] mod tests;\n"),
        ("crates/a/src/one/tests.rs", ""),
        ("crates/a/src/two/mod.rs", "pub mod three;\n"),
        ("crates/a/src/two/three.rs", ""),
        ("crates/a/tests/single.rs", ""),
        ("crates/a/tests/it/main.rs", "mod one;\n"),
        ("crates/a/tests/it/one.rs", ""),
        ("xtask/src/lib.rs", ""),
        ("xtask/src/main.rs", ""),
        ("fuzz/fuzz_targets/decode.rs", ""),
    ]);
    assert_eq!(told(&check(&house)), [""; 0]);
}

#[test]
fn forgotten_files_are_named() {
    let house = repository([
        ("crates/a/src/lib.rs", "mod one;\n// mod two;\n"),
        ("crates/a/src/one.rs", ""),
        ("crates/a/src/one/tests.rs", ""),
        ("crates/a/src/two.rs", ""),
        ("crates/a/tests/it/main.rs", "mod one_more;\n"),
        ("crates/a/tests/it/more.rs", ""),
        ("xtask/src/lost/deep.rs", ""),
    ]);
    assert_eq!(
        told(&check(&house)),
        [
            "crates/a/src/one/tests.rs: is not compiled: no `mod tests;` in crates/a/src/one.rs",
            "crates/a/src/two.rs: is not compiled: no `mod two;` in crates/a/src/lib.rs",
            "crates/a/tests/it/more.rs: is not compiled: no `mod more;` in crates/a/tests/it/main.rs",
            "xtask/src/lost/deep.rs: is not compiled: no `mod deep;` in any file above it",
        ]
    );
}
