//! Settings of a row, with the line each stands on, read into a plugin's `Config`.

use std::fmt;

use serde::de::{self, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use crate::known::unknown;
use crate::node::{Entry, Node, Value};

/// What is wrong with a setting, and on which line (0 if unknown).
#[derive(Debug)]
pub(crate) struct SettingsError {
    pub(crate) line: usize,
    pub(crate) message: String,
    placed: bool,
}

impl SettingsError {
    /// An error on this line (0 if unknown).
    pub(crate) fn at(line: usize, message: String) -> Self {
        Self { line, message, placed: true }
    }
}

/// Reads settings into a configuration. Keys it does not have are refused, with the list of those it has; a key whose
/// value is null counts as absent.
///
/// `known` are the keys of the configuration's schema. They are used where serde does not say which keys there are,
/// which is so when a type flattens another.
pub(crate) fn read<T: de::DeserializeOwned>(node: &Node, known: Option<&[&str]>) -> Result<T, SettingsError> {
    let empty = Node { line: node.line, value: Value::Map(Vec::new()) };
    let node = match node.value {
        Value::Null => &empty,
        Value::Map(_) => node,
        _ => {
            let message = format!("config must be a mapping of settings, not {}", node.value.kind());
            return Err(SettingsError::at(node.line, message));
        }
    };
    T::deserialize(Reader { node, path: String::new(), known })
        .map_err(|error| if error.placed { error } else { SettingsError { line: node.line, ..error } })
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SettingsError {}

impl de::Error for SettingsError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { line: 0, message: message.to_string(), placed: false }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::custom(format_args!("missing required setting \"{field}\""))
    }
}

/// Reads one value.
struct Reader<'a> {
    node: &'a Node,
    /// Of the value within the settings, such as `limits.bytes`; empty at the top.
    path: String,
    known: Option<&'a [&'a str]>,
}

impl<'a> Reader<'a> {
    fn check_keys(&self, known: &[&str]) -> Result<(), SettingsError> {
        let Value::Map(entries) = &self.node.value else { return Ok(()) };
        match entries.iter().find(|entry| !known.contains(&entry.key.as_str())) {
            None => Ok(()),
            Some(entry) => {
                let message = unknown("setting", &join(&self.path, &entry.key), &entry.key, known);
                Err(SettingsError::at(entry.line, message))
            }
        }
    }

    fn entries(&self, skip_nulls: bool) -> Entries<'a> {
        let entries = match &self.node.value {
            Value::Map(entries) => entries.as_slice(),
            _ => &[],
        };
        Entries { rest: entries.iter(), value: None, path: self.path.clone(), skip_nulls }
    }
}

impl<'de> de::Deserializer<'de> for Reader<'_> {
    type Error = SettingsError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SettingsError> {
        match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Unsigned(value) => visitor.visit_u64(*value),
            Value::Signed(value) => visitor.visit_i64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(text) => visitor.visit_str(text),
            Value::List(items) => {
                visitor.visit_seq(Items { items: items.iter().enumerate(), path: self.path })
            }
            Value::Map(_) => {
                if let Some(known) = self.known {
                    self.check_keys(known)?;
                }
                visitor.visit_map(self.entries(self.known.is_some()))
            }
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SettingsError> {
        if !matches!(self.node.value, Value::Map(_)) {
            return self.deserialize_any(visitor);
        }
        self.check_keys(fields)?;
        visitor.visit_map(self.entries(true))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SettingsError> {
        match self.node.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, SettingsError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SettingsError> {
        match &self.node.value {
            Value::Text(text) => visitor.visit_enum(text.as_str().into_deserializer()),
            _ => self.node.to_json().deserialize_enum(name, variants, visitor).map_err(de::Error::custom),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SettingsError> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier
    }
}

struct Entries<'a> {
    rest: std::slice::Iter<'a, Entry>,
    value: Option<&'a Entry>,
    path: String,
    skip_nulls: bool,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = SettingsError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, SettingsError> {
        let skip_nulls = self.skip_nulls;
        self.value =
            self.rest.by_ref().find(|entry| !skip_nulls || !matches!(entry.value.value, Value::Null));
        let Some(entry) = self.value else { return Ok(None) };
        place(seed.deserialize(entry.key.as_str().into_deserializer()), entry.line, &self.path, &entry.key)
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, SettingsError> {
        let Some(entry) = self.value.take() else { return Err(de::Error::custom("value without a key")) };
        let reader = Reader { node: &entry.value, path: join(&self.path, &entry.key), known: None };
        place(seed.deserialize(reader), entry.line, &self.path, &entry.key)
    }
}

struct Items<'a> {
    items: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
    path: String,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = SettingsError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, SettingsError> {
        let Some((index, node)) = self.items.next() else { return Ok(None) };
        let key = index.to_string();
        let reader = Reader { node, path: join(&self.path, &key), known: None };
        place(seed.deserialize(reader), node.line, &self.path, &key).map(Some)
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Says of an error that has no place yet that it is about this setting.
fn place<T>(
    outcome: Result<T, SettingsError>,
    line: usize,
    path: &str,
    key: &str,
) -> Result<T, SettingsError> {
    outcome.map_err(|error| {
        if error.placed {
            return error;
        }
        let message = format!("setting \"{}\": {}", join(path, key), error.message);
        SettingsError::at(line, message)
    })
}
