//! A page of a list of paths that is too long to show, fair to every top-level entry.

use std::collections::HashMap;

#[cfg(test)]
mod tests;

/// Some of the paths, and how they are spread.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sample<'a> {
    /// By entry, the entries in the order in which the list first names them; within an entry in the list's order.
    pub(crate) paths: Vec<&'a str>,
    /// How many entries have a path on the page.
    pub(crate) shown: usize,
    /// How many entries there are.
    pub(crate) entries: usize,
}

/// At most `cap` paths: one of each entry in turn, and again, until the page is full.
///
/// An entry is what stands first below `root`, a folder or a file.
pub(crate) fn sample<'a>(root: &str, paths: &'a [String], cap: usize) -> Sample<'a> {
    let entries = by_entry(root, paths);
    let mut taken = vec![0; entries.len()];
    let mut left = cap;
    let mut open: Vec<usize> = (0..entries.len()).collect();
    while left > 0 && !open.is_empty() {
        open.retain(|&entry| {
            if left > 0 {
                left -= 1;
                taken[entry] += 1;
            }
            taken[entry] < entries[entry].len()
        });
    }
    Sample {
        paths: entries.iter().zip(&taken).flat_map(|(paths, &taken)| &paths[..taken]).copied().collect(),
        shown: taken.iter().filter(|&&taken| taken > 0).count(),
        entries: entries.len(),
    }
}

fn by_entry<'a>(root: &str, paths: &'a [String]) -> Vec<Vec<&'a str>> {
    let root = bare(root);
    let mut entries: Vec<Vec<&str>> = Vec::new();
    let mut places = HashMap::new();
    for path in paths {
        let place = *places.entry(entry_of(root, path)).or_insert(entries.len());
        if place == entries.len() {
            entries.push(Vec::new());
        }
        entries[place].push(path);
    }
    entries
}

/// The first name below the root; empty for the root itself. What lies elsewhere is taken as it is written.
fn entry_of<'a>(root: &str, path: &'a str) -> &'a str {
    let path = bare(path);
    let below =
        path.strip_prefix(root).filter(|rest| root.is_empty() || rest.is_empty() || rest.starts_with('/'));
    let below = below.unwrap_or(path).trim_start_matches('/');
    below.split_once('/').map_or(below, |(entry, _)| entry)
}

/// A path without `./` before it and slashes behind it; empty for `.`.
fn bare(mut path: &str) -> &str {
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    match path.trim_end_matches('/') {
        "." => "",
        path => path,
    }
}
