//! The pure parts of the tools, in bytes a second: `cargo bench --package dsh-tool-fs`.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use dsh_tool_fs::hunks;
use dsh_tool_fs::window::{WindowLimits, WindowScan};

const SIZES: [usize; 3] = [10 << 10, 1 << 20, 64 << 20];
/// Text comes in such pieces.
const PIECE: usize = 1 << 20;

fn main() {
    divan::main();
}

fn sample(bytes: usize) -> String {
    let line = "    let response = session.request(&config, offset)?; // a line like any other\n";
    line.repeat(bytes / line.len())
}

/// The whole pass that a first page costs.
#[divan::bench(args = SIZES)]
fn window_of_the_first_lines(bencher: Bencher<'_, '_>, size: usize) {
    window(bencher, size, 1);
}

#[divan::bench(args = SIZES)]
fn window_of_the_last_lines(bencher: Bencher<'_, '_>, size: usize) {
    window(bencher, size, sample(size).lines().count() as u64 - 100);
}

fn window(bencher: Bencher<'_, '_>, size: usize, offset: u64) {
    let sample = sample(size);
    let limits = WindowLimits { offset, limit: 2_000, max_line_length: 2_000, max_bytes: 51_200 };
    bencher.counter(BytesCount::of_str(&sample)).bench(|| {
        let mut scan = WindowScan::new(limits);
        let mut rest = black_box(sample.as_str());
        while !rest.is_empty() {
            // The sample is ASCII: it can be cut anywhere.
            let (piece, more) = rest.split_at(rest.len().min(PIECE));
            scan.push(piece);
            rest = more;
        }
        scan.finish("a.txt", "1")
    });
}

/// The diff card of a write that leaves one line in a thousand as it was.
#[divan::bench(args = [100, 1_000, 16_000])]
fn diff_of_a_rewrite(bencher: Bencher<'_, '_>, lines: usize) {
    let text = |word: &str| -> String {
        let word = |line| if line % 1_000 == 0 { "the same" } else { word };
        (0..lines)
            .flat_map(|line| [format!("{line:06} "), word(line).to_owned(), " text of a line\n".to_owned()])
            .collect()
    };
    let (before, after) = (text("some"), text("more"));
    bencher
        .counter(BytesCount::new(before.len() + after.len()))
        .bench(|| hunks::of_rewrite("a.txt", black_box(&before), black_box(&after)));
}
