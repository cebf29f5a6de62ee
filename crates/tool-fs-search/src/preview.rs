//! A matching line as it is shown: cut where it is long.

use std::borrow::Cow;

/// The line, or its first characters of at most `max_bytes` bytes and a mark.
pub(crate) fn preview(line: &str, max_bytes: usize) -> Cow<'_, str> {
    if line.len() <= max_bytes {
        return line.into();
    }
    let cut = (0..=max_bytes).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0);
    format!("{} (line truncated)", &line[..cut]).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_line_is_cut_between_characters_and_marked() {
        assert_eq!(preview("abcde", 5), "abcde");
        assert_eq!(preview("abcdef", 5), "abcde (line truncated)");
        assert_eq!(preview("日本語日本語", 10), "日本語 (line truncated)");
        assert_eq!(preview("日本語", 9), "日本語");
        assert_eq!(preview("😀x", 4), "😀 (line truncated)");
        assert_eq!(preview("😀", 3), " (line truncated)");
        assert_eq!(preview("", 1), "");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        #[test]
        fn a_preview_is_the_longest_prefix_that_fits(line in "[a漢😀é ]{0,40}", max_bytes in 1..60_usize) {
            let shown = preview(&line, max_bytes);
            if line.len() <= max_bytes {
                prop_assert_eq!(&*shown, &*line);
            } else {
                let kept = shown.strip_suffix(" (line truncated)").unwrap_or("not marked");
                let next = line.strip_prefix(kept).and_then(|rest| rest.chars().next());
                prop_assert!(kept.len() <= max_bytes);
                prop_assert!(next.is_some_and(|next| kept.len() + next.len_utf8() > max_bytes));
            }
        }
    }
}
