use std::num::NonZeroU64;
use std::time::Duration;

use dsh_tool_fs_search::SearchConfig;
use serde_json::{Value as Json, json};

use crate::rig::Rig;

fn config(settings: Json) -> Result<SearchConfig, String> {
    serde_json::from_value(settings).map_err(|error| error.to_string())
}

fn with(key: &str, value: impl Into<Json>) -> Result<SearchConfig, String> {
    config(json!({ "sampleOverCapGlobResults": true, key: value.into() }))
}

#[test]
fn defaults_are_the_shipped_limits() {
    let default = config(json!({ "sampleOverCapGlobResults": true })).unwrap();
    assert_eq!(default, SearchConfig::new(true));
    let SearchConfig {
        sample_over_cap_glob_results,
        glob_max_results,
        grep_max_matches,
        grep_max_line_bytes,
        search_meta_max_bytes,
        timeout_ms,
        pattern_hints,
    } = default;
    let limits = [glob_max_results, grep_max_matches, grep_max_line_bytes, search_meta_max_bytes, timeout_ms];
    assert_eq!(limits.map(NonZeroU64::get), [100, 250, 2000, 65_536, 30_000]);
    assert!(sample_over_cap_glob_results && !pattern_hints);
}

#[test]
fn how_a_long_list_is_shown_must_be_said() {
    let required = "tool-fs-search: sampleOverCapGlobResults is required: true or false";
    assert_eq!(config(json!({})), Err(required.to_owned()));
    assert_eq!(config(json!({ "globMaxResults": 0 })), Err(required.to_owned()));
    assert_eq!(
        config(json!({ "sampleOverCapGlobResults": "yes" })),
        Err("invalid type: string \"yes\", expected a boolean".to_owned())
    );
}

#[test]
fn the_schema_says_what_must_be_given() {
    let schema = schemars::schema_for!(SearchConfig);
    let schema = schema.as_value();
    assert_eq!(schema["required"], json!(["sampleOverCapGlobResults"]));
    assert_eq!(schema["properties"]["sampleOverCapGlobResults"]["type"], "boolean");
    assert_eq!(schema["properties"]["sampleOverCapGlobResults"].get("default"), None);
    assert_eq!(schema["properties"]["timeoutMs"]["default"], 30_000);
}

#[test]
fn a_limit_that_is_no_positive_integer_is_refused_by_name() {
    let keys = [
        "globMaxResults",
        "grepMaxMatches",
        "grepMaxLineBytes",
        "searchMetaMaxBytes",
        "rawOutputMaxBytes",
        "graceMs",
        "stderrMaxBytes",
        "timeoutMs",
    ];
    let mut all = json!({ "sampleOverCapGlobResults": true });
    for key in keys {
        for value in [json!(0), json!(-1), json!(1.5), json!(-100), json!("5"), json!(true)] {
            assert_eq!(with(key, value), Err(format!("tool-fs-search: {key} must be a positive integer")));
        }
        assert!(with(key, 5.0).is_ok());
        all[key] = json!(0);
    }
    // Of several the first in this order is named.
    for key in keys {
        assert_eq!(config(all.clone()), Err(format!("tool-fs-search: {key} must be a positive integer")));
        all[key] = json!(1);
    }
    assert!(config(all).is_ok());
}

#[test]
fn grace_must_fit_a_timer() {
    assert!(with("graceMs", 2_147_483_647_u64).is_ok());
    let refused = Err("tool-fs-search: graceMs must be no greater than 2147483647".to_owned());
    assert_eq!(with("graceMs", 2_147_483_648_u64), refused);
    let both = json!({ "sampleOverCapGlobResults": true, "graceMs": 1e300, "stderrMaxBytes": 0 });
    assert_eq!(config(both), refused);
}

#[test]
fn an_unknown_setting_is_refused() {
    let error = with("globMaxPaths", 1).unwrap_err();
    assert!(error.starts_with("unknown field `globMaxPaths`, expected one of"), "{error}");
}

#[tokio::test]
async fn both_tools_have_the_time_budget() {
    for (settings, timeout) in [(json!({}), 30_000), (json!({ "timeoutMs": 20 }), 20)] {
        let rig = Rig::new(crate::rig::config(settings)).await;
        let budgets: Vec<_> = rig.tools.definitions().iter().map(|tool| tool.timeout).collect();
        assert_eq!(budgets, [Some(Duration::from_millis(timeout)); 2]);
    }
}
