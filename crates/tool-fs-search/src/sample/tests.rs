use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn list<const N: usize>(paths: [&str; N]) -> Vec<String> {
    paths.map(str::to_owned).to_vec()
}

/// The entries of the paths, in order.
fn entries<const N: usize>(root: &str, paths: [&'static str; N]) -> [&'static str; N] {
    paths.map(|path| entry_of(bare(root), path))
}

#[test]
fn entries_take_turns_until_the_page_is_full() {
    let paths = list(["a/1", "a/2", "a/3", "b/1", "a/4", "c", "b/2", "b/3"]);
    let page = |cap| {
        let sample = sample(".", &paths, cap);
        (sample.paths, sample.shown, sample.entries)
    };
    assert_eq!(page(1), (vec!["a/1"], 1, 3));
    assert_eq!(page(2), (vec!["a/1", "b/1"], 2, 3));
    assert_eq!(page(3), (vec!["a/1", "b/1", "c"], 3, 3));
    assert_eq!(page(4), (vec!["a/1", "a/2", "b/1", "c"], 3, 3));
    assert_eq!(page(5), (vec!["a/1", "a/2", "b/1", "b/2", "c"], 3, 3));
    // What an entry that has run out does not use goes to the others.
    assert_eq!(page(7), (vec!["a/1", "a/2", "a/3", "b/1", "b/2", "b/3", "c"], 3, 3));
    assert_eq!(page(100).0.len(), 8);
}

#[test]
fn the_root_is_not_an_entry() {
    assert_eq!(entries(".", ["a/b/c", "d", ".git", "..x/y"]), ["a", "d", ".git", "..x"]);
    assert_eq!(entries(".", ["./a/b", "./d", "./.x"]), ["a", "d", ".x"]);
    assert_eq!(entries("src", ["src/a/b", "src/d"]), ["a", "d"]);
    assert_eq!(entries("src/", ["src/a/b", "src/d"]), ["a", "d"]);
    assert_eq!(entries("./src", ["./src/a/b", "./src/d", "src/e/f"]), ["a", "d", "e"]);
    assert_eq!(entries("/x/y", ["/x/y/a/b", "/x/y//d"]), ["a", "d"]);
    assert_eq!(entries("/", ["/a/b", "/d"]), ["a", "d"]);
    assert_eq!(entries("src/..", ["src/../src/a", "src/../b"]), ["src", "b"]);
}

#[test]
fn a_name_that_only_begins_like_the_root_lies_elsewhere() {
    assert_eq!(entries("src", ["src2/a", "srcs", "other/src/a"]), ["src2", "srcs", "other"]);
}

#[test]
fn the_root_itself_is_one_entry_without_a_name() {
    assert_eq!(entries("src/a.rs", ["src/a.rs"]), [""]);
    assert_eq!(entries("src/", ["src"]), [""]);
    assert_eq!(entries(".", ["."]), [""]);
}

#[test]
fn a_backslash_separates_nothing() {
    assert_eq!(entries(".", ["a\\b/c", "a\\d"]), ["a\\b", "a\\d"]);
}

#[test]
fn a_skewed_tree_and_a_flat_one_are_sampled_in_one_pass() {
    let skewed: Vec<String> =
        (0..100_000).map(|n| format!("big/{n}")).chain((0..100_000).map(|n| format!("{n}/x"))).collect();
    let page = sample(".", &skewed, 150_000);
    assert_eq!((page.paths.len(), page.shown, page.entries), (150_000, 100_001, 100_001));
    assert_eq!(page.paths[49_999], "big/49999");
    assert_eq!(page.paths[50_000], "0/x");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn a_page_is_a_fair_part_of_the_list(
        names in prop::collection::hash_set("[abc]{1,2}(/[ab]{1,2}){0,2}", 0..40),
        root in prop::sample::select(vec![".", "r", "r/", "./r"]),
        cap in 1..50_usize,
    ) {
        let paths: Vec<String> = names.into_iter().map(|name| match root {
            "." => name,
            root => format!("{}/{name}", root.trim_end_matches('/')),
        }).collect();
        let page = sample(root, &paths, cap);
        prop_assert_eq!(page.paths.len(), cap.min(paths.len()));
        let shown: HashSet<&str> = page.paths.iter().copied().collect();
        prop_assert_eq!(shown.len(), page.paths.len());
        prop_assert!(shown.iter().all(|&path| paths.iter().any(|known| known == path)));

        let root = bare(root);
        let count = |entry: &str, of: &mut dyn Iterator<Item = &str>| of.filter(|path| entry_of(root, path) == entry).count();
        let all: HashSet<&str> = paths.iter().map(|path| entry_of(root, path)).collect();
        prop_assert_eq!(page.entries, all.len());
        let taken: Vec<(usize, usize)> = all.iter().map(|entry| (
            count(entry, &mut page.paths.iter().copied()),
            count(entry, &mut paths.iter().map(String::as_str)),
        )).collect();
        prop_assert_eq!(page.shown, taken.iter().filter(|(taken, _)| *taken > 0).count());
        // Nobody who still has paths is more than one behind anybody else.
        let most = taken.iter().map(|(taken, _)| *taken).max().unwrap_or(0);
        prop_assert!(taken.iter().all(|&(taken, there)| taken == there || taken + 1 >= most));
    }
}
