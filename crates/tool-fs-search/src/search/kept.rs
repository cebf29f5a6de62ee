//! Results of many threads, put in path order and bounded: what is kept is the beginning of the whole, whoever found it first.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::search::lines::{Hits, LINE_COST, MOST_KEPT};

/// Where a path stands among others: folder by folder, so that what is in a folder stays together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PathOrder(Vec<u8>);

impl PathOrder {
    pub(crate) fn of(path: &[u8]) -> Self {
        // No name holds a NUL, so it sorts before everything that a name may go on with.
        Self(path.iter().map(|&byte| if byte == b'/' { 0 } else { byte }).collect())
    }

    pub(crate) fn into_path(self) -> Vec<u8> {
        self.0.into_iter().map(|byte| if byte == 0 { b'/' } else { byte }).collect()
    }
}

/// The matching lines of all files so far.
#[derive(Debug)]
pub(crate) struct Kept {
    files: BTreeMap<PathOrder, Vec<(u64, Box<str>)>>,
    /// The first line that was let go: nothing from there on is kept.
    end: Option<(PathOrder, u64)>,
    total: u64,
    bytes: usize,
    most: usize,
}

impl Default for Kept {
    fn default() -> Self {
        Self { files: BTreeMap::new(), end: None, total: 0, bytes: 0, most: MOST_KEPT }
    }
}

impl Kept {
    /// Takes in the next lines that were found in a file. If that is too much, the last lines in order go.
    pub(crate) fn add(&mut self, path: &[u8], hits: Hits) {
        self.total += hits.lines.len() as u64;
        let path = PathOrder::of(path);
        let mut lines = hits.lines;
        if let Some((last, line)) = &self.end {
            match path.cmp(last) {
                Ordering::Less => {}
                Ordering::Equal => lines.retain(|(number, _)| number < line),
                Ordering::Greater => return,
            }
        }
        self.bytes += lines.iter().map(cost).sum::<usize>();
        if !lines.is_empty() {
            self.files.entry(path).or_default().append(&mut lines);
        }
        while self.bytes > self.most
            && let Some(mut last) = self.files.last_entry()
        {
            if let Some(line) = last.get_mut().pop() {
                self.bytes -= cost(&line);
                self.end = Some((last.key().clone(), line.0));
            }
            if last.get().is_empty() {
                last.remove();
            }
        }
    }

    /// How many lines match, kept or not.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The files in order with their lines.
    pub(crate) fn into_files(self) -> impl Iterator<Item = (Vec<u8>, Vec<(u64, Box<str>)>)> {
        self.files.into_iter().map(|(path, lines)| (path.into_path(), lines))
    }
}

fn cost((_, line): &(u64, Box<str>)) -> usize {
    line.len() + LINE_COST
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    fn hits(lines: &[&str]) -> Hits {
        let lines: Vec<_> = (1..).zip(lines).map(|(number, &line)| (number, line.into())).collect();
        let mut hits = Hits::default();
        hits.lines = lines;
        hits
    }

    fn paths(kept: Kept) -> Vec<(String, usize)> {
        kept.into_files().map(|(path, lines)| (String::from_utf8(path).unwrap(), lines.len())).collect()
    }

    #[test]
    fn what_is_in_a_folder_stays_together() {
        let mut kept = Kept::default();
        for path in ["a-b", "b", "a/z", "a.txt", "a/c/d"] {
            kept.add(path.as_bytes(), hits(&["x"]));
        }
        let expected = ["a/c/d", "a/z", "a-b", "a.txt", "b"].map(|path| (path.to_owned(), 1));
        assert_eq!(paths(kept), expected);
    }

    #[test]
    fn nothing_is_kept_behind_what_was_let_go() {
        let mut kept = Kept { most: 100 + 2 * LINE_COST, ..Kept::default() };
        kept.add(b"b", hits(&["x", &"y".repeat(120)]));
        kept.add(b"a", hits(&["x"]));
        kept.add(b"c", hits(&["x"]));
        let mut later = hits(&["x"]);
        later.lines[0].0 = 3;
        kept.add(b"b", later);
        assert_eq!(kept.total(), 5);
        assert_eq!(paths(kept), [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    }

    #[test]
    fn the_beginning_is_kept_whatever_came_first() {
        let line = "x".repeat(60);
        let add = |kept: &mut Kept, path: &str| kept.add(path.as_bytes(), hits(&[&line, &line, &line]));
        let one = 3 * (60 + LINE_COST);
        let orders = [["a", "b", "c", "d"], ["d", "c", "b", "a"], ["c", "a", "d", "b"]];
        for order in orders {
            let mut kept = Kept { most: 2 * one + 60 + LINE_COST, ..Kept::default() };
            for path in order {
                add(&mut kept, path);
            }
            assert_eq!(kept.total(), 12);
            assert_eq!(paths(kept), [("a".to_owned(), 3), ("b".to_owned(), 3), ("c".to_owned(), 1)]);
        }
    }
}
