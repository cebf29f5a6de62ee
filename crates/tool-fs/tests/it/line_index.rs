use dsh_fs::FsVersion;
use dsh_tool_fs::line_index::{LineIndex, LineMarker};
use dsh_tool_fs::window::{Window, WindowLimits, WindowScan};
use proptest::prelude::*;

const WIDE: WindowLimits = WindowLimits { offset: 1, limit: 2000, max_line_length: 2000, max_bytes: 51_200 };

/// The index of a text that comes in pieces of this size, behind so many bytes that are no text.
fn index(text: &str, piece: usize, ahead: u64) -> LineIndex {
    let (mut window, mut marker) = (WindowScan::new(WIDE), LineMarker::new());
    let mut at = 0;
    while at < text.len() {
        let end = char_boundary(text, at + piece);
        marker.push(ahead + at as u64, &text[at..end], &mut window);
        at = end;
    }
    let total_lines = window.lines_begun();
    assert_eq!(window.finish("f", "1").unwrap().total_lines, total_lines);
    marker.finish(FsVersion::new("v"), total_lines)
}

/// The first place from `at` on between two characters.
fn char_boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// The window as it is read from the mark before it, from text that comes in pieces of this size.
fn resumed(index: &LineIndex, text: &str, ahead: u64, piece: usize, limits: WindowLimits) -> Window {
    let (line, from) = index.before(limits.offset);
    let mut scan = WindowScan::resumed(limits, line, index.total_lines());
    let mut at = usize::try_from(from.offset.saturating_sub(ahead)).unwrap();
    while !scan.is_full() && at < text.len() {
        let end = char_boundary(text, at + piece);
        scan.push(&text[at..end]);
        at = end;
    }
    scan.finish("f", "offset").unwrap()
}

fn whole(text: &str, limits: WindowLimits) -> Window {
    let mut scan = WindowScan::new(limits);
    scan.push(text);
    scan.finish("f", "offset").unwrap()
}

#[test]
fn a_mark_stands_at_the_first_line_after_each_64_kib() {
    let text = "0123456\n".repeat(20_000);
    let index = index(&text, 1 << 20, 0);
    assert_eq!(index.total_lines(), 20_000);
    let place = |line| {
        let (line, from) = index.before(line);
        (line, from.offset)
    };
    assert_eq!((place(1), place(8192)), ((1, 0), (1, 0)));
    // A line begins exactly there.
    assert_eq!((place(8193), place(16_384)), ((8193, 65_536), (8193, 65_536)));
    assert_eq!((place(16_385), place(20_000)), ((16_385, 131_072), (16_385, 131_072)));
    assert_eq!(index.before(5).1.version, FsVersion::new("v"));
}

#[test]
fn what_stands_before_the_text_in_the_file_counts_for_places() {
    let text = "0123456\n".repeat(10_000);
    let (line, from) = index(&text, 1000, 3).before(10_000);
    assert_eq!(text[..usize::try_from(from.offset - 3).unwrap()].matches('\n').count() as u64, line - 1);
    assert_eq!(line, 8193);
}

#[test]
fn a_line_longer_than_the_distance_of_marks_has_none_in_it() {
    let text = format!("a\n{}\nb\nc\n", "x".repeat(200_000));
    let index = index(&text, 10_000, 0);
    assert_eq!((index.before(2).1.offset, index.before(3).1.offset), (0, 200_003));
    assert_eq!(
        resumed(&index, &text, 0, 7, WindowLimits { offset: 3, ..WIDE }),
        whole(&text, WindowLimits { offset: 3, ..WIDE })
    );
}

#[test]
fn the_marks_of_a_huge_file_are_bounded_and_stay_true() {
    // 2.4 GiB of lines of 64 KiB each, by their lengths alone: the text between two line endings is the same piece again.
    let line = format!("{}\n", "x".repeat(65_535));
    let (mut window, mut marker) =
        (WindowScan::new(WindowLimits { offset: u64::MAX, ..WIDE }), LineMarker::new());
    let lines = 40_000_u64;
    for n in 0..lines {
        marker.push(n * 65_536, &line, &mut window);
    }
    let index = marker.finish(FsVersion::new("v"), lines);
    let mut places = Vec::new();
    for wanted in 1..=lines {
        let (line, from) = index.before(wanted);
        assert_eq!(from.offset, (line - 1) * 65_536);
        assert!(line <= wanted && wanted - line < 8, "line {wanted} is read from line {line}");
        places.push(line);
    }
    places.dedup();
    assert!((8_000..=16_384).contains(&places.len()), "{} marks", places.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn a_resumed_window_is_the_window(
        lines in prop::collection::vec((0..9000_usize, any::<bool>()), 1..40),
        ended: bool,
        ahead in prop::sample::select(vec![0, 3]),
        pieces in (1..100_000_usize, 1..100_000_usize),
        from in 0.0..1.0,
        limit in 1..50_u64,
        max_bytes in 1..60_000_usize,
    ) {
        let mut text = lines
            .iter()
            .enumerate()
            .map(|(n, (length, crlf))| format!("{n}{}{}", "\u{e9}-".repeat(*length), if *crlf { "\r\n" } else { "\n" }))
            .collect::<Vec<_>>()
            .concat();
        if !ended {
            text.truncate(text.trim_end().len());
        }
        let index = index(&text, pieces.0, ahead);
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let offset = 1 + (from * lines.len() as f64) as u64;
        let limits = WindowLimits { offset, limit, max_line_length: 2000, max_bytes };
        prop_assert_eq!(resumed(&index, &text, ahead, pieces.1, limits), whole(&text, limits));
    }
}
