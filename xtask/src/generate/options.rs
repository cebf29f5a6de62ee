//! docs/options.md: the settings of every row, from the schemas of the plugins' configurations.

use std::fmt::Write as _;

use dsh_plugin::RowSchema;
use serde_json::Value as Json;

const HEAD: &str = "\
<!-- Written by `cargo xtask generate options`. -->

# Options

What each row of a composition can be given under `config`. A key that is left out, or is `null`, has its default; a
key that is not listed is an error.
";

/// The whole page.
pub fn page() -> anyhow::Result<String> {
    let mut page = HEAD.to_owned();
    for row in dsh_cli::registry().schemas() {
        page.push_str(&chapter(&row)?);
    }
    Ok(page)
}

fn chapter(row: &RowSchema) -> anyhow::Result<String> {
    let mut chapter = format!("\n## `{}`\n", row.row_name);
    if !row.aliases.is_empty() {
        write!(chapter, "\nOlder name: {}.\n", in_code(&row.aliases))?;
    }
    if !row.inject.is_empty() {
        write!(chapter, "\nStarts once there are the services {}.\n", in_code(row.inject))?;
    }
    chapter.push_str(&settings(row.schema.as_value())?);
    Ok(chapter)
}

/// The settings that a schema allows, as a table.
pub fn settings(schema: &Json) -> anyhow::Result<String> {
    let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty())
    else {
        return Ok("\nIt has no settings.\n".to_owned());
    };
    let mut table = "\n| key | value | default | meaning |\n|---|---|---|---|\n".to_owned();
    for (key, property) in properties {
        let kind = cell(&kind(schema, property));
        let default = match &property["default"] {
            Json::Null => "–".to_owned(),
            value => format!("`{}`", cell(&plain(value))),
        };
        let meaning = cell(property["description"].as_str().unwrap_or_default());
        writeln!(table, "| `{key}` | {kind} | {default} | {meaning} |")?;
    }
    Ok(table)
}

/// The values that a property can have, in words.
fn kind(root: &Json, property: &Json) -> String {
    if let Some(name) = property["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
        return kind(root, &root["$defs"][name]);
    }
    if let Some(value) = property.get("const") {
        return format!("`{}`", plain(value));
    }
    if let Some(values) = property["enum"].as_array() {
        return any_of(values.iter().map(|value| format!("`{}`", plain(value))));
    }
    if let Some(branches) = property["oneOf"].as_array().or_else(|| property["anyOf"].as_array()) {
        return any_of(branches.iter().map(|branch| kind(root, branch)));
    }
    match &property["type"] {
        Json::Array(names) => any_of(names.iter().map(|name| of_type(root, property, name))),
        name => of_type(root, property, name),
    }
}

fn of_type(root: &Json, property: &Json, name: &Json) -> String {
    match name.as_str() {
        Some("boolean") => "`true` or `false`".to_owned(),
        Some(number @ ("integer" | "number")) => match (property.get("minimum"), property.get("maximum")) {
            (Some(least), Some(most)) => format!("{number} from {} to {}", plain(least), plain(most)),
            (Some(least), None) => format!("{number} from {}", plain(least)),
            (None, Some(most)) => format!("{number} up to {}", plain(most)),
            (None, None) => number.to_owned(),
        },
        Some("array") => format!("list of: {}", kind(root, &property["items"])),
        Some("object") => "mapping".to_owned(),
        Some("null") => String::new(),
        Some(other) => other.to_owned(),
        None => "any".to_owned(),
    }
}

/// Absence is not one of the values, so what is empty is left out.
fn any_of(kinds: impl Iterator<Item = String>) -> String {
    kinds.filter(|kind| !kind.is_empty()).collect::<Vec<_>>().join(" or ")
}

/// As a person would write it in YAML: `2000`, not `2000.0`.
fn plain(value: &Json) -> String {
    match value {
        Json::Number(number) => number.to_string().trim_end_matches(".0").to_owned(),
        Json::String(text) if !text.is_empty() => text.clone(),
        other => other.to_string(),
    }
}

fn in_code(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
