//! Paths and keys: what a path as written means, and which object holds it.
//!
//! The prefix of the URL is `/`. Below it a path is its own key, with two exceptions that keep every name apart from every
//! other: an ASCII control character, which keys cannot have, is written `%0A` (and on Azure, which takes a `\\` for a `/`, so
//! is that: `%5C`); and a `%` that would then be taken for the beginning of one is written `%25`. Any other `%` stays, so that
//! the keys of other programs are found as they are.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use dsh_fs::{FsError, FsTarget, TargetKey};
use object_store::ObjectStoreScheme;
use object_store::path::Path as Key;
use url::Url;

/// The longest key, in bytes with the prefix: that of S3, which no other store goes below.
const LONGEST_KEY: usize = 1024;

/// Where the workspace lies in its store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// The key of `/`; may be empty.
    prefix: Key,
    /// The URL of `/`, without a slash at its end.
    url: String,
    code: Code,
}

/// Which characters are written otherwise in keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Code {
    backslash: bool,
}

/// No object can have the key of this path.
#[derive(Debug, thiserror::Error)]
#[error("the key would be longer than {LONGEST_KEY} bytes")]
pub(crate) struct KeyTooLong;

impl Address {
    pub(crate) fn new(prefix: Key, url: &str) -> Self {
        let scheme = Url::parse(url).ok().and_then(|url| ObjectStoreScheme::parse(&url).ok());
        let is_azure = scheme.is_some_and(|(scheme, _)| scheme == ObjectStoreScheme::MicrosoftAzure);
        Self { prefix, url: url.trim_end_matches('/').to_owned(), code: Code { backslash: is_azure } }
    }

    /// The object of a path made by [`absolute`]; [`KeyTooLong`] is the source of the error where there can be none.
    pub(crate) fn key(&self, path: &str) -> Result<Key, object_store::Error> {
        let prefix = self.prefix.as_ref();
        let key = Key::parse(format!("{prefix}{}", self.code.encoded(path)))?;
        if key.as_ref().len() > LONGEST_KEY {
            return Err(object_store::Error::NotSupported { source: Box::new(KeyTooLong) });
        }
        Ok(key)
    }

    /// The name of a child in a listing of its folder.
    pub(crate) fn name(&self, key: &Key) -> String {
        self.code.decoded(key.filename().unwrap_or_default())
    }

    pub(crate) fn url(&self, path: &str) -> String {
        let mut url = self.url.clone();
        for &byte in path.as_bytes() {
            if byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@".contains(&byte) {
                url.push(char::from(byte));
            } else {
                // Writing to a string cannot fail.
                let _ = write!(url, "%{byte:02X}");
            }
        }
        url
    }
}

/// What a path as written means: absolute, with `.`, `..` and repeated slashes folded away.
pub(crate) fn absolute(path: &str, cwd: Option<&Path>) -> Result<String, FsError> {
    if path.trim().is_empty() {
        return Err(FsError::blank_path());
    }
    if path.contains('\0') {
        return Err(FsError::nul_in_path());
    }
    let base = if path.starts_with('/') { "" } else { cwd.and_then(Path::to_str).unwrap_or_default() };
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    Ok(format!("/{}", parts.join("/")))
}

/// A path made by [`absolute`], as a target.
pub(crate) fn target(path: &str) -> FsTarget {
    FsTarget::new(TargetKey::new(path.as_bytes()), path)
}

/// The path that a target was made from; a foreign one means the top.
pub(crate) fn path(target: &FsTarget) -> &str {
    std::str::from_utf8(target.key().as_bytes()).unwrap_or("/")
}

/// The path of a child.
pub(crate) fn below(folder: &str, name: &str) -> String {
    format!("{}/{name}", folder.trim_end_matches('/'))
}

/// The folders of a path, the nearest first, without the top.
pub(crate) fn folders(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = path;
    std::iter::from_fn(move || {
        rest = rest.rsplit_once('/')?.0;
        (!rest.is_empty()).then_some(rest)
    })
}

/// Is `child` the same as `parent` or below it? A test on whole names.
pub(crate) fn contains(parent: &str, child: &str) -> bool {
    child.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || parent == "/")
}

impl Code {
    fn holds(self, byte: u8) -> bool {
        byte.is_ascii_control() || (self.backslash && byte == b'\\')
    }

