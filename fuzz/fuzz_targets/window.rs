//! Any text, in any pieces, under any limits: the window that a read shows.
//!
//! Input: offset, limit, longest line, most bytes (one byte each, 255 is the largest there is), the sizes of the
//! pieces, then the text.

#![no_main]

use dsh_fs::FsErrorCode;
use dsh_tool_fs::window::{Line, Window, WindowLimits, WindowScan};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let ([offset, limit, max_line_length, max_bytes], rest) = dsh_fuzz::numbers(input);
    let limits = WindowLimits {
        offset: if offset == 255 { u64::MAX } else { u64::from(offset).max(1) },
        limit: if limit == 255 { u64::MAX } else { u64::from(limit) },
        max_line_length: if max_line_length == 255 { usize::MAX } else { usize::from(max_line_length) },
        max_bytes: if max_bytes == 255 { usize::MAX } else { usize::from(max_bytes) },
    };
    let (sizes, text) = dsh_fuzz::sizes(rest);
    let text = &String::from_utf8_lossy(text);

    let mut scan = WindowScan::new(limits);
    let mut from = 0;
    for end in dsh_fuzz::cuts(sizes, text.len()) {
        if text.is_char_boundary(end) {
            scan.push(&text[from..end]);
            from = end;
        }
    }
    let lines = lines(text);
    let total_lines = lines.len() as u64;
    match scan.finish("f", "n") {
        Err(error) => {
            assert!(limits.offset > total_lines && (total_lines, limits.offset) != (0, 1));
            assert_eq!(error.code(), FsErrorCode::NotFound);
            assert_eq!(
                error.to_string(),
                format!("offset n is out of range for \"f\" ({total_lines} lines)")
            );
        }
        Ok(window) => {
            assert_eq!(window, Window { lines: by_the_book(&lines, limits), total_lines });
            // Paging moves on.
            assert!(!window.lines.is_empty() || limits.limit == 0 || total_lines == 0);
        }
    }
});

/// All lines, without their endings.
fn lines(text: &str) -> Vec<&str> {
    let lines = text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line));
    lines.map(|line| line.strip_suffix('\r').unwrap_or(line)).collect()
}

/// The window, by choosing from all lines.
fn by_the_book(lines: &[&str], limits: WindowLimits) -> Vec<Line> {
    let mut shown: Vec<Line> = Vec::new();
    let mut bytes = 0;
    for (number, &line) in (1..).zip(lines) {
        if number < limits.offset {
            continue;
        }
        if shown.len() as u64 == limits.limit {
            break;
        }
        let text = cut_to_units(line, limits.max_line_length);
        if shown.is_empty() && text.len() > limits.max_bytes {
            shown.push(Line { number, text: cut_to_bytes(line, limits.max_bytes) });
            break;
        }
        bytes += text.len() + usize::from(!shown.is_empty());
        if bytes > limits.max_bytes {
            break;
        }
        shown.push(Line { number, text });
    }
    shown
}

fn marked(kept: &str, units: usize) -> String {
    format!("{kept}... (line truncated to {units} chars)")
}

/// The longest start of the line that `fits`.
fn longest_start(line: &str, fits: impl Fn(&str) -> bool) -> &str {
    let ends = line.char_indices().map(|(at, c)| at + c.len_utf8());
    ends.take_while(|&end| fits(&line[..end])).last().map_or("", |end| &line[..end])
}

fn cut_to_units(line: &str, max: usize) -> String {
    let kept = longest_start(line, |start| start.encode_utf16().count() <= max);
    let lost = &line[kept.len()..];
    // A CR before the line ending is no loss worth a mark.
    if lost.bytes().all(|byte| byte == b'\r') { kept.to_owned() } else { marked(kept, max) }
}

/// At least one character. The mark is taken to be as long as it would be with `max` as its number.
fn cut_to_bytes(line: &str, max: usize) -> String {
    let room = max.saturating_sub(marked("", max).len());
    let kept = longest_start(line, |start| start.len() <= room || start.chars().count() == 1);
    marked(kept, kept.encode_utf16().count())
}
