//! The schemas of tool arguments: the small part of JSON Schema that models are shown, key order kept.

use serde_json::{Map, Value as Json};

use crate::error::ToolArgsError;

mod validate;

/// The schema of an object with its properties in the order a model reads them; the root of every tool's
/// parameters is one. Unknown properties are accepted unless [`closed`](Self::closed) says otherwise.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ObjectSchema {
    properties: Vec<Property>,
    closed: bool,
    keywords: Map<String, Json>,
}

/// The schema of one value: the small subset of JSON Schema whose messages are part of the interface.
///
/// It prints its keys in a fixed order: `type`, `description`, `title`, `default`, then what belongs to the
/// type (`additionalProperties`, `properties`, `required`; `items`; `enum`, `const`; `oneOf` comes first), then what
/// [`with_keyword`](Self::with_keyword) added.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    kind: Kind,
    description: Option<String>,
    title: Option<String>,
    default: Option<Json>,
    keywords: Map<String, Json>,
}

#[derive(Debug, Clone, PartialEq)]
struct Property {
    name: String,
    schema: Schema,
    required: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Any,
    Scalar(Scalar),
    Enum(Vec<String>),
    Constant(String),
    Array(Box<Schema>),
    Object(ObjectSchema),
    OneOf(Vec<Schema>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Scalar {
    String,
    Number,
    Integer,
    Boolean,
    Null,
}

impl ObjectSchema {
    /// An open object without properties.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a property that must be there. A name that is already declared is replaced where it stands.
    #[must_use]
    pub fn required(self, name: impl Into<String>, schema: Schema) -> Self {
        self.property(Property { name: name.into(), schema, required: true })
    }

    /// Adds a property that may be absent; `null` is not absence.
    #[must_use]
    pub fn optional(self, name: impl Into<String>, schema: Schema) -> Self {
        self.property(Property { name: name.into(), schema, required: false })
    }

    /// Refuses properties that are not declared (`additionalProperties: false`).
    #[must_use]
    pub fn closed(self) -> Self {
        Self { closed: true, ..self }
    }

    /// Adds a keyword of JSON Schema that is only told (`$schema`, `$defs`): validation does not know it. What the
    /// schema prints itself stays as it is.
    #[must_use]
    pub fn with_keyword(mut self, name: impl Into<String>, value: impl Into<Json>) -> Self {
        self.keywords.insert(name.into(), value.into());
        self
    }

    /// The names of the declared properties, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.properties.iter().map(|property| property.name.as_str())
    }

    /// The JSON Schema, byte for byte what a model gets: `required` last but for added keywords, and left out when
    /// empty.
    pub fn to_json(&self) -> Json {
        let mut node = Map::new();
        node.insert("type".to_owned(), "object".into());
        self.append_to(&mut node);
        Json::Object(node)
    }

    /// Checks a call's arguments. The message is `invalid arguments: ` and every violation, joined by `; `:
    /// at each object the missing properties first, then the declared ones in order, then undeclared ones.
    pub fn validate(&self, arguments: &Json) -> Result<(), ToolArgsError> {
        let violations = validate::arguments(self, arguments);
        if violations.is_empty() {
            return Ok(());
        }
        Err(ToolArgsError::new(format!("invalid arguments: {}", violations.join("; "))))
    }

    fn property(mut self, property: Property) -> Self {
        match self.properties.iter_mut().find(|known| known.name == property.name) {
            Some(known) => *known = property,
            None => self.properties.push(property),
        }
        self
    }

    fn append_to(&self, node: &mut Map<String, Json>) {
        if self.closed {
            node.insert("additionalProperties".to_owned(), false.into());
        }
        let properties: Map<String, Json> = self
            .properties
            .iter()
            .map(|property| (property.name.clone(), property.schema.to_json()))
            .collect();
        node.insert("properties".to_owned(), properties.into());
        let required: Vec<&str> =
            self.properties.iter().filter(|p| p.required).map(|property| property.name.as_str()).collect();
        if !required.is_empty() {
            node.insert("required".to_owned(), required.into());
        }
        tell(&self.keywords, node);
    }
}

impl Schema {
    /// Text.
    pub fn string(description: impl Into<String>) -> Self {
        Self::scalar(Scalar::String, description)
    }

    /// A finite number that is not −0.
    pub fn number(description: impl Into<String>) -> Self {
        Self::scalar(Scalar::Number, description)
    }

    /// A number with an integral value: `2.0` and `1e308` are integers.
    pub fn integer(description: impl Into<String>) -> Self {
        Self::scalar(Scalar::Integer, description)
    }

