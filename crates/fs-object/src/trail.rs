//! The trail: the last writes of an object, kept in its metadata, so that a writer whose answer was lost can tell whether
//! its write was applied.
//!
//! Equal bytes would not tell: of two agents that make the same edit of the same text, one has won, and both would find
//! "their" bytes. Each write therefore has a name of its own, and each replacement takes on the names before it, since
//! another agent's write may follow ours before we look.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

use dsh_fs::leftovers::STAGE_LETTERS;
use object_store::{Attribute, AttributeValue, Attributes};

/// The metadata key. Azure takes nothing but letters, digits and underscores.
const NAME: &str = "dshwrites";
/// How many names are kept. With a blank each they take 640 bytes of the 2 KiB that S3 gives to metadata; eight agents that
/// write one object as fast as they can need some seconds for as many writes.
const KEPT: usize = 64;
const LETTERS: usize = 9;
/// How much metadata an object can have on S3: the keys and values that are not the service's own.
const MOST_BYTES: usize = 2048;

/// The name of one write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WriteName(String);

impl WriteName {
    pub(crate) fn new() -> Self {
        Self(letters(LETTERS))
    }

    /// The metadata of an object with this write on it, made from that of the object before. What others keep there stays,
    /// and the oldest names make room for it.
    pub(crate) fn on(&self, before: &Attributes) -> Attributes {
        let mut after = before.clone();
        let room = MOST_BYTES.saturating_sub(of_others(before) + NAME.len());
        let earlier = (room / (LETTERS + 1)).saturating_sub(1).min(KEPT - 1);
        let earlier = names(before).rev().take(earlier).collect::<Vec<_>>();
        let trail: String =
            earlier.into_iter().rev().flat_map(|name| [name, " "]).chain([&*self.0]).collect();
        after.insert(key(), trail.into());
        after
    }

    /// How the write stands in the metadata of an object.
    pub(crate) fn found_in(&self, attributes: &Attributes) -> Applied {
        match names(attributes).rev().position(|name| name == self.0) {
            None => Applied::Unknown,
            Some(0) => Applied::Last,
            Some(_) => Applied::Passed,
        }
    }
}

/// Was a write applied?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Applied {
    /// It is what the object holds.
    Last,
    /// It was, and others have followed.
    Passed,
    /// It has left no trace.
    Unknown,
}

/// Letters that nobody can foresee: the keys of the standard library's hasher are random.
pub(crate) fn letters(count: usize) -> String {
    let mut bits = RandomState::new().hash_one(count);
    let letter = |_| {
        let letter = char::from(STAGE_LETTERS[usize::from(bits.to_le_bytes()[0] & 31)]);
        bits >>= 5;
        letter
    };
    (0..count).map(letter).collect()
}

fn key() -> Attribute {
    Attribute::Metadata(Cow::Borrowed(NAME))
}

fn names(attributes: &Attributes) -> impl DoubleEndedIterator<Item = &str> {
    let trail = attributes.get(&key()).map(AsRef::as_ref).unwrap_or_default();
    trail.split_ascii_whitespace().filter(|name| name.len() == LETTERS)
}

/// The bytes of metadata that are not the trail.
fn of_others(attributes: &Attributes) -> usize {
    let bytes = |(attribute, value): (&Attribute, &AttributeValue)| match attribute {
        Attribute::Metadata(name) if name != NAME => name.len() + value.len(),
        _ => 0,
    };
    attributes.iter().map(bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_found_until_as_many_as_are_kept_have_followed() {
        let mut attributes = Attributes::from_iter([(Attribute::ContentType, "text/plain")]);
        let first = WriteName::new();
        assert_eq!(first.found_in(&attributes), Applied::Unknown);
        attributes = first.on(&attributes);
        assert_eq!(first.found_in(&attributes), Applied::Last);
        for _ in 1..KEPT {
            attributes = WriteName::new().on(&attributes);
            assert_eq!(first.found_in(&attributes), Applied::Passed);
        }
        attributes = WriteName::new().on(&attributes);
        assert_eq!(first.found_in(&attributes), Applied::Unknown);
        assert_eq!(attributes.get(&key()).map(|trail| trail.len()), Some(KEPT * (LETTERS + 1) - 1));
        assert_eq!(attributes.get(&Attribute::ContentType).map(AsRef::as_ref), Some("text/plain"));
    }
    #[test]
    fn the_oldest_names_make_room_for_what_others_keep() {
        for (taken, kept) in [(0, KEPT), (1_394, KEPT), (1_395, KEPT - 1), (2_014, 2), (2_015, 1), (3_000, 1)]
        {
            let owner = "x".repeat(taken);
            let mut attributes = Attributes::from_iter([(Attribute::Metadata("owner".into()), owner)]);
            for _ in 0..=KEPT {
                attributes = WriteName::new().on(&attributes);
            }
            assert_eq!(names(&attributes).count(), kept, "{taken}");
        }
    }
}
