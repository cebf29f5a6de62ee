use dsh_fs::FsErrorCode;
use dsh_tool_fs::window::{Line, Window, WindowLimits, WindowScan};
use proptest::prelude::*;

const WIDE: WindowLimits = WindowLimits { offset: 1, limit: 2000, max_line_length: 2000, max_bytes: 51_200 };

fn window(text: &str, limits: WindowLimits) -> Window {
    let mut scan = WindowScan::new(limits);
    scan.push(text);
    scan.finish("/w/f", &limits.offset.to_string()).unwrap()
}

fn shown(text: &str, limits: WindowLimits) -> Vec<(u64, String)> {
    window(text, limits).lines.into_iter().map(|line| (line.number, line.text)).collect()
}

fn texts(text: &str, limits: WindowLimits) -> Vec<String> {
    window(text, limits).lines.into_iter().map(|line| line.text).collect()
}

#[test]
fn lines_end_at_newlines_only_and_lose_one_carriage_return() {
    let total = |text| window(text, WIDE).total_lines;
    assert_eq!((total(""), total("\n"), total("a\n"), total("a\n\n"), total("a\n\r")), (0, 1, 1, 2, 2));
    assert_eq!(texts("a\r\nb\rc\r\r\n\r", WIDE), ["a", "b\rc\r", ""]);
    assert_eq!(texts("\u{c}a\u{85}b\u{2028}c", WIDE), ["\u{c}a\u{85}b\u{2028}c"]);
}

#[test]
fn offset_and_limit_choose_lines_and_the_whole_text_is_counted() {
    let limits = WindowLimits { offset: 2, limit: 2, ..WIDE };
    assert_eq!(shown("a\nb\nc\nd\ne", limits), [(2, "b".to_owned()), (3, "c".to_owned())]);
    assert_eq!(window("a\nb\nc\nd\ne", limits).total_lines, 5);
}

#[test]
fn long_lines_are_cut_at_a_character_and_marked() {
    let five = WindowLimits { max_line_length: 5, ..WIDE };
    assert_eq!(
        texts("abcde\nabcdef\nabcde\r\nabcdef\r\n", five),
        ["abcde", "abcde... (line truncated to 5 chars)", "abcde", "abcde... (line truncated to 5 chars)",]
    );
    // Two units each: two fit, half of the third would not be a character.
    assert_eq!(texts("😀😀😀", five), ["😀😀... (line truncated to 5 chars)"]);
    // A lone CR at the cut is a character like any other and hides nothing.
    assert_eq!(texts("abcde\rf", five), ["abcde... (line truncated to 5 chars)"]);
    assert_eq!(texts("abcde\r\r\r\rf\n", five), ["abcde... (line truncated to 5 chars)"]);
    // But where nothing else is lost than carriage returns before the line ending, nothing is said.
    assert_eq!(texts("abcde\r\r\nabcd\r\r\r\r\r\r\n", five), ["abcde", "abcd\r"]);
}

#[test]
fn the_byte_cap_ends_a_window_before_the_line_that_does_not_fit() {
    let nine = WindowLimits { max_bytes: 9, ..WIDE };
    assert_eq!(texts("aaaa\nbbbb\ncccc\n", nine), ["aaaa", "bbbb"]);
    assert_eq!(window("aaaa\nbbbb\ncccc\n", nine).total_lines, 3);
    // Nothing after it is taken, even if it would fit.
    assert_eq!(texts("aaaa\nbbbbbbbbb\nc\n", nine), ["aaaa"]);
}

#[test]
fn a_first_line_over_the_byte_cap_is_cut_and_shown() {
    let cap = WindowLimits { max_bytes: 40, ..WIDE };
    let lines = shown(&format!("{}\nnext\n", "漢".repeat(100)), cap);
    assert_eq!(lines, [(1, "漢漢... (line truncated to 2 chars)".to_owned())]);
    assert!(lines[0].1.len() <= 40);
    // Where not even the mark fits, one character is shown all the same.
    let one = WindowLimits { max_bytes: 1, ..WIDE };
    assert_eq!(texts("漢漢", one), ["漢... (line truncated to 1 chars)"]);
}

