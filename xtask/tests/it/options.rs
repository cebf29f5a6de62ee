use serde_json::json;
use xtask::generate::options::settings;

#[test]
fn settings_are_shown_as_a_person_would_write_them() {
    let schema = json!({
        "$defs": {"Mode": {"oneOf": [{"const": "open"}, {"const": "closed"}]}},
        "properties": {
            "limit": {"type": "number", "default": 2000.0, "description": "Most\nlines."},
            "size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 5},
            "cwd": {"type": ["string", "null"], "default": null, "description": "a | b"},
            "mode": {"anyOf": [{"$ref": "#/$defs/Mode"}, {"type": "null"}], "default": "open"},
            "rules": {"type": "array", "items": {"type": "string"}, "default": []},
            "strict": {"type": "boolean", "default": false},
            "persona": {"type": "string", "default": ""},
        },
    });
    let expected = "
| key | value | default | meaning |
|---|---|---|---|
| `limit` | number | `2000` | Most lines. |
| `size` | integer from 1 to 9 | `5` |  |
| `cwd` | string | – | a \\| b |
| `mode` | `open` or `closed` | `open` |  |
| `rules` | list of: string | `[]` |  |
| `strict` | `true` or `false` | `false` |  |
| `persona` | string | `\"\"` |  |
";
    assert_eq!(settings(&schema).unwrap(), expected);
}

#[test]
fn a_row_without_settings_says_so() {
    assert_eq!(settings(&json!({"type": "object"})).unwrap(), "\nIt has no settings.\n");
}
