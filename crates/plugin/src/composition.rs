//! The composition file: a list of rows, each a plugin with its settings.
//!
//! The only module of this crate that opens a file.
#![expect(
    clippy::disallowed_methods,
    reason = "the composition is read before there is a file system service"
)]

use std::path::{Path, PathBuf};

use crate::composition_error::{CompositionError, CompositionErrorKind, Place, RowPlace};
use crate::known::unknown;
use crate::node::{Entry, Node, Value};
use crate::registry::{Configured, Registry};
use crate::yaml;

/// The keys of a row.
const ROW_KEYS: [&str; 4] = ["name", "id", "config", "disabled"];

/// A composition file that has been read: YAML, or JSON, which is YAML too.
///
/// ```yaml
/// - name: '@deepseek-ai/dsh-fs-local' # with or without the prefix
///   config: { cwd: . }
/// - name: dsh-tool-fs
///   id: tools                         # optional, unique: for messages
///   disabled: true                    # checked like any other row, but not started
/// ```
///
/// Booleans are `true` and `false` only; tags and merge keys are refused, keys must be unique, and the size of the file
/// and of what aliases expand to is limited.
#[derive(Clone, Debug)]
pub struct Composition {
    file: PathBuf,
    rows: Vec<Row>,
}

impl Composition {
    /// Reads the composition in `text`. `file` is where it stands: for messages and, its folder, for relative paths.
    pub fn parse(text: &str, file: &Path) -> Result<Self, CompositionError> {
        let place = Place { file: Some(file.to_owned()), line: 0, row: None };
        let invalid = |line, message: &str| {
            CompositionError::new(CompositionErrorKind::Invalid, place.at_line(line), message)
        };
        let top = yaml::parse(text).map_err(|error| invalid(error.line, &error.message))?;
        let Some(Node { value: Value::List(items), .. }) = top else {
            return Err(invalid(0, "composition file must be a list of rows"));
        };
        let mut rows: Vec<Row> = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let row = Row::read(item, index + 1, &place)?;
            if let Some(id) = row.place.row.as_ref().and_then(|row| row.id.as_ref()) {
                let same = |row: &&Row| row.place.row.as_ref().is_some_and(|row| row.id.as_ref() == Some(id));
                if let Some(RowPlace { number, .. }) =
                    rows.iter().find(same).and_then(|row| row.place.row.as_ref())
                {
                    let message = format!("id \"{id}\" is already that of row {number}");
                    return Err(CompositionError::new(CompositionErrorKind::Invalid, row.place, message));
                }
            }
            rows.push(row);
        }
        Ok(Self { file: file.to_owned(), rows })
    }

    /// Reads the composition file `file`, whose name ends in `.yaml`, `.yml` or `.json`.
    pub fn load(file: &Path) -> Result<Self, CompositionError> {
        let place = || Place { file: Some(file.to_owned()), line: 0, row: None };
        let extension = file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        if !["yaml", "yml", "json"].contains(&extension.as_str()) {
            let message = "a composition file ends in .yaml, .yml or .json";
            return Err(CompositionError::new(CompositionErrorKind::Unreadable, place(), message));
        }
        let text = std::fs::read_to_string(file).map_err(|error| {
            let message = format!("cannot read the composition file: {error}");
            CompositionError::new(CompositionErrorKind::Unreadable, place(), message).caused_by(error)
        })?;
        Self::parse(&text, file)
    }

    /// Checks every name, key and value against `registry`, disabled rows too, and makes the others ready to be mounted, in
    /// file order. Nothing is started.
    pub fn bind(&self, registry: &Registry) -> Result<Vec<Configured>, CompositionError> {
        let base = self.file.parent().unwrap_or_else(|| Path::new(""));
        let mut configured = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let bound = registry.bind(&row.name, &row.config, &row.place, Some(base))?;
            if !row.disabled {
                configured.push(bound);
            }
        }
        Ok(configured)
    }
}

#[derive(Clone, Debug)]
struct Row {
    name: String,
    config: Node,
    disabled: bool,
    place: Place,
}

impl Row {
    fn read(node: Node, number: usize, place: &Place) -> Result<Self, CompositionError> {
        let mut place =
            Place { row: Some(RowPlace { number, name: None, id: None }), ..place.at_line(node.line) };
        let invalid = |place: &Place, line, message: String| {
            Err(CompositionError::new(CompositionErrorKind::Invalid, place.at_line(line), message))
        };
        let Value::Map(entries) = node.value else {
            return invalid(&place, 0, format!("a row must be a mapping, not {}", node.value.kind()));
        };
        let mut row = Self {
            name: String::new(),
            config: Node { line: node.line, value: Value::Null },
            disabled: false,
            place: place.clone(),
        };
        let (mut wrong, mut unknown_key) = (None, None);
        for Entry { key, line, value } in entries {
            match (key.as_str(), value.value) {
                (_, Value::Null) if ROW_KEYS.contains(&key.as_str()) => {}
                ("name", Value::Text(name)) if !name.is_empty() => row.name = name,
                ("id", Value::Text(id)) if !id.is_empty() => set_id(&mut place, id),
                ("config", config) => row.config = Node { line, value: config },
                ("disabled", Value::Bool(disabled)) => row.disabled = disabled,
                ("name" | "id", other) => wrong = wrong.or(Some((line, key, "a string", other))),
                ("disabled", other) => wrong = wrong.or(Some((line, key, "true or false", other))),
                _ => unknown_key = unknown_key.or(Some((line, key))),
            }
        }
        // Only now, so that the message names the row, wherever its name stands.
        if let Some(at) = place.row.as_mut() {
            at.name = (!row.name.is_empty()).then(|| row.name.clone());
        }
        if let Some((line, key)) = unknown_key {
            return invalid(&place, line, unknown("row key", &key, &key, &ROW_KEYS));
        }
        if let Some((line, key, wanted, found)) = wrong {
            let found = if matches!(found, Value::Text(ref text) if text.is_empty()) {
                "empty"
            } else {
                found.kind()
            };
            return invalid(&place, line, format!("{key} must be {wanted}, not {found}"));
        }
        if row.name.is_empty() {
            return invalid(&place, 0, "a row must have a name".to_owned());
        }
        row.place = place;
        Ok(row)
    }
}

fn set_id(place: &mut Place, id: String) {
    if let Some(row) = place.row.as_mut() {
        row.id = Some(id);
    }
}
