use xtask::check::sources::check;
use xtask::{Package, Source};

use crate::{dependency, member, told, workspace};

#[test]
fn only_members_and_the_default_registry_are_sources() {
    let elsewhere =
        |name, source: &str| Package { source: Source::Other(source.to_owned()), ..dependency(name, &[]) };
    let workspace = workspace([
        member("dsh-fs", "crates/fs", &[]),
        dependency("memchr", &[]),
        elsewhere("fork", "git+ssh://example.com/fork"),
    ]);
    assert_eq!(
        told(&check(&workspace)),
        ["fork 1.0.0: comes from git+ssh://example.com/fork, not from the default registry"]
    );
}
