//! What is refused of a glob before anything is searched: forms that other tools give a meaning which this one does not.

/// Whether the glob asks for what does not match it.
pub(crate) fn is_negated(glob: &str) -> bool {
    glob.starts_with('!')
}

/// Whether a comma stands outside braces, as in `*.ts,*.js`.
pub(crate) fn is_list(glob: &str) -> bool {
    let mut depth = 0_usize;
    glob.chars().any(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

/// The glob without what stands for itself: characters behind a backslash, and classes.
pub(crate) fn unquoted(glob: &str) -> String {
    let mut plain = String::new();
    let mut chars = glob.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => {
                chars.next_if(|&c| c == '!' || c == '^');
                // In the first place a bracket is a member.
                chars.next_if_eq(&']');
                chars.by_ref().find(|&c| c == ']');
            }
            c => plain.push(c),
        }
    }
    plain
}

/// Whether a part of the glob means the folder above.
pub(crate) fn climbs(glob: &str) -> bool {
    glob.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_outside_braces_makes_a_list() {
        let lists = ["a,b", ",", "{a,b},c", "}a,b", "{a}}b,c", "a\\,b"];
        assert_eq!(lists.map(is_list), [true; 6]);
        let single = ["a", "", "{a,b}", "{a,{b,c}},d}", "{{a,b},c}", "{a,b"];
        assert_eq!(single.map(is_list), [false, false, false, true, false, false]);
    }

    #[test]
    fn what_is_quoted_is_no_list() {
        let listed = |glob| is_list(&unquoted(glob));
        let plain = ["a\\,b", "a[,]b", "a[],]b", "a[!],]b", "a[^,]b", "\\{a}\\,b", "[\\],x"];
        assert_eq!(plain.map(listed), [false, false, false, false, false, false, true]);
        assert_eq!(["\\{a,b}", "[{]a,b", "a\\\\,b", "a[]],b"].map(listed), [true; 4]);
        assert_eq!(["a\\", "a[", "a[,", "a[!]"].map(listed), [false; 4]);
    }

    #[test]
    fn only_a_whole_part_climbs() {
        assert_eq!(["..", "../a", "a/../b", "a/.."].map(climbs), [true; 4]);
        assert_eq!(["...", "a..b", "..a/b", "./a", "a/.b"].map(climbs), [false; 5]);
    }
}
