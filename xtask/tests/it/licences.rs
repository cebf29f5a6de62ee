use xtask::Package;
use xtask::check::licences::{allowed, check, permits};

use crate::{dependency, repository, told, workspace};

fn licensed(name: &str, licence: Option<&str>) -> Package {
    Package { licence: licence.map(str::to_owned), ..dependency(name, &[]) }
}

#[test]
fn expressions_are_read_as_spdx_has_them() {
    let list = ["MIT", "Apache-2.0", "Unicode-3.0", "BSD-3-Clause WITH exception"].map(str::to_owned);
    for (expression, permitted) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("MIT OR GPL-3.0-only", true),
        ("MIT/GPL-3.0-only", true),
        ("MIT AND GPL-3.0-only", false),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("(MIT OR Apache-2.0) AND GPL-3.0-only", false),
        // `AND` binds closer.
        ("MIT OR GPL-2.0-only AND GPL-3.0-only", true),
        ("BSD-3-Clause WITH exception", true),
        ("BSD-3-Clause", false),
        ("Apache-2.0 WITH LLVM-exception", false),
    ] {
        assert_eq!(permits(expression, &list).unwrap(), permitted, "{expression}");
    }
    for broken in ["", "MIT OR", "(MIT", "MIT)", "MIT Apache-2.0", "AND MIT", "MIT WITH"] {
        assert!(permits(broken, &list).is_err(), "{broken}");
    }
}

#[test]
fn a_licence_that_is_not_on_the_list_is_named() {
    let workspace = workspace([
        licensed("fine", Some("MIT OR GPL-3.0-only")),
        licensed("copyleft", Some("GPL-3.0-only")),
        licensed("silent", None),
        licensed("odd", Some("MIT OR")),
    ]);
    assert_eq!(
        told(&check(&workspace, &["MIT".to_owned()])),
        [
            "copyleft 1.0.0: is licensed GPL-3.0-only, which deny.toml does not allow",
            "silent 1.0.0: names no licence",
            "odd 1.0.0: has a licence that cannot be read: MIT OR: a licence is missing",
        ]
    );
}

#[test]
fn the_list_comes_from_deny_toml() {
    let good = repository([("deny.toml", "[licenses]\nallow = [\"MIT\", \"Zlib\"]\n")]);
    assert_eq!(allowed(&good).unwrap(), ["MIT", "Zlib"]);
    assert!(allowed(&repository([("deny.toml", "[bans]\n")])).is_err());
    assert!(allowed(&repository([])).is_err());
}
