//! Messages about names that do not exist: what does, and what may have been meant.

/// `unknown setting "readLimt" (did you mean "readLimit"?); known: readLimit, readMaxBytes`.
///
/// `shown` is the name as it is printed, `name` the part of it that is compared.
pub(crate) fn unknown(what: &str, shown: &str, name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return format!("unknown {what} \"{shown}\"; there are none");
    }
    let meant = match nearest(name, known) {
        Some(nearest) => format!(" (did you mean \"{nearest}\"?)"),
        None => String::new(),
    };
    format!("unknown {what} \"{shown}\"{meant}; known: {}", known.join(", "))
}

/// The known name that was cut short, or else the one with the fewest edits if they are at most a third of the name.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if name.len() > 2
        && let Some(longer) = known.iter().find(|known| known.starts_with(name))
    {
        return Some(longer);
    }
    let (distance, nearest) = known.iter().map(|known| (distance(name, known), *known)).min()?;
    (distance * 3 <= name.chars().count()).then_some(nearest)
}

/// Levenshtein's distance, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
