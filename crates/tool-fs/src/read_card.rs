//! How user interfaces show a read: the card of the call, and the card of its result.

use std::borrow::Cow;

use dsh_harness::{Meta, ToolResult, positive_integer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::envelope::body_of;
use crate::number::as_javascript;
use crate::read::{ReadArgs, ReadValue};
use crate::window::Line;

/// What is kept of a read beside the text the model saw.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReadMeta<'a> {
    path: Cow<'a, str>,
    offset: u64,
    lines: Cow<'a, [Line]>,
    total_lines: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lang: Option<Cow<'a, str>>,
}

/// The metadata of a result.
pub(crate) fn meta(value: &ReadValue) -> Meta {
    Meta::of(&ReadMeta {
        path: value.path.as_str().into(),
        offset: value.offset,
        lines: value.lines.as_slice().into(),
        total_lines: value.total_lines,
        lang: language(&value.path).map(Cow::Borrowed),
    })
}

/// The card of a call.
pub(crate) fn call(args: &ReadArgs) -> Json {
    let path = &args.file_path;
    let from = args.offset.unwrap_or(1.0);
    let window = match (args.limit, args.offset) {
        (Some(limit), _) if limit > 0.0 => {
            format!(" ({} - {})", as_javascript(from), as_javascript(from + limit - 1.0))
        }
        (_, Some(offset)) => format!(" (from line {})", as_javascript(offset)),
        _ => String::new(),
    };
    let line = positive_integer(&from.into()).map_or_else(|| json!(from), |line| json!(line));
    json!({
        "card": "generic",
        "title": format!("Read {path}{window}"),
        "kind": "read",
        "locations": [{ "path": path, "line": line }],
    })
}

/// The card of a result, rebuilt from what was kept; `None` for anything that is not a read's success.
pub(crate) fn result(result: &ToolResult) -> Option<Json> {
    if result.is_error() {
        return None;
    }
    let [block] = result.content.as_slice() else { return None };
    let body = body_of(block.as_text()?)?;
    let meta = valid(result.meta.as_ref()?)?;
    let mut card = Map::new();
    card.insert("card".to_owned(), json!("read"));
    card.append(serde_json::to_value(meta).ok()?.as_object_mut()?);
    card.insert("content".to_owned(), json!([{ "type": "text", "text": body }]));
    Some(Json::Object(card))
}

fn valid(meta: &Meta) -> Option<ReadMeta<'_>> {
    let meta: ReadMeta<'_> = meta.read().ok()?;
    let numbers = || meta.lines.iter().map(|line| line.number);
    let in_range = meta.offset >= 1
        && numbers().next().is_none_or(|first| first >= meta.offset)
        && numbers().next_back().is_none_or(|last| last <= meta.total_lines)
        && numbers().zip(numbers().skip(1)).all(|(line, next)| line < next);
    in_range.then_some(meta)
}

/// The language of a file by its extension, for highlighting.
fn language(path: &str) -> Option<&'static str> {
    let name = path.rsplit(['/', '\\']).next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    if stem.is_empty() {
        return None;
    }
    Some(match extension.to_ascii_lowercase().as_str() {
        "ts" | "mts" | "cts" => "ts",
        "tsx" => "tsx",
        "js" | "mjs" | "cjs" => "js",
        "jsx" => "jsx",
        "json" | "jsonc" => "json",
        "py" => "py",
        "rb" => "rb",
        "go" => "go",
        "rs" => "rs",
        "java" => "java",
        "c" | "h" => "c",
        "cc" | "cpp" | "hpp" | "cxx" => "cpp",
        "cs" => "cs",
        "kt" => "kotlin",
        "swift" => "swift",
        "php" => "php",
        "sh" | "bash" | "zsh" => "sh",
        "yaml" | "yml" => "yaml",
        "toml" => "toml",
        "ini" => "ini",
        "md" | "markdown" => "md",
        "mdx" => "mdx",
        "html" | "htm" => "html",
        "css" => "css",
        "scss" => "scss",
        "less" => "less",
        "sql" => "sql",
        "xml" => "xml",
        "lua" => "lua",
        _ => return None,
    })
}
