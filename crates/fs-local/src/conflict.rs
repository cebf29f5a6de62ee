//! Files of other programs that could not be given back: they stay beside the target under a name that says so.

use std::os::fd::BorrowedFd;

use dsh_fs::leftovers::CONFLICT_MARK;
use rustix::io::Errno;

use crate::capabilities::Fallbacks;
use crate::create::rename_new;

/// The longest name that Linux file systems take, in bytes.
const LONGEST_NAME: usize = 255;
/// A name that every file system takes, some of which encrypt or encode names.
const SHORT_NAME: usize = 120;
const MOST: u32 = 9999;

/// Gives what is under the hidden name a name that says what it is, and tells it. The hidden name stays where
/// nothing else can be done: then it is told.
pub(crate) fn keep(folder: BorrowedFd<'_>, hidden: &str, name: &[u8], without: Fallbacks) -> Vec<u8> {
    let mut longest = LONGEST_NAME;
    let mut number = 1;
    while number <= MOST {
        let kept = conflict_name(name, number, longest);
        match rename_new(folder, hidden.as_bytes(), &kept, without) {
            Ok(()) => return kept,
            Err(Errno::EXIST) => number += 1,
            Err(Errno::NAMETOOLONG) if longest > SHORT_NAME => longest = SHORT_NAME,
            Err(Errno::INTR) => {}
            Err(error) => {
                tracing::warn!(hidden, %error, "another program's file stays under a hidden name");
                break;
            }
        }
    }
    hidden.as_bytes().to_vec()
}

fn conflict_name(name: &[u8], number: u32, longest: usize) -> Vec<u8> {
    let number = number.to_string();
    let mut room = longest - CONFLICT_MARK.len() - number.len();
    if name.len() > room {
        // Not in the middle of a character.
        while room > 1 && name[room] & 0xC0 == 0x80 {
            room -= 1;
        }
    }
    [&name[..name.len().min(room)], CONFLICT_MARK, number.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use dsh_fs::leftovers::is_conflict_name;

    use super::*;

    #[test]
    fn a_long_name_is_cut_between_two_characters() {
        let name = "é".repeat(127);
        let kept = conflict_name(name.as_bytes(), 12, LONGEST_NAME);
        assert_eq!(kept, [&name.as_bytes()[..238], b".dsh-conflict-12"].concat());
        assert!(std::str::from_utf8(&kept).is_ok() && is_conflict_name(&kept));
        assert_eq!(conflict_name(b"a.txt", 1, LONGEST_NAME), b"a.txt.dsh-conflict-1");
    }
}
