//! The lines of one file that match.

use std::io::{self, Read};

use dsh_fs::text::{SNIFF_BYTES, sniff};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkMatch};

use crate::search::stop::Stop;

/// The most that a search keeps of all matching lines, in bytes of memory. More are counted, not kept.
pub(crate) const MOST_KEPT: usize = 128 << 20;
/// What one file's lines may take up before they are handed on.
const BATCH: usize = 1 << 20;
/// The longest line that is searched, and the most that one searcher holds.
pub(crate) const LONGEST_LINE: usize = 64 << 20;
/// Files up to this size are searched in one piece.
const PIECE: usize = 64 << 10;
/// How large a compiled expression may be, and its tables.
const COMPILED: usize = 32 << 20;

/// What is said of a file with a line that is longer.
pub(crate) const TOO_LONG: &str = "a line is longer than 64 MiB; nothing is searched from there on";

const NOT_UTF8: &str = "(line is not valid UTF-8)";

/// A regular expression, as ripgrep understands it.
pub(crate) fn regex(pattern: &str) -> Result<RegexMatcher, grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).line_terminator(Some(b'\n')).size_limit(COMPILED).dfa_size_limit(COMPILED);
    // A comment at the end of a pattern that may have comments would swallow what the builder puts behind it.
    builder.build(pattern).or_else(|error| builder.build(&format!("{pattern}\n")).map_err(|_| error))
}

/// Matching lines of one file, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hits {
    /// Number from 1, and the line without its ending.
    pub(crate) lines: Vec<(u64, Box<str>)>,
    bytes: usize,
    /// What the line numbers of the piece at hand begin after.
    before: u64,
}

/// Takes what is found before the end of a file is reached.
pub(crate) type HandOn<'a> = dyn FnMut(Hits) + 'a;

/// What came of a file, and its lines that were not handed on.
#[derive(Debug)]
pub(crate) enum Searched {
    /// All that there was time for.
    Whole(Hits),
    /// It holds NUL early on, and was not named.
    Binary,
    /// Its rest could not be searched.
    Partly(Hits, io::Error),
}

/// Searches one file after another. Not shared.
#[derive(Debug)]
pub(crate) struct LineSearch {
    regex: RegexMatcher,
    searcher: Searcher,
    buffer: Vec<u8>,
    stop: Stop,
}

impl LineSearch {
    pub(crate) fn new(regex: RegexMatcher, stop: Stop) -> Self {
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .binary_detection(BinaryDetection::none())
            .memory_map(MmapChoice::never())
            .heap_limit(Some(LONGEST_LINE))
            .build();
        Self { regex, searcher, buffer: vec![0; PIECE], stop }
    }

    /// Searches all that `file` gives. A file that was named is searched even if it is binary.
    pub(crate) fn file(&mut self, file: impl Read, is_named: bool, hand_on: &mut HandOn<'_>) -> Searched {
        let mut file = Stoppable { file, stop: self.stop.clone() };
        let read = match fill(&mut self.buffer, &mut file) {
            Ok(read) => read,
            Err(error) => return self.ended(Hits::default(), Err(error)),
        };
        let head = &self.buffer[..read];
        if !is_named && is_binary(head) {
            return Searched::Binary;
        }
        let mut found = Found { hits: Hits::default(), hand_on };
        let result = if read < self.buffer.len() {
            self.searcher.search_slice(&self.regex, head, &mut found)
        } else {
            self.searcher.search_reader(&self.regex, head.chain(file), &mut found)
        };
        let hits = found.hits;
        self.ended(hits, result)
    }

