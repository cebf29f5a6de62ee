//! Names that may have been meant by one that is not there.

use crate::hint::fold::skeleton;

/// How a name resembles another one; the closest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Likeness {
    /// The same but for letter case.
    Case,
    /// The same to a reader: signs that look alike, other blanks, another Unicode form.
    LookAlike,
    /// A slip of this many characters.
    Slip(usize),
}

impl Likeness {
    /// What a model is told of it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Case => "other letter case",
            Self::LookAlike => "characters that look alike",
            Self::Slip(_) => "a similar name",
        }
    }
}

/// How `there` resembles `wanted`; `None` where it does not, or is the same.
pub(crate) fn likeness(wanted: &str, there: &str) -> Option<Likeness> {
    if wanted == there {
        return None;
    }
    let (a, b) = (wanted.to_lowercase(), there.to_lowercase());
    if a == b {
        return Some(Likeness::Case);
    }
    if skeleton(wanted) == skeleton(there) {
        return Some(Likeness::LookAlike);
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let most = match a.len().max(b.len()) {
        0..=2 => 0,
        3..=7 => 1,
        8..=11 => 2,
        _ => 3,
    };
    distance(&a, &b, most).map(Likeness::Slip)
}

/// Insertions, deletions, replacements and swaps of neighbours that make one of the other, if they are not too many.
fn distance(a: &[char], b: &[char], most: usize) -> Option<usize> {
    /// A name of a file has 255 bytes at most.
    const LONGEST: usize = 255;
    if a.len().abs_diff(b.len()) > most || a.len().max(b.len()) > LONGEST {
        return None;
    }
    let mut rows = [vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<usize>>(), vec![0; b.len() + 1]];
    for (i, &x) in a.iter().enumerate() {
        let [earlier, above, row] = &mut rows;
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let mut least = (above[j] + usize::from(x != y)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                least = least.min(earlier[j - 1] + 1);
            }
            row[j + 1] = least;
        }
        rows.rotate_left(1);
    }
    rows[1].last().copied().filter(|&distance| distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_alike_by_case_by_looks_or_by_a_slip() {
        for (wanted, there, like) in [
            ("Main.rs", "main.rs", Some(Likeness::Case)),
            ("it’s.txt", "it's.txt", Some(Likeness::LookAlike)),
            ("cafe\u{301}.txt", "caf\u{e9}.txt", Some(Likeness::LookAlike)),
            ("mian.rs", "main.rs", Some(Likeness::Slip(1))),
            ("README.md", "REEDME.md", Some(Likeness::Slip(1))),
            ("configuration.yaml", "configurations.yml", Some(Likeness::Slip(2))),
            ("a", "b", None),
            ("ab", "ba", None),
            ("abc", "acb", Some(Likeness::Slip(1))),
            ("main.rs", "main.rs", None),
            ("main.rs", "tests.rs", None),
            ("a.rs", "abc.rs", None),
        ] {
            assert_eq!(likeness(wanted, there), like, "{wanted} {there}");
        }
    }
}
