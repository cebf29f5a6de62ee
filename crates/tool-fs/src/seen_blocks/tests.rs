use proptest::prelude::*;

use super::*;

fn blocks(text: &str) -> Blocks {
    let mut scan = BlockScan::default();
    scan.push(text);
    scan.finish().unwrap()
}

fn numbered(lines: Range<u32>) -> String {
    lines.map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn lines_that_changed_came_or_went_are_a_range_of_the_new_text() {
    let old = blocks("a\nb\nc\nd\n");
    for (now, changed) in [
        ("a\nb\nc\nd\n", None),
        ("a\r\nb\r\nc\r\nd\r\n", None),
        ("a\nB\nc\nd\n", Some((1..2, 4))),
        ("a\nB\nB\nc\nd\n", Some((1..3, 5))),
        ("a\nd\n", Some((1..1, 2))),
        ("new\na\nb\nc\nd\n", Some((0..1, 5))),
        ("a\nb\nc\nd\nnew\n", Some((4..5, 5))),
        ("a\nb\nc\nd", Some((3..4, 4))),
        ("", Some((0..0, 0))),
    ] {
        assert_eq!(old.changed(now), changed, "{now:?}");
    }
}

#[test]
fn a_long_file_keeps_few_blocks_and_a_change_still_shows_near_its_place() {
    let text = numbered(0..50_000);
    let old = blocks(&text);
    assert!(old.blocks.len() <= MOST_BLOCKS && old.blocks.len() > MOST_BLOCKS / 8, "{}", old.blocks.len());
    let now = text.replace("line 30000\n", "line 30000\nand one more\n");
    let (changed, total) = old.changed(&now).unwrap();
    assert_eq!(total, 50_001);
    assert!(changed.contains(&30_001) && changed.len() < 500, "{changed:?}");
}

#[test]
fn a_file_that_is_too_large_is_not_kept() {
    let mut scan = BlockScan::default();
    let piece = numbered(0..10_000);
    for _ in 0..20 {
        scan.push(&piece);
    }
    assert!(scan.finish().is_none());
}

#[test]
fn the_files_used_last_are_kept_for_as_long_as_their_session_lasts() {
    let seen = SeenBlocks::default();
    let (one, two) = (std::sync::Arc::new(1), std::sync::Arc::new(1));
    let key = |n: usize| TargetKey::new(n.to_string().into_bytes());
    for n in 0..=MOST_FILES {
        seen.remember(Owner::of(&one), &key(n), Some(blocks("a\n")));
    }
    assert_eq!(seen.changed(&Owner::of(&one), &key(0), "b\n"), None);
    assert_eq!(seen.changed(&Owner::of(&one), &key(1), "b\n"), Some((0..1, 1)));
    assert_eq!(seen.changed(&Owner::of(&two), &key(1), "b\n"), None);
    drop(one);
    seen.remember(Owner::of(&two), &key(0), Some(blocks("a\n")));
    assert_eq!(seen.lock().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn wherever_a_text_is_cut_its_blocks_are_the_same(text in "[ab\r\n]{0,60}", cuts in proptest::collection::vec(0_usize..60, 0..5)) {
        let mut scan = BlockScan::default();
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|&cut| cut <= text.len()).collect();
        cuts.sort_unstable();
        let mut from = 0;
        for cut in cuts.into_iter().chain([text.len()]) {
            scan.push(&text[from..cut]);
            from = cut;
        }
        prop_assert_eq!(scan.finish().unwrap().blocks, blocks(&text).blocks);
    }

    #[test]
    fn what_is_outside_the_range_is_unchanged(old in "([ab]\n){0,12}", now in "([ab]\n){0,12}") {
        match blocks(&old).changed(&now) {
            None => prop_assert_eq!(old, now),
            Some((changed, total)) => {
                let (before, after): (Vec<&str>, Vec<&str>) = (old.lines().collect(), now.lines().collect());
                prop_assert_eq!(total, after.len());
                prop_assert_eq!(&before[..changed.start], &after[..changed.start]);
                let tail = total - changed.end;
                prop_assert_eq!(&before[before.len() - tail..], &after[changed.end..]);
            }
        }
    }
}
