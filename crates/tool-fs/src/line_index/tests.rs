use super::*;

fn key(n: usize) -> TargetKey {
    TargetKey::new(n.to_string().into_bytes())
}

fn index(version: &str) -> LineIndex {
    LineMarker::new().finish(FsVersion::new(version), 1)
}

fn kept(indexes: &LineIndexes, n: usize) -> Option<FsVersion> {
    indexes.get(&key(n)).map(|index| index.version().clone())
}

#[test]
fn the_file_that_was_not_used_for_longest_is_forgotten() {
    let indexes = LineIndexes::default();
    for n in 0..MOST_FILES {
        indexes.keep(&key(n), index("old"));
    }
    assert!(kept(&indexes, 0).is_some(), "and is now the one used last");
    indexes.keep(&key(100), index("new"));
    assert_eq!(
        (kept(&indexes, 1), kept(&indexes, 0).is_some(), kept(&indexes, 100).is_some()),
        (None, true, true)
    );
}

#[test]
fn a_file_has_one_index_the_latest() {
    let indexes = LineIndexes::default();
    indexes.keep(&key(1), index("first"));
    let first = indexes.get(&key(1));
    indexes.keep(&key(1), index("second"));
    assert_eq!(kept(&indexes, 1), Some(FsVersion::new("second")));
    if let Some(first) = first {
        indexes.forget(&first);
    }
    assert_eq!(kept(&indexes, 1), Some(FsVersion::new("second")), "only the first does not hold any more");
    if let Some(second) = indexes.get(&key(1)) {
        indexes.forget(&second);
    }
    assert_eq!(kept(&indexes, 1), None);
}
