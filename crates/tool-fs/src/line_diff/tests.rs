use proptest::prelude::*;

use super::*;

fn block(old: Range<usize>, new: Range<usize>) -> Block {
    Block { old, new }
}

#[test]
fn equal_sides_have_no_blocks() {
    assert_eq!(changed_blocks(&["a", "b"], &["a", "b"]), []);
    assert_eq!(changed_blocks(&[], &[]), []);
}

#[test]
fn of_several_shortest_scripts_the_farther_old_position_wins_and_a_tie_deletes() {
    assert_eq!(changed_blocks(&["a", "b"], &["b", "a"]), [block(0..1, 0..0), block(2..2, 1..2)]);
    assert_eq!(changed_blocks(&["x"], &["y"]), [block(0..1, 0..1)]);
    assert_eq!(changed_blocks(&["b", "b"], &["b"]), [block(1..2, 1..1)]);
    assert_eq!(
        changed_blocks(&["a", "b", "a", "", "", "e"], &["aa", "a", "", "", "e"]),
        [block(0..0, 0..1), block(1..3, 2..2)]
    );
}

#[test]
fn beyond_the_bound_everything_is_one_block() {
    let old: Vec<String> = (0..MAX_EDITS).map(|n| format!("old {n}")).collect();
    let new: Vec<String> = (0..MAX_EDITS).map(|n| format!("new {n}")).collect();
    let old: Vec<&str> = std::iter::once("same").chain(old.iter().map(String::as_str)).collect();
    let new: Vec<&str> = std::iter::once("same").chain(new.iter().map(String::as_str)).collect();
    assert_eq!(changed_blocks(&old, &new), [block(0..MAX_EDITS + 1, 0..MAX_EDITS + 1)]);
    let few = 1 + MAX_EDITS / 2;
    assert_eq!(changed_blocks(&old[..few], &new[..few]), [block(1..few, 1..few)]);
}

/// Length of the longest common subsequence, by the book.
fn longest_common(old: &[&str], new: &[&str]) -> usize {
    let mut best = vec![vec![0; new.len() + 1]; old.len() + 1];
    for (i, a) in old.iter().enumerate() {
        for (j, b) in new.iter().enumerate() {
            best[i + 1][j + 1] = if a == b { best[i][j] + 1 } else { best[i][j + 1].max(best[i + 1][j]) };
        }
    }
    best[old.len()][new.len()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks_are_a_shortest_script(
        old in prop::collection::vec("[abc]", 0..14),
        new in prop::collection::vec("[abc]", 0..14),
    ) {
        let old: Vec<&str> = old.iter().map(String::as_str).collect();
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        let blocks = changed_blocks(&old, &new);
        let (mut made, mut at, mut edits) = (Vec::new(), 0, 0);
        for block in &blocks {
            made.extend_from_slice(&old[at..block.old.start]);
            prop_assert_eq!(made.len(), block.new.start);
            made.extend_from_slice(&new[block.new.clone()]);
            at = block.old.end;
            edits += block.old.len() + block.new.len();
        }
        made.extend_from_slice(&old[at..]);
        prop_assert_eq!(&made, &new);
        prop_assert_eq!(edits, old.len() + new.len() - 2 * longest_common(&old, &new));
    }
}
