//! The settings of the tools.

use std::num::NonZeroU64;
use std::time::Duration;

use dsh_harness::positive_integer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// Settings of the row `dsh-tool-fs-search`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Settings")]
pub struct SearchConfig {
    /// What `glob` shows of a result with more paths than it may show: a sample across the top-level entries, or the head
    /// of the list. The model sees it in schema and guidance.
    pub sample_over_cap_glob_results: bool,
    /// Most paths that one `glob` shows; the model sees it in the schema.
    pub glob_max_results: NonZeroU64,
    /// Most matching lines that one `grep` shows; the model sees it in the schema.
    pub grep_max_matches: NonZeroU64,
    /// Bytes of a matching line that are shown before it is cut and marked.
    pub grep_max_line_bytes: NonZeroU64,
    /// Most bytes of the metadata of a result, as JSON; a single path or file is kept whatever its size.
    pub search_meta_max_bytes: NonZeroU64,
    /// Milliseconds after which the timeout policy ends a call. The search itself stops a little earlier and answers with
    /// what it has.
    pub timeout_ms: NonZeroU64,
    /// Add to the refusal of a pattern, after a blank line, the character at fault and the pattern that finds the text itself.
    pub pattern_hints: bool,
}

impl SearchConfig {
    /// The shipped limits. How a `glob` over the limit is shown has no default: it is a decision about the prompt.
    pub fn new(sample_over_cap_glob_results: bool) -> Self {
        fn positive(n: u64) -> NonZeroU64 {
            // Wrong only for zero, and none of these is.
            NonZeroU64::new(n).unwrap_or(NonZeroU64::MIN)
        }
        Self {
            sample_over_cap_glob_results,
            glob_max_results: positive(100),
            grep_max_matches: positive(250),
            grep_max_line_bytes: positive(2000),
            search_meta_max_bytes: positive(64 * 1024),
            timeout_ms: positive(30_000),
            pattern_hints: false,
        }
    }

    /// The time budget of a call.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.get())
    }

    /// The time a search may take: half a second less than the call, so that its first page is out before the call is
    /// ended; half of a budget that is too small for that.
    pub(crate) fn search_time(&self) -> Duration {
        const MARGIN: Duration = Duration::from_millis(500);
        let timeout = self.timeout();
        timeout.saturating_sub(MARGIN.min(timeout / 2))
    }
}

/// A limit as a number of things in memory.
pub(crate) fn size(limit: NonZeroU64) -> usize {
    usize::try_from(limit.get()).unwrap_or(usize::MAX)
}

impl JsonSchema for SearchConfig {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SearchConfig".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = Settings::json_schema(generator);
        schema.insert("required".to_owned(), json!(["sampleOverCapGlobResults"]));
        schema
    }
}

/// The settings as they are written in a composition: anything, judged below, so that the message names the
/// setting.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Settings {
    /// Required. What `glob` shows of a result with more paths than `globMaxResults`: a sample across the top-level entries
    /// (`true`), or the head of the list (`false`); the model sees it in schema and guidance.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    sample_over_cap_glob_results: Option<bool>,
    /// Most paths that one `glob` shows; the model sees it in the schema.
    #[schemars(with = "u64", range(min = 1))]
    glob_max_results: Json,
    /// Most matching lines that one `grep` shows; the model sees it in the schema.
    #[schemars(with = "u64", range(min = 1))]
    grep_max_matches: Json,
    /// Bytes of a matching line that are shown before it is cut and marked.
    #[schemars(with = "u64", range(min = 1))]
    grep_max_line_bytes: Json,
    /// Most bytes of the metadata of a result, as JSON; a single path or file is kept whatever its size.
    #[schemars(with = "u64", range(min = 1))]
    search_meta_max_bytes: Json,
    /// Accepted, without effect: the search runs in process and writes no raw output.
    #[schemars(with = "u64", range(min = 1))]
    raw_output_max_bytes: Json,
    /// Accepted, without effect: there is no process to be given time to end.
    #[schemars(with = "u64", range(min = 1, max = MAX_GRACE_MS))]
    grace_ms: Json,
    /// Accepted, without effect: there is no process to complain.
    #[schemars(with = "u64", range(min = 1))]
    stderr_max_bytes: Json,
    /// Milliseconds after which the timeout policy ends a call. The search itself stops 500 ms earlier (at half the time where
    /// that is less than a second) and answers with what it has.
    #[schemars(with = "u64", range(min = 1))]
    timeout_ms: Json,
    /// Add to the refusal of a pattern, after a blank line, the character at fault and the pattern that finds the text itself.
    pattern_hints: bool,
}

/// The longest delay of a timer where the settings come from.
const MAX_GRACE_MS: u64 = 2_147_483_647;

impl Default for Settings {
    fn default() -> Self {
        let config = SearchConfig::new(false);
        Self {
            sample_over_cap_glob_results: None,
            glob_max_results: config.glob_max_results.get().into(),
            grep_max_matches: config.grep_max_matches.get().into(),
            grep_max_line_bytes: config.grep_max_line_bytes.get().into(),
            search_meta_max_bytes: config.search_meta_max_bytes.get().into(),
            raw_output_max_bytes: 20_000_000.into(),
            grace_ms: 3000.into(),
            stderr_max_bytes: (64 * 1024).into(),
            timeout_ms: config.timeout_ms.get().into(),
            pattern_hints: config.pattern_hints,
        }
    }
}

impl TryFrom<Settings> for SearchConfig {
    type Error = String;

    fn try_from(settings: Settings) -> Result<Self, String> {
        let sample_over_cap_glob_results = settings
            .sample_over_cap_glob_results
            .ok_or("tool-fs-search: sampleOverCapGlobResults is required: true or false")?;
        let glob_max_results = positive("globMaxResults", &settings.glob_max_results)?;
        let grep_max_matches = positive("grepMaxMatches", &settings.grep_max_matches)?;
        let grep_max_line_bytes = positive("grepMaxLineBytes", &settings.grep_max_line_bytes)?;
        let search_meta_max_bytes = positive("searchMetaMaxBytes", &settings.search_meta_max_bytes)?;
        positive("rawOutputMaxBytes", &settings.raw_output_max_bytes)?;
        if positive("graceMs", &settings.grace_ms)?.get() > MAX_GRACE_MS {
            return Err(format!("tool-fs-search: graceMs must be no greater than {MAX_GRACE_MS}"));
        }
        positive("stderrMaxBytes", &settings.stderr_max_bytes)?;
        let timeout_ms = positive("timeoutMs", &settings.timeout_ms)?;
        Ok(Self {
            sample_over_cap_glob_results,
            glob_max_results,
            grep_max_matches,
            grep_max_line_bytes,
            search_meta_max_bytes,
            timeout_ms,
            pattern_hints: settings.pattern_hints,
        })
    }
}

fn positive(key: &str, value: &Json) -> Result<NonZeroU64, String> {
    positive_integer(value).ok_or_else(|| format!("tool-fs-search: {key} must be a positive integer"))
}
