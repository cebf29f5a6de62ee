//! Arguments against a schema, and the sentence for everything that does not fit.

use serde_json::Value as Json;

use super::{Kind, ObjectSchema, Scalar, Schema};

/// Every violation of a call's arguments, in the order they are told.
pub(super) fn arguments(schema: &ObjectSchema, value: &Json) -> Vec<String> {
    let mut violations = Vec::new();
    object(schema, value, "", &mut violations);
    violations
}

fn object(schema: &ObjectSchema, value: &Json, path: &str, violations: &mut Vec<String>) {
    let Json::Object(entries) = value else {
        return violations.push(format!("\"{}\" must be an object", named(path)));
    };
    for property in schema.properties.iter().filter(|p| p.required && !entries.contains_key(&p.name)) {
        violations.push(format!("missing required property \"{}\"", child(path, &property.name)));
    }
    for property in &schema.properties {
        if let Some(value) = entries.get(&property.name) {
            check(&property.schema, value, &child(path, &property.name), violations);
        }
    }
    if schema.closed {
        for name in entries.keys().filter(|name| schema.names().all(|known| known != *name)) {
            let path = child(path, name);
            violations.push(format!("\"{path}\" is not a declared property (additionalProperties: false)"));
        }
    }
}

fn check(schema: &Schema, value: &Json, path: &str, violations: &mut Vec<String>) {
    match &schema.kind {
        Kind::Any => {}
        Kind::Object(schema) => object(schema, value, path, violations),
        Kind::Array(items) => match value {
            Json::Array(values) => {
                for (i, value) in values.iter().enumerate() {
                    check(items, value, &format!("{path}[{i}]"), violations);
                }
            }
            _ => violations.push(format!("\"{path}\" must be an array")),
        },
        Kind::OneOf(branches) => {
            let matched = branches.iter().filter(|branch| fits(branch, value, path)).count();
            if matched != 1 {
                violations
                    .push(format!("\"{path}\" must match exactly one oneOf branch (matched {matched})"));
            }
        }
        Kind::Scalar(kind) => scalar(*kind, value, path, violations),
        Kind::Enum(values) => match value {
            Json::String(text) if values.contains(text) => {}
            // The JSON of strings is the same in JavaScript, byte for byte.
            Json::String(_) => {
                let list = Json::from(values.clone());
                violations.push(format!("\"{path}\" must be one of {list}"));
            }
            _ => scalar(Scalar::String, value, path, violations),
        },
        Kind::Constant(wanted) => match value {
            Json::String(text) if text == wanted => {}
            Json::String(_) => {
                violations.push(format!("\"{path}\" must be {}", Json::from(wanted.as_str())));
            }
            _ => scalar(Scalar::String, value, path, violations),
        },
    }
}

fn scalar(kind: Scalar, value: &Json, path: &str, violations: &mut Vec<String>) {
    if let Err(wanted) = kind.check(value) {
        violations.push(format!("\"{path}\" must be {wanted}"));
    }
}

fn fits(schema: &Schema, value: &Json, path: &str) -> bool {
    let mut violations = Vec::new();
    check(schema, value, path, &mut violations);
    violations.is_empty()
}

fn named(path: &str) -> &str {
    if path.is_empty() { "arguments" } else { path }
}

fn child(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

impl Scalar {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Null => "null",
        }
    }

    /// What the value should have been, if it is not.
    fn check(self, value: &Json) -> Result<(), &'static str> {
        match (self, value) {
            (Self::String, Json::String(_)) | (Self::Boolean, Json::Bool(_)) | (Self::Null, Json::Null) => {
                Ok(())
            }
            (Self::Number | Self::Integer, Json::Number(number)) => {
                // A number beyond f64 (only possible when built by hand) and −0, which JSON cannot round-trip.
                let Some(float) = number.as_f64().filter(|f| f.is_finite() && !is_negative_zero(*f)) else {
                    return Err("a finite JSON number");
                };
                if self == Self::Integer && float.fract() != 0.0 { Err("an integer") } else { Ok(()) }
            }
            (Self::String, _) => Err("a string"),
            (Self::Number, _) => Err("a number"),
            (Self::Integer, _) => Err("an integer"),
            (Self::Boolean, _) => Err("a boolean"),
            (Self::Null, _) => Err("null"),
        }
    }
}

fn is_negative_zero(float: f64) -> bool {
    float == 0.0 && float.is_sign_negative()
}
