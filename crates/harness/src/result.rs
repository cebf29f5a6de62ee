//! What a call came to.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use dsh_plugin::Coded;
use serde::Serialize;
use serde_json::Value as Json;

use crate::content::{Content, joined_text};
use crate::meta::Meta;

/// What a call came to. Every call has one; failures are results too.
#[derive(Debug, Clone)]
pub struct ToolResult {
    /// What the model sees.
    pub content: Vec<Content>,
    /// Success with its value, or what went wrong.
    pub outcome: Outcome,
    /// Data for user interfaces; never shown to the model. Error results may have it too.
    pub meta: Option<Meta>,
    /// Messages to append after the result, in order: the tool's, a wrapper's, post-execute's.
    pub contexts: Vec<String>,
}

/// The two ways a call ends.
#[derive(Clone)]
pub enum Outcome {
    /// The canonical value, still typed; see [`CanonicalValue`].
    Success(Arc<dyn CanonicalValue>),
    /// The failure as it is told outside.
    Failure(ErrorInfo),
}

/// What is told of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorInfo {
    /// The message without the `Error: ` that the model sees before it.
    pub message: String,
    /// The kind, such as `FsError`; `None` for a plain error.
    pub name: Option<String>,
    /// The code, such as `FS_NOT_FOUND`; `None` for a plain error.
    pub code: Option<String>,
}

/// The value of a successful call, for programs. It stays the tool's own type until somebody asks for JSON:
/// most callers only want the text, and a value may hold a whole file.
///
/// Implemented for everything that can be serialised.
pub trait CanonicalValue: Send + Sync {
    /// The value as JSON. Fails only if the type cannot be JSON (a map with keys that are not text).
    fn to_json(&self) -> serde_json::Result<Json>;

    /// For a listener that knows the tool and wants the typed value.
    fn as_any(&self) -> &dyn Any;
}

impl<T: Serialize + Send + Sync + 'static> CanonicalValue for T {
    fn to_json(&self) -> serde_json::Result<Json> {
        serde_json::to_value(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl ToolResult {
    /// A success with its content and value.
    pub fn success<V: CanonicalValue + 'static>(content: Vec<Content>, value: V) -> Self {
        Self { content, outcome: Outcome::Success(Arc::new(value)), meta: None, contexts: Vec::new() }
    }

    /// A failure; the model sees `Error: <message>`.
    pub fn failure(error: ErrorInfo) -> Self {
        let content = vec![Content::Text(format!("Error: {}", error.message))];
        Self { content, outcome: Outcome::Failure(error), meta: None, contexts: Vec::new() }
    }

    /// Whether the call failed.
    pub fn is_error(&self) -> bool {
        matches!(self.outcome, Outcome::Failure(_))
    }

    /// The text blocks joined by `\n`.
    pub fn text(&self) -> String {
        joined_text(&self.content)
    }

    /// The failure, if it is one.
    pub fn error(&self) -> Option<&ErrorInfo> {
        match &self.outcome {
            Outcome::Success(_) => None,
            Outcome::Failure(error) => Some(error),
        }
    }

    /// The metadata as a tree, made now.
    pub fn meta(&self) -> Option<Json> {
        self.meta.as_ref().map(Meta::to_json)
    }

    /// The canonical value as JSON, made now. `None` for a failure, and (with a log line) for a value whose
    /// type cannot be JSON.
    pub fn value(&self) -> Option<Json> {
        let Outcome::Success(value) = &self.outcome else { return None };
        value.to_json().inspect_err(|error| tracing::warn!(%error, "a tool's value is not JSON")).ok()
    }
}

impl ErrorInfo {
    /// A failure with no name and no code.
    pub fn plain(message: impl Into<String>) -> Self {
        Self { message: message.into(), name: None, code: None }
    }

    /// A failure with both.
    pub fn named(message: impl Into<String>, name: &str, code: &str) -> Self {
        Self { message: message.into(), name: Some(name.to_owned()), code: Some(code.to_owned()) }
    }

    /// `{"message", "name"?, "code"?}`: the failure as results carry it.
    pub fn to_json(&self) -> Json {
        let mut object = serde_json::Map::new();
        object.insert("message".to_owned(), self.message.clone().into());
        for (key, value) in [("name", &self.name), ("code", &self.code)] {
            if let Some(value) = value {
                object.insert(key.to_owned(), value.clone().into());
            }
        }
        Json::Object(object)
    }

    /// How any failure is told: name and code are left out for a plain one, whose name is `Error`.
    pub fn of(failure: &dyn Coded) -> Self {
        let message = failure.to_string();
        match failure.name() {
            "Error" => Self::plain(message),
            name => Self { message, name: Some(name.to_owned()), code: failure.code().map(str::to_owned) },
        }
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Success(_) => f.write_str("Success(..)"),
            Self::Failure(error) => f.debug_tuple("Failure").field(error).finish(),
        }
    }
}