    /// Searches a whole file's bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8], is_named: bool, hand_on: &mut HandOn<'_>) -> Searched {
        if !is_named && is_binary(bytes) {
            return Searched::Binary;
        }
        let mut found = Found { hits: Hits::default(), hand_on };
        let result = self.searcher.search_slice(&self.regex, bytes, &mut found);
        let hits = found.hits;
        self.ended(hits, result)
    }

    /// Searches a piece of text that ends with a line; `hits` holds what came before it.
    pub(crate) fn piece(&mut self, piece: &str, hits: &mut Hits, hand_on: &mut HandOn<'_>) -> io::Result<()> {
        let mut found = Found { hits: std::mem::take(hits), hand_on };
        let result = self.searcher.search_slice(&self.regex, piece.as_bytes(), &mut found);
        *hits = found.hits;
        hits.before += memchr::memchr_iter(b'\n', piece.as_bytes()).count() as u64;
        result
    }

    /// What is left undone because the search has to stop is no failure of the file.
    fn ended(&self, hits: Hits, result: io::Result<()>) -> Searched {
        match result {
            Err(error) if !self.stop.has_stopped() => Searched::Partly(hits, error),
            _ => Searched::Whole(hits),
        }
    }
}

/// The rule of every text tool; UTF-16 with its mark is text here.
fn is_binary(head: &[u8]) -> bool {
    !head.starts_with(b"\xFF\xFE")
        && !head.starts_with(b"\xFE\xFF")
        && sniff(&head[..head.len().min(SNIFF_BYTES)]).is_err()
}

