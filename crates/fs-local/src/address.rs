//! Keys as other programs write them. A key is the absolute, canonical path, byte for byte.

use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use dsh_fs::FsTarget;

pub(crate) fn path(target: &FsTarget) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(target.key().as_bytes()))
}

/// `file://` and the path; every byte is percent-encoded that RFC 3986 does not allow in a path.
pub(crate) fn file_url(target: &FsTarget) -> String {
    let mut url = String::from("file://");
    for &byte in target.key().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@".contains(&byte) {
            url.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url
}

/// Equal, or below it: a test on whole segments.
pub(crate) fn contains(parent: &FsTarget, child: &FsTarget) -> bool {
    let (parent, child) = (parent.key().as_bytes(), child.key().as_bytes());
    child
        .strip_prefix(parent)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || parent.ends_with(b"/"))
}