    fn encoded(self, path: &str) -> Cow<'_, str> {
        let needs =
            |(at, byte): (usize, &u8)| self.holds(*byte) || (*byte == b'%' && self.begins(&path[at..]));
        if !path.as_bytes().iter().enumerate().any(needs) {
            return Cow::Borrowed(path);
        }
        let mut key = String::with_capacity(path.len() + 8);
        for (at, character) in path.char_indices() {
            match u8::try_from(character) {
                // Writing to a string cannot fail.
                Ok(byte) if self.holds(byte) => drop(write!(key, "%{byte:02X}")),
                Ok(b'%') if self.begins(&path[at..]) => key.push_str("%25"),
                _ => key.push(character),
            }
        }
        Cow::Owned(key)
    }

    fn decoded(self, key: &str) -> String {
        let mut name = String::with_capacity(key.len());
        let mut rest = key;
        while let Some(at) = rest.find('%') {
            name.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(character) = self.character(&rest[1..]) {
                name.push(character);
                rest = &rest[3..];
            } else {
                name.push('%');
                rest = &rest[if self.begins(rest) { 3 } else { 1 }..];
            }
        }
        name + rest
    }

    /// Is this a `%`, any number of `25`, and the two digits of a character that is written otherwise?
    fn begins(self, text: &str) -> bool {
        let mut rest = &text[1..];
        while let Some(more) = rest.strip_prefix("25") {
            rest = more;
        }
        self.character(rest).is_some()
    }

    /// The character whose two capital digits a text begins with.
    fn character(self, text: &str) -> Option<char> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte);
        let digits = text.get(..2).filter(|digits| digits.bytes().all(is_digit))?;
        let byte = u8::from_str_radix(digits, 16).ok()?;
        self.holds(byte).then_some(char::from(byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_key_of_its_own() {
        for (name, key) in [
            ("a b", "a b"),
            ("a\nb", "a%0Ab"),
            ("a%0Ab", "a%250Ab"),
            ("a%250Ab", "a%25250Ab"),
            ("%", "%"),
            ("%25", "%25"),
            ("%0a", "%0a"),
            ("%41", "%41"),
            ("100%", "100%"),
            ("\u{7f}%7F", "%7F%257F"),
            ("%%1B", "%%251B"),
            ("%+1", "%+1"),
            ("\u{e9}%\u{e9}", "\u{e9}%\u{e9}"),
        ] {
            let code = Code { backslash: false };
            assert_eq!(code.encoded(name), key, "{name:?}");
            assert_eq!(code.decoded(key), name, "{key:?}");
        }
        for (backslash, name, key) in [(false, "a\\b%5C", "a\\b%5C"), (true, "a\\b%5C", "a%5Cb%255C")] {
            let code = Code { backslash };
            assert_eq!(code.encoded(name), key);
            assert_eq!(code.decoded(key), name);
        }
    }

    #[test]
    fn folders_come_from_the_nearest_up() {
        assert_eq!(folders("/a/b/c").collect::<Vec<_>>(), ["/a/b", "/a"]);
        assert_eq!(folders("/a").count() + folders("/").count(), 0);
    }

    fn address(prefix: &str) -> Address {
        Address::new(Key::parse(prefix).unwrap_or_default(), "s3://b")
    }

    #[test]
    fn a_key_has_1024_bytes_at_most_with_its_prefix() {
        for (prefix, name, fits) in [
            ("", "x".repeat(1024), true),
            ("", "x".repeat(1025), false),
            ("p/q", "x".repeat(1020), true),
            ("p/q", "x".repeat(1021), false),
            ("", "\n".repeat(342), false),
        ] {
            assert_eq!(address(prefix).key(&format!("/{name}")).is_ok(), fits, "{prefix} {}", name.len());
        }
    }

    #[test]
    fn keys_lie_below_the_prefix() {
        for (prefix, path, key) in
            [("", "/", ""), ("", "/a/b", "a/b"), ("p/q", "/", "p/q"), ("p/q", "/a\tb", "p/q/a%09b")]
        {
            assert_eq!(
                address(prefix).key(path).map(String::from).ok().as_deref(),
                Some(key),
                "{prefix} {path}"
            );
        }
    }
}
