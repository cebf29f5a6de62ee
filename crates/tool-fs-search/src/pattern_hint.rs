//! What follows a pattern that cannot be understood (`patternHints`): the character at fault, and the pattern that finds the
//! text itself.

use globset::{Error, ErrorKind, GlobBuilder};

use crate::search::lines;

/// The most bytes of a hint; where the pattern does not fit, it is not repeated.
const MOST_BYTES: usize = 600;

/// The reason with its hint, after a blank line; as it is where there is none.
pub(crate) fn with_hint(reason: String, hint: Option<String>) -> String {
    match hint {
        Some(hint) => format!("{reason}\n\n{hint}"),
        None => reason,
    }
}

/// For a regular expression that was refused.
pub(crate) fn of_regex(pattern: &str) -> Option<String> {
    if pattern.contains('\n') {
        return Some("A pattern finds text within one line. Search for one of the lines.".to_owned());
    }
    let at = match regex_syntax::Parser::new().parse(pattern) {
        Err(regex_syntax::Error::Parse(error)) => Some(error.span().start.offset),
        Err(regex_syntax::Error::Translate(error)) => Some(error.span().start.offset),
        _ => None,
    };
    let literal = regex_syntax::escape(pattern);
    let literal = (literal != pattern && lines::regex(&literal).is_ok()).then_some(literal);
    hint(pattern, at, literal)
}

/// For a glob that was refused.
pub(crate) fn of_glob(pattern: &str) -> Option<String> {
    let literal: String = pattern.chars().flat_map(quoted).collect();
    let kind = parse(pattern).err()?;
    let literal = (literal != pattern && parse(&literal).is_ok()).then_some(literal);
    hint(pattern, fault(pattern, kind.kind()), literal)
}

fn parse(pattern: &str) -> Result<(), Error> {
    GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build().map(drop)
}

fn hint(pattern: &str, at: Option<usize>, literal: Option<String>) -> Option<String> {
    let mut parts = Vec::new();
    let found =
        at.and_then(|at| Some((pattern.get(..at)?.chars().count() + 1, pattern[at..].chars().next())));
    parts.extend(found.map(|(number, character)| match character {
        Some(character) => format!("At fault: `{character}`, character {number}."),
        None => "At fault: the end of the pattern, where something is missing.".to_owned(),
    }));
    parts.extend(literal.map(|literal| format!("To find the text itself, use the pattern: {literal}")));
    let hint = parts.join(" ");
    (!hint.is_empty() && hint.len() <= MOST_BYTES).then_some(hint)
}

/// The character as one that stands for itself; a comma too, or the glob could be taken for a list of them.
fn quoted(character: char) -> impl Iterator<Item = char> {
    let special = matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!' | ',');
    special.then_some('\\').into_iter().chain([character])
}

/// Where the glob goes wrong; the parser tells only how.
fn fault(pattern: &str, kind: &ErrorKind) -> Option<usize> {
    let mut open = Vec::new();
    let mut characters = pattern.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            // The next one stands for itself.
            '\\' if characters.next().is_none() => return Some(at),
            '[' => {
                let class = &pattern[at..];
                // In the first place a bracket is a member.
                let first = 1 + usize::from(class[1..].starts_with(['!', '^']));
                let members = class.get(first..)?;
                let Some(end) = members.char_indices().skip(1).find(|(_, c)| *c == ']').map(|(end, _)| end)
                else {
                    return Some(at);
                };
                if let ErrorKind::InvalidRange(from, to) = kind
                    && let Some(range) = members[..end].find(&format!("{from}-{to}"))
                {
                    return Some(at + first + range);
                }
                while characters.next_if(|(next, _)| *next <= at + first + end).is_some() {}
            }
            '{' => open.push(at),
            '}' if open.pop().is_none() => return Some(at),
            _ => {}
        }
    }
    open.pop()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::one_glob::{climbs, is_list, is_negated, unquoted};

    #[test]
    fn a_glob_is_pointed_into_and_quoted() {
        for (pattern, expected) in [
            ("{a", "At fault: `{`, character 1. To find the text itself, use the pattern: \\{a"),
            ("é/a[", "At fault: `[`, character 4. To find the text itself, use the pattern: é/a\\["),
            ("x[!]", "At fault: `[`, character 2. To find the text itself, use the pattern: x\\[\\!\\]"),
            ("x[bz-a]", "At fault: `z`, character 4. To find the text itself, use the pattern: x\\[bz-a\\]"),
            ("a}b", "At fault: `}`, character 2. To find the text itself, use the pattern: a\\}b"),
            ("{a,b", "At fault: `{`, character 1. To find the text itself, use the pattern: \\{a\\,b"),
            ("a\\", "At fault: `\\`, character 2. To find the text itself, use the pattern: a\\\\"),
            (
                "[{]/{x",
                "At fault: `{`, character 5. To find the text itself, use the pattern: \\[\\{\\]/\\{x",
            ),
        ] {
            assert_eq!(of_glob(pattern).as_deref(), Some(expected), "{pattern}");
        }
        assert_eq!(of_glob("*.rs"), None);
    }

    #[test]
    fn the_glob_that_is_offered_is_taken_and_finds_the_text() {
        for pattern in ["{a,b", "{a,{b,c}", "[,{", "x,{[", "![", "a}b", "a,b\\", "x[!]"] {
            let hint = of_glob(pattern).unwrap_or_default();
            let offered =
                hint.split_once("use the pattern: ").map(|(_, offered)| offered).unwrap_or_default();
            let refused = is_negated(offered) || is_list(&unquoted(offered)) || climbs(offered);
            assert!(!refused, "{offered}");
            let glob = GlobBuilder::new(offered).literal_separator(true).backslash_escape(true).build();
            assert!(glob.is_ok_and(|glob| glob.compile_matcher().is_match(pattern)), "{pattern}: {offered}");
        }
    }

    #[test]
    fn a_regular_expression_is_pointed_into_and_quoted() {
        for (pattern, expected) in [
            ("f(x", "At fault: `(`, character 2. To find the text itself, use the pattern: f\\(x"),
            ("*a", "At fault: `*`, character 1. To find the text itself, use the pattern: \\*a"),
            ("é[z-a]", "At fault: `z`, character 3. To find the text itself, use the pattern: é\\[z\\-a\\]"),
            ("a{2,1}", "At fault: `{`, character 2. To find the text itself, use the pattern: a\\{2,1\\}"),
            (
                "\\p{Nope}",
                "At fault: `\\`, character 1. To find the text itself, use the pattern: \\\\p\\{Nope\\}",
            ),
            ("a\nb", "A pattern finds text within one line. Search for one of the lines."),
        ] {
            assert_eq!(of_regex(pattern).as_deref(), Some(expected), "{pattern}");
        }
    }

    #[test]
    fn what_does_not_fit_is_not_repeated() {
        assert_eq!(of_regex(&"(".repeat(400)), None);
    }
}
