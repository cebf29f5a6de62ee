//! The pure algorithms of the contract, in bytes a second: `cargo bench --package dsh-fs`.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use dsh_fs::digest::Digest;
use dsh_fs::line_endings::LineEndings;
use dsh_fs::literal_edit::{InvalidEdit, LiteralEdit};
use dsh_fs::text;

/// 10 KB, a megabyte, and more than the caches hold.
const SIZES: [usize; 3] = [10 << 10, 1 << 20, 64 << 20];

fn main() {
    divan::main();
}

/// Lines of some 70 bytes, most of them ASCII; one of them is like no other.
fn sample(bytes: usize) -> String {
    let line = "    let response = session.request(&config, offset)?; // a line like any other\n";
    let mut sample = line.repeat(bytes / line.len() / 2);
    sample.push_str("the one line, naïve as it is\n");
    sample.push_str(&line.repeat((bytes - sample.len()) / line.len()));
    sample
}

#[divan::bench(args = SIZES)]
fn utf8(bencher: Bencher<'_, '_>, size: usize) {
    let sample = sample(size);
    bencher.counter(BytesCount::of_str(&sample)).bench(|| text::decode(black_box(sample.as_bytes())).is_ok());
}

#[divan::bench(args = SIZES)]
fn digest(bencher: Bencher<'_, '_>, size: usize) {
    let sample = sample(size);
    bencher.counter(BytesCount::of_str(&sample)).bench(|| Digest::of(black_box(sample.as_bytes())));
}

#[divan::bench(args = SIZES)]
fn line_endings(bencher: Bencher<'_, '_>, size: usize) {
    let sample = sample(size);
    bencher.counter(BytesCount::of_str(&sample)).bench(|| LineEndings::count(black_box(&sample)));
}

#[divan::bench(args = SIZES)]
fn edit_of_one_match(bencher: Bencher<'_, '_>, size: usize) {
    edit(bencher, &sample(size), &LiteralEdit::new("naïve as it is", "wise as it was", false));
}

#[divan::bench(args = SIZES)]
fn edit_of_every_line(bencher: Bencher<'_, '_>, size: usize) {
    edit(bencher, &sample(size), &LiteralEdit::new("response", "answer", true));
}

/// Up to both whole texts.
fn edit(bencher: Bencher<'_, '_>, sample: &str, edit: &Result<LiteralEdit, InvalidEdit>) {
    bencher
        .counter(BytesCount::of_str(sample))
        .with_inputs(|| sample.to_owned())
        .bench_values(|file| edit.as_ref().ok().and_then(|edit| Some(edit.apply(file).ok()?.into_texts())));
}
