//! The digest that versions are made of: which bytes a file held.

use std::fmt;

use xxhash_rust::xxh3::Xxh3;

/// What a run of bytes was: xxh3 (128 bit) over all of them, and how many they were.
///
/// A guard against change, not against someone who builds collisions. Two equal digests are taken for equal bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    hash: u128,
    len: u64,
}

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self { hash: xxhash_rust::xxh3::xxh3_128(bytes), len: bytes.len() as u64 }
    }

    /// How many bytes there were.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Were there no bytes at all?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads back what [`Display`](fmt::Display) wrote; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (hash, len) = text.split_once('+')?;
        let digest = Self { hash: u128::from_str_radix(hash, 16).ok()?, len: len.parse().ok()? };
        // The number parsers take signs, capitals and any number of zeros; `Display` writes one form.
        (digest.to_string() == text).then_some(digest)
    }
}

/// `<32 hex digits>+<length in bytes, decimal>`.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}+{}", self.hash, self.len)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// A digest in the making, for bytes that come block by block.
#[derive(Default)]
pub struct Digester {
    state: Xxh3,
    len: u64,
}

impl Digester {
    /// Starts with no bytes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes.
    pub fn update(&mut self, block: &[u8]) {
        self.state.update(block);
        self.len += block.len() as u64;
    }

    /// The digest of all bytes taken so far.
    pub fn finish(&self) -> Digest {
        Digest { hash: self.state.digest128(), len: self.len }
    }
}

impl fmt::Debug for Digester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digester({} bytes)", self.len)
    }
}
