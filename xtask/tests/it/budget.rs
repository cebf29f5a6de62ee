use std::fmt::Write as _;

use xtask::check::budget::check;

fn tree(crates: usize) -> String {
    let mut tree = "dsh-fs v0.1.0 (crates/fs)\n".to_owned();
    for number in 1..crates {
        writeln!(tree, "dependency-{number} v1.0.{number}").unwrap();
    }
    tree
}

#[test]
fn forty_crates_are_one_too_many() {
    assert_eq!(check(&tree(39)), []);
    let problems = check(&tree(40));
    assert_eq!(problems.len(), 1);
    assert!(problems[0].what.starts_with("40 crates with all that it imports, and must stay under 40: "));
}

#[test]
fn a_crate_that_is_met_twice_counts_once_and_two_versions_twice() {
    let again = "dependency-1 v1.0.1 (*)\nsyn v2.0.0 (proc-macro)\nsyn v2.0.0 (proc-macro) (*)\n";
    assert_eq!(check(&format!("{}{again}", tree(38))), []);
    assert_eq!(check(&format!("{}{again}syn v3.0.0\n", tree(38))).len(), 1);
}
