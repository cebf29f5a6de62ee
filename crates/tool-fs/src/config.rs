//! The settings of the tools.

use std::num::NonZeroU64;

use dsh_harness::positive_integer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Settings of the row `dsh-tool-fs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Settings")]
pub struct ToolFsConfig {
    /// Default and largest number of lines of one `read`; the model sees it in the schema.
    pub read_limit: NonZeroU64,
    /// UTF-16 code units of a line that are shown before it is cut and marked.
    pub read_max_line_length: NonZeroU64,
    /// Most bytes of the lines that one `read` shows.
    pub read_max_bytes: NonZeroU64,
    /// Files of this many bytes and more, and files of unknown size, are streamed rather than held whole.
    pub read_stream_min_size: NonZeroU64,
    /// Refuse `write` and `edit` with `FS_NOT_OBSERVED` when no policy answers for them.
    pub require_guard: bool,
    /// Add to a refusal, after a blank line, what gets the next call right: the nearest place, the lines that changed, the
    /// path that was meant.
    pub edit_hints: bool,
}

impl Default for ToolFsConfig {
    fn default() -> Self {
        fn positive(n: u64) -> NonZeroU64 {
            // Wrong only for zero, and none of these is.
            NonZeroU64::new(n).unwrap_or(NonZeroU64::MIN)
        }
        Self {
            read_limit: positive(2000),
            read_max_line_length: positive(2000),
            read_max_bytes: positive(50 * 1024),
            read_stream_min_size: positive(10 * 1024 * 1024),
            require_guard: false,
            edit_hints: false,
        }
    }
}

impl JsonSchema for ToolFsConfig {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ToolFsConfig".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Settings::json_schema(generator)
    }
}

/// The settings as they are written in a composition: anything, judged below, so that the message names the
/// setting.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Settings {
    /// Default and largest number of lines of one `read`; the model sees it in the schema.
    #[schemars(with = "u64", range(min = 1))]
    read_limit: Json,
    /// UTF-16 code units of a line that are shown before it is cut and marked.
    #[schemars(with = "u64", range(min = 1))]
    read_max_line_length: Json,
    /// Most bytes of the lines that one `read` shows.
    #[schemars(with = "u64", range(min = 1))]
    read_max_bytes: Json,
    /// Files of this many bytes and more, and files of unknown size, are streamed rather than held whole
    ///.
    #[schemars(with = "u64", range(min = 1))]
    read_stream_min_size: Json,
    /// Refuse `write` and `edit` with `FS_NOT_OBSERVED` when no policy answers for them.
    require_guard: bool,
    /// Add to a refusal, after a blank line, what gets the next call right: the nearest place, the lines that changed, the
    /// path that was meant. Files over 1 MiB are not looked into.
    edit_hints: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let config = ToolFsConfig::default();
        Self {
            read_limit: config.read_limit.get().into(),
            read_max_line_length: config.read_max_line_length.get().into(),
            read_max_bytes: config.read_max_bytes.get().into(),
            read_stream_min_size: config.read_stream_min_size.get().into(),
            require_guard: config.require_guard,
            edit_hints: config.edit_hints,
        }
    }
}

impl TryFrom<Settings> for ToolFsConfig {
    type Error = String;

    fn try_from(settings: Settings) -> Result<Self, String> {
        Ok(Self {
            read_limit: positive("readLimit", &settings.read_limit)?,
            read_max_line_length: positive("readMaxLineLength", &settings.read_max_line_length)?,
            read_max_bytes: positive("readMaxBytes", &settings.read_max_bytes)?,
            read_stream_min_size: positive("readStreamMinSize", &settings.read_stream_min_size)?,
            require_guard: settings.require_guard,
            edit_hints: settings.edit_hints,
        })
    }
}

fn positive(key: &str, value: &Json) -> Result<NonZeroU64, String> {
    positive_integer(value).ok_or_else(|| format!("tool-fs: {key} must be a positive integer"))
}
