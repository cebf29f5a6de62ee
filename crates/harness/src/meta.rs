//! [`Meta`]: what a result says to user interfaces.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;
use serde_json::value::{RawValue, to_raw_value};

/// Data for user interfaces (diffs, windows), never shown to the model: JSON that is written once, as text, and given on as
/// it is. Cheap to clone; most callers never look at it. Always one line, so that it may stand in one.
#[derive(Clone)]
pub struct Meta(Arc<RawValue>);

impl Meta {
    /// The value as JSON now; `null` (with a log line) for one that cannot be JSON.
    pub fn of(value: &(impl Serialize + ?Sized)) -> Self {
        let text = to_raw_value(value).unwrap_or_else(|error| {
            tracing::warn!(%error, "a tool's metadata is not JSON");
            RawValue::NULL.to_owned()
        });
        Self::one_line(text)
    }

    /// A serialiser writes no line breaks, but raw text in the value, or read from somewhere, may have some.
    fn one_line(text: Box<RawValue>) -> Self {
        let meta = Self(text.into());
        if meta.0.get().contains(['\n', '\r']) { meta.to_json().into() } else { meta }
    }

    /// The JSON read back into a type; fails if it is of another shape.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        serde_json::from_str(self.0.get())
    }

    /// The JSON as a tree.
    pub fn to_json(&self) -> Json {
        // The text was written by a serialiser, so it is JSON.
        self.read().unwrap_or_default()
    }
}

impl From<Json> for Meta {
    fn from(value: Json) -> Self {
        Self::of(&value)
    }
}

impl Serialize for Meta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Meta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::one_line)
    }
}

impl PartialEq for Meta {
    /// As JSON: the order of keys and white space do not count.
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get() || self.to_json() == other.to_json()
    }
}

impl fmt::Debug for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get())
    }
}

#[cfg(test)]
mod tests;
