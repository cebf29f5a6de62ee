//! The text that is read and edited: every line is known by its number, so that any page can be checked.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;

const WORDS: [&str; 16] = [
    "value", "buffer", "config", "request", "response", "length", "result", "error", "match", "path",
    "offset", "timer", "session", "cursor", "naïve", "token",
];
/// A resume point is proof once the file has not changed for 2 s; a bit more, for coarse clocks.
const SETTLED: Duration = Duration::from_millis(2_500);
const BLOCK: usize = 1 << 20;

/// A line, without its newline; the first has number 1.
pub(crate) fn line(number: u64) -> String {
    let mut line = String::with_capacity(96);
    put_line(&mut line, number);
    line
}

fn put_line(text: &mut String, number: u64) {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let _ = write!(text, "{number:010}");
    // Four bits choose a word, and the first four how many there are.
    for step in 1..5 + mixed % 8 {
        text.push(' ');
        text.push_str(WORDS[usize::from((mixed >> (step * 4)).to_le_bytes()[0]) % WORDS.len()]);
    }
}

/// At least so many bytes of whole lines.
pub(crate) fn text(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 128);
    let mut number = 0;
    while text.len() < bytes {
        number += 1;
        put_line(&mut text, number);
        text.push('\n');
    }
    text
}

/// Writes at least so many bytes of whole lines, and says how many lines that are.
pub(crate) fn write(path: &Path, bytes: u64) -> anyhow::Result<u64> {
    let mut file = File::create(path).with_context(|| format!("cannot make {}", path.display()))?;
    let (mut block, mut number, mut written) = (String::with_capacity(BLOCK + 128), 0, 0);
    while written < bytes {
        number += 1;
        put_line(&mut block, number);
        block.push('\n');
        if block.len() >= BLOCK || written + block.len() as u64 >= bytes {
            file.write_all(block.as_bytes())?;
            written += block.len() as u64;
            block.clear();
        }
    }
    file.sync_all()?;
    Ok(number)
}

/// Writes `times` copies of a file, one behind the other. The lines are known by `(number - 1) % lines + 1`.
pub(crate) fn repeat(path: &Path, source: &Path, times: u64) -> anyhow::Result<()> {
    let mut file = File::create(path)?;
    for _ in 0..times {
        io::copy(&mut File::open(source)?, &mut file)?;
    }
    file.sync_all()?;
    Ok(())
}

/// Waits until the file has not changed for so long that nobody can doubt it.
pub(crate) fn settle(path: &Path) -> anyhow::Result<()> {
    let changed = path.metadata()?;
    let changed = Duration::new(changed.ctime().try_into()?, changed.ctime_nsec().try_into()?);
    let age = SystemTime::now().duration_since(UNIX_EPOCH)?.saturating_sub(changed);
    std::thread::sleep(SETTLED.saturating_sub(age));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{line, text};

    #[test]
    fn a_text_has_the_lines_that_their_numbers_say() {
        let text = text(1_000);
        let lines: Vec<String> = (1..).take(text.lines().count()).map(line).collect();
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
        assert!((1_000..1_100).contains(&text.len()));
    }
}