    /// `true` or `false`.
    pub fn boolean(description: impl Into<String>) -> Self {
        Self::scalar(Scalar::Boolean, description)
    }

    /// `null`, of use as a branch of [`one_of`](Self::one_of).
    pub fn null(description: impl Into<String>) -> Self {
        Self::scalar(Scalar::Null, description)
    }

    /// One of a few texts.
    pub fn enum_of<S: Into<String>>(
        description: impl Into<String>,
        values: impl IntoIterator<Item = S>,
    ) -> Self {
        Self::of(Kind::Enum(values.into_iter().map(Into::into).collect()), description)
    }

    /// Exactly this text.
    pub fn constant(description: impl Into<String>, value: impl Into<String>) -> Self {
        Self::of(Kind::Constant(value.into()), description)
    }

    /// A list whose items all fit one schema.
    pub fn array(description: impl Into<String>, items: Self) -> Self {
        Self::of(Kind::Array(Box::new(items)), description)
    }

    /// A nested object.
    pub fn object(description: impl Into<String>, object: ObjectSchema) -> Self {
        Self::of(Kind::Object(object), description)
    }

    /// A value that fits exactly one of the branches.
    pub fn one_of(description: impl Into<String>, first: Self, second: Self, more: Vec<Self>) -> Self {
        let branches = [first, second].into_iter().chain(more).collect();
        Self::of(Kind::OneOf(branches), description)
    }

    /// Any JSON value.
    pub fn any(description: impl Into<String>) -> Self {
        Self::of(Kind::Any, description)
    }

    /// Adds `title`.
    #[must_use]
    pub fn with_title(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// Adds `default`, which only tells the model: validation fills nothing in.
    #[must_use]
    pub fn with_default(self, value: impl Into<Json>) -> Self {
        Self { default: Some(value.into()), ..self }
    }

    /// Adds a keyword of JSON Schema that is only told (`$ref`, `format`): validation does not know it. What the
    /// schema prints itself stays as it is.
    #[must_use]
    pub fn with_keyword(mut self, name: impl Into<String>, value: impl Into<Json>) -> Self {
        self.keywords.insert(name.into(), value.into());
        self
    }

    /// The JSON Schema of this value.
    pub fn to_json(&self) -> Json {
        let mut node = Map::new();
        match &self.kind {
            Kind::Any => {}
            Kind::OneOf(branches) => {
                node.insert("oneOf".to_owned(), branches.iter().map(Self::to_json).collect());
            }
            Kind::Scalar(kind) => {
                node.insert("type".to_owned(), kind.name().into());
            }
            Kind::Enum(_) | Kind::Constant(_) => {
                node.insert("type".to_owned(), "string".into());
            }
            Kind::Array(_) => {
                node.insert("type".to_owned(), "array".into());
            }
            Kind::Object(_) => {
                node.insert("type".to_owned(), "object".into());
            }
        }
        let annotations = [
            ("description", self.description.clone().map(Json::from)),
            ("title", self.title.clone().map(Json::from)),
        ];
        for (key, value) in annotations.into_iter().chain([("default", self.default.clone())]) {
            if let Some(value) = value {
                node.insert(key.to_owned(), value);
            }
        }
        self.append_to(&mut node);
        tell(&self.keywords, &mut node);
        Json::Object(node)
    }

    fn scalar(kind: Scalar, description: impl Into<String>) -> Self {
        Self::of(Kind::Scalar(kind), description)
    }

    fn of(kind: Kind, description: impl Into<String>) -> Self {
        let description = Some(description.into()).filter(|text| !text.is_empty());
        Self { kind, description, title: None, default: None, keywords: Map::new() }
    }

    fn append_to(&self, node: &mut Map<String, Json>) {
        match &self.kind {
            Kind::Array(items) => {
                node.insert("items".to_owned(), items.to_json());
            }
            Kind::Object(object) => object.append_to(node),
            Kind::Enum(values) => {
                node.insert("enum".to_owned(), values.clone().into());
            }
            Kind::Constant(value) => {
                node.insert("const".to_owned(), value.clone().into());
            }
            Kind::Any | Kind::OneOf(_) | Kind::Scalar(_) => {}
        }
    }
}

/// Appends what is told and not checked.
fn tell(keywords: &Map<String, Json>, node: &mut Map<String, Json>) {
    for (name, value) in keywords {
        node.entry(name.as_str()).or_insert_with(|| value.clone());
    }
}
