//! The values of a composition, each with the line it stands on.

use serde_json::Value as Json;

/// A value of a composition file.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// From 1; 0 if it does not come from a file.
    pub(crate) line: usize,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key of a mapping with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) line: usize,
    pub(crate) value: Node,
}

impl Value {
    /// What it is, for people.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Unsigned(_) | Self::Signed(_) | Self::Float(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}

impl From<Json> for Node {
    fn from(json: Json) -> Self {
        let value = match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(value),
            Json::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(value), _) => Value::Unsigned(value),
                (None, Some(value)) => Value::Signed(value),
                (None, None) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::Text(text),
            Json::Array(items) => Value::List(items.into_iter().map(Self::from).collect()),
            Json::Object(map) => Value::Map(
                map.into_iter()
                    .map(|(key, value)| Entry { key, line: 0, value: Self::from(value) })
                    .collect(),
            ),
        };
        Self { line: 0, value }
    }
}

impl Node {
    /// The value without its lines.
    pub(crate) fn to_json(&self) -> Json {
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::from(*value),
            Value::Unsigned(value) => Json::from(*value),
            Value::Signed(value) => Json::from(*value),
            Value::Float(value) => Json::from(*value),
            Value::Text(text) => Json::from(text.as_str()),
            Value::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Value::Map(entries) => {
                Json::Object(entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect())
            }
        }
    }
}