#[test]
fn an_offset_behind_the_end_is_out_of_range() {
    let mut scan = WindowScan::new(WindowLimits { offset: 3, ..WIDE });
    scan.push("a\nb\n");
    let error = scan.finish("/w/f", "3").unwrap_err();
    assert_eq!(error.code(), FsErrorCode::NotFound);
    assert_eq!(error.to_string(), "offset 3 is out of range for \"/w/f\" (2 lines)");

    let empty = WindowScan::new(WindowLimits { offset: 2, ..WIDE }).finish("/w/f", "1e+308").unwrap_err();
    assert_eq!(empty.to_string(), "offset 1e+308 is out of range for \"/w/f\" (0 lines)");
    assert_eq!(window("", WIDE), Window { lines: vec![], total_lines: 0 });
}

/// The same window, by the book: split, then choose.
fn by_the_book(text: &str, limits: WindowLimits) -> Window {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    let total_lines = lines.len() as u64;
    let mut shown = Vec::new();
    let mut bytes = 0;
    for (number, line) in (1..).zip(lines).skip(usize::try_from(limits.offset).unwrap() - 1) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let units: Vec<u16> = line.encode_utf16().collect();
        let mut text = line.to_owned();
        if units.len() > limits.max_line_length {
            let mut cut = limits.max_line_length;
            while String::from_utf16(&units[..cut]).is_err() {
                cut -= 1;
            }
            text = String::from_utf16(&units[..cut]).unwrap();
            if units[cut..].iter().any(|&unit| unit != u16::from(b'\r')) {
                text = format!("{text}... (line truncated to {} chars)", limits.max_line_length);
            }
        }
        let cost = text.len() + usize::from(!shown.is_empty());
        if shown.len() as u64 == limits.limit || bytes + cost > limits.max_bytes {
            break;
        }
        bytes += cost;
        shown.push(Line { number, text });
    }
    Window { lines: shown, total_lines }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_chunking_gives_the_window_of_the_whole(
        text in "[ab\r\n漢😀]{0,60}",
        cuts in prop::collection::vec(0..60usize, 0..8),
        offset in 1..6u64,
        limit in 1..6u64,
        max_line_length in 1..8usize,
    ) {
        // A cap that never cuts the first line: that rule has a test of its own.
        let limits = WindowLimits { offset, limit, max_line_length, max_bytes: 80 };
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|&at| text.is_char_boundary(at)).collect();
        cuts.sort_unstable();
        let mut scan = WindowScan::new(limits);
        let mut from = 0;
        for at in cuts {
            scan.push(&text[from..at]);
            from = at;
        }
        scan.push(&text[from..]);
        let expected = by_the_book(&text, limits);
        match scan.finish("f", "n") {
            Ok(window) => prop_assert_eq!(window, expected),
            Err(_) => prop_assert!(offset > expected.total_lines),
        }
    }

    #[test]
    fn pages_joined_equal_the_text(
        text in "([a漢\r]{0,12}\r?\n){1,40}[a漢]{0,3}",
        max_bytes in 1..60usize,
        limit in 1..7u64,
    ) {
        let mut pages = String::new();
        let mut offset = 1;
        let total = text.matches('\n').count() as u64 + u64::from(!text.ends_with('\n'));
        // Lines that fit into the cap are never cut, so use a cap they fit into.
        let limits = WindowLimits { offset, limit, max_line_length: 2000, max_bytes: max_bytes.max(40) };
        while offset <= total {
            let page = window(&text, WindowLimits { offset, ..limits });
            prop_assert!(!page.lines.is_empty());
            prop_assert_eq!(page.lines[0].number, offset);
            for line in &page.lines {
                pages.push_str(&line.text);
                pages.push('\n');
            }
            offset = page.lines.last().unwrap().number + 1;
        }
        // What a page does not show: the CR of a line ending, and whether the last line has one.
        let shown = text.replace("\r\n", "\n");
        prop_assert_eq!(pages.trim_end_matches('\n'), shown.trim_end_matches('\n'));
    }
}