/// Reads until the buffer is full or there is no more.
fn fill(buffer: &mut [u8], file: &mut impl Read) -> io::Result<usize> {
    let mut read = 0;
    while read < buffer.len() {
        match file.read(&mut buffer[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// A file that cannot be read any more when the search is to stop. (Were that its end, a part of a line would pass for a
/// line.)
struct Stoppable<R> {
    file: R,
    stop: Stop,
}

impl<R: Read> Read for Stoppable<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.now() { Err(io::Error::other("stopped")) } else { self.file.read(buffer) }
    }
}

/// What one kept line costs beside its text.
pub(crate) const LINE_COST: usize = size_of::<(u64, Box<str>)>() + 16;

/// Where a searcher puts what it finds.
struct Found<'a, 'b> {
    hits: Hits,
    hand_on: &'a mut HandOn<'b>,
}

impl Sink for Found<'_, '_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let hits = &mut self.hits;
        let line = found.bytes();
        let line = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        let line = std::str::from_utf8(line).unwrap_or(NOT_UTF8);
        hits.bytes += line.len() + LINE_COST;
        hits.lines.push((hits.before + found.line_number().unwrap_or(0), line.into()));
        if hits.bytes > BATCH {
            let before = hits.before;
            (self.hand_on)(std::mem::replace(hits, Hits { before, ..Hits::default() }));
        }
        Ok(true)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]
mod tests {
    use std::time::Duration;

    use tokio_util::sync::CancellationToken;

    use super::*;

    fn search(pattern: &str) -> LineSearch {
        LineSearch::new(regex(pattern).unwrap(), Stop::new(CancellationToken::new(), Duration::from_secs(60)))
    }

    /// What a search finds, handed on or not.
    fn lines(search: impl FnOnce(&mut HandOn<'_>) -> Searched) -> Vec<(u64, String)> {
        let mut all = Hits::default();
        let mut add = |mut hits: Hits| {
            all.lines.append(&mut hits.lines);
        };
        match search(&mut add) {
            Searched::Whole(hits) => add(hits),
            other => panic!("{other:?}"),
        }
        all.lines.into_iter().map(|(number, line)| (number, line.into())).collect()
    }

    fn is_binary(search: impl FnOnce(&mut HandOn<'_>) -> Searched) -> bool {
        matches!(search(&mut |_| ()), Searched::Binary)
    }

    fn found(pattern: &str, bytes: &[u8]) -> Vec<(u64, String)> {
        let of_file = lines(|on| search(pattern).file(bytes, true, on));
        assert_eq!(lines(|on| search(pattern).bytes(bytes, true, on)), of_file);
        of_file
    }

    fn hit(number: u64, line: &str) -> (u64, String) {
        (number, line.to_owned())
    }

    #[test]
    fn endings_are_not_part_of_a_line() {
        assert_eq!(
            found("needle", b"needle\r\nx\nneedle\rrest\n\nneedle"),
            [hit(1, "needle"), hit(3, "needle\rrest"), hit(5, "needle")]
        );
        assert_eq!(found("^", b""), []);
        assert_eq!(found("$", b"a\n\n"), [hit(1, "a"), hit(2, "")]);
        assert_eq!(found("needle$", b"needle\r\n"), []);
    }

    #[test]
    fn one_match_a_line() {
        assert_eq!(found("a", b"aaa\na\n"), [hit(1, "aaa"), hit(2, "a")]);
    }

    #[test]
    fn encodings() {
        assert_eq!(found("^needle", b"\xEF\xBB\xBFneedle\n"), [hit(1, "needle")]);
        assert_eq!(found("^n.edle", b"\xFF\xFEn\0e\0e\0d\0l\0e\0\n\0"), [hit(1, "needle")]);
        assert_eq!(found("need", b"x\nneedle \xFF\nneedle\n"), [hit(2, NOT_UTF8), hit(3, "needle")]);
        let utf16 = b"\xFF\xFEn\0\n\0";
        assert_eq!(lines(|on| search("n").bytes(utf16, false, on)), [hit(1, "n")]);
    }

    #[test]
    fn binary_is_what_holds_a_nul_early_unless_it_was_named() {
        let early = b"needle\n\0needle\n";
        assert!(is_binary(|on| search("needle").file(&early[..], false, on)));
        assert!(is_binary(|on| search("needle").bytes(early, false, on)));
        assert_eq!(found("needle", early), [hit(1, "needle"), hit(2, "\0needle")]);
        let late = [&b"x\n".repeat(SNIFF_BYTES / 2)[..], b"needle\0\n"].concat();
        assert_eq!(lines(|on| search("needle").file(&late[..], false, on)), [hit(4097, "needle\0")]);
    }

    #[test]
    fn pieces_are_one_text() {
        let text = "needle 1\nx\nneedle 2\n".repeat(50_000);
        let whole = lines(|on| search("needle").file(text.as_bytes(), false, on));
        assert_eq!(whole.len(), 100_000);
        assert_eq!(lines(|on| search("needle").bytes(text.as_bytes(), false, on)), whole);
        let by_piece = lines(|on| {
            let (mut search, mut hits) = (search("needle"), Hits::default());
            for piece in [&text[..20], &text[20..29], &text[29..]] {
                search.piece(piece, &mut hits, on).unwrap();
            }
            Searched::Whole(hits)
        });
        assert_eq!(by_piece, whole);
    }

    #[test]
    fn a_pattern_may_end_in_a_comment() {
        assert_eq!(found("(?x) need le # or so", b"needle\n"), [hit(1, "needle")]);
    }

    #[test]
    fn what_cannot_match_within_a_line_is_refused() {
        assert!(regex("a\\nb").is_err());
        assert!(regex("a\n").is_err());
        assert!(regex("(").is_err());
    }

    #[test]
    fn a_stopped_search_reads_no_further_and_takes_no_part_of_a_line_for_one() {
        let cancel = CancellationToken::new();
        let stop = Stop::new(cancel.clone(), Duration::from_secs(60));
        let mut search = LineSearch::new(regex("x$").unwrap(), stop);
        let reader = Cancelling { left: 4, cancel };
        assert_eq!(lines(|on| search.file(reader, true, on)), [hit(1, "x")]);
    }

    /// A line that matches and the beginning of one that does not, after which its reader is cancelled.
    struct Cancelling {
        left: usize,
        cancel: CancellationToken,
    }

    impl Read for Cancelling {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(b'x');
            if self.left == 4 {
                buffer[1] = b'\n';
            }
            self.left -= 1;
            if self.left == 0 {
                self.cancel.cancel();
            }
            Ok(buffer.len())
        }
    }
}
