//! YAML text into [`Node`]s. The only module that knows the YAML library.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::MergeKeyPolicy;
use serde_saphyr::{
    MessageFormatter as _, Spanned, UserMessageFormatter, alias_limits, budget, from_str_with_options,
    options,
};

use crate::node::{Entry, Node, Value};
use crate::settings::SettingsError;

/// Reads one document; `None` if there is none.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, SettingsError> {
    // Generous for a composition, and out of reach of documents made to explode.
    let options = options! {
        budget: budget! {
            max_events: 100_000,
            max_nodes: 50_000,
            max_depth: 64,
            max_documents: 2,
            max_aliases: 1_000,
            max_anchors: 1_000,
        },
        alias_limits: alias_limits! {
            max_total_replayed_events: 100_000,
        },
        merge_keys: MergeKeyPolicy::Error,
        reject_unsupported_tags: true,
        strict_booleans: true,
        with_snippet: false,
    };
    from_str_with_options::<Option<Spanned<Value>>>(text, options)
        .map(|top| top.map(node))
        .map_err(|error| unreadable(&error))
}

/// The library's message for people, without its own way of saying where.
fn unreadable(error: &serde_saphyr::Error) -> SettingsError {
    let message = UserMessageFormatter.format_message(error);
    match error.location() {
        Some(at) => {
            SettingsError::at(line(at.line()), format!("not valid YAML: {message} (column {})", at.column()))
        }
        None => SettingsError::at(0, format!("not valid YAML: {message}")),
    }
}

fn node(spanned: Spanned<Value>) -> Node {
    Node { line: line(spanned.referenced.line()), value: spanned.value }
}

fn line(line: u64) -> usize {
    usize::try_from(line).unwrap_or(0)
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Unsigned(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(u64::try_from(value).map_or(Value::Signed(value), Value::Unsigned))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Spanned<Value>>()? {
            list.push(node(item));
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some((key, value)) = entries.next_entry::<Spanned<String>, Spanned<Value>>()? {
            map.push(Entry { line: line(key.referenced.line()), key: key.value, value: node(value) });
        }
        Ok(Value::Map(map))
    }
}
