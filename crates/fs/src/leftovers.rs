//! Names of files that a publication leaves behind when it is killed or collides. No tool lists, searches or removes them
//! on its own; they are for people to see to.

/// What every stage file's name begins with.
pub const STAGE_PREFIX: &str = ".dsh-";
/// The letters that follow.
pub const STAGE_LETTERS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
/// How many of them.
pub const STAGE_LETTER_COUNT: usize = 12;
/// What is between a file's name and the number, in the name of a conflict file.
pub const CONFLICT_MARK: &[u8] = b".dsh-conflict-";

/// Is this the name of a stage file or of a conflict file?
pub fn is_leftover_name(name: &[u8]) -> bool {
    is_stage_name(name) || is_conflict_name(name)
}

/// Is this the name of a file that a mutation had not yet published: `.dsh-` and twelve of `0-9a-v`?
///
/// One that lies about for longer than a write takes was left by a process that was killed.
pub fn is_stage_name(name: &[u8]) -> bool {
    name.strip_prefix(STAGE_PREFIX.as_bytes()).is_some_and(|rest| {
        rest.len() == STAGE_LETTER_COUNT && rest.iter().all(|byte| STAGE_LETTERS.contains(byte))
    })
}

/// Is this the name of a file that somebody else wrote while we replaced it, and that could not be given back:
/// `<name>.dsh-conflict-<n>`, n from 1 up?
///
/// Such a file may hold the only copy of somebody's bytes.
pub fn is_conflict_name(name: &[u8]) -> bool {
    // The mark's own number is the last one: a conflict of a conflict is one too.
    let Some(at) = name.windows(CONFLICT_MARK.len()).rposition(|part| part == CONFLICT_MARK) else {
        return false;
    };
    let number = &name[at + CONFLICT_MARK.len()..];
    at > 0 && !number.is_empty() && number[0] != b'0' && number.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflict_names_are_told_from_others() {
        for name in [
            "a.dsh-conflict-1",
            "a.txt.dsh-conflict-10",
            ".a.dsh-conflict-9",
            "a.dsh-conflict-1.dsh-conflict-2",
        ] {
            assert!(is_conflict_name(name.as_bytes()), "{name}");
        }
        for name in [
            "a",
            ".dsh-conflict-1",
            "a.dsh-conflict-",
            "a.dsh-conflict-0",
            "a.dsh-conflict-01",
            "a.dsh-conflict-1x",
            "",
        ] {
            assert!(!is_conflict_name(name.as_bytes()), "{name}");
        }
        assert!(is_conflict_name(b"\xFF.dsh-conflict-3"));
    }

    #[test]
    fn stage_names_are_told_from_others() {
        assert!(is_stage_name(b".dsh-0123456789av"));
        for name in
            [".dsh-", ".dsh-0123456789aw", ".dsh-0123456789a", ".dsh-0123456789avv", "dsh-0123456789av"]
        {
            assert!(!is_stage_name(name.as_bytes()), "{name}");
        }
    }
}
