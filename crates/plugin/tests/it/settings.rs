use std::collections::BTreeMap;
use std::path::PathBuf;

use dsh_plugin::{Coded, Context, Failure, Plugin, Registry};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::probe::Log;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
struct Settings {
    read_limit: u64,
    cwd: Option<PathBuf>,
    mode: Mode,
    limits: Limits,
    words: Vec<String>,
    any: BTreeMap<String, Option<i32>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            read_limit: 2000,
            cwd: None,
            mode: Mode::Careful,
            limits: Limits { bytes: 5 },
            words: Vec::new(),
            any: BTreeMap::new(),
        }
    }
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    Careful,
    VeryFast,
    Custom {
        #[expect(dead_code, reason = "seen in the Debug output")]
        speed: u8,
    },
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Limits {
    #[expect(dead_code, reason = "seen in the Debug output")]
    bytes: u64,
}

/// Logs its settings.
struct Echo(Log);

impl Plugin for Echo {
    type Config = Settings;

    fn name(&self) -> &'static str {
        "echo"
    }

    async fn apply(&self, _ctx: Context, config: Settings) -> Result<(), Failure> {
        self.0.add(format!("{config:?}"));
        Ok(())
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
struct Flattened {
    #[serde(default)]
    #[expect(dead_code, reason = "read by serde only")]
    own: u8,
    #[serde(flatten)]
    #[expect(dead_code, reason = "read by serde only")]
    limits: Limits,
}

struct Flat;

impl Plugin for Flat {
    type Config = Flattened;

    fn name(&self) -> &'static str {
        "flat"
    }

    async fn apply(&self, _ctx: Context, _config: Flattened) -> Result<(), Failure> {
        Ok(())
    }
}

async fn read(config: Json) -> String {
    let log = Log::default();
    let row = Registry::new().with("echo", Echo(log.clone())).configure("echo", config).unwrap();
    Context::root().compose(vec![row]).await.unwrap();
    log.take()
}

fn refusal(row: &str, config: Json) -> String {
    let registry = Registry::new().with("echo", Echo(Log::default())).with("flat", Flat);
    let error = registry.configure(row, config).unwrap_err();
    assert_eq!(error.code(), Some("COMPOSITION_INVALID"));
    error.to_string()
}

#[tokio::test]
async fn absent_settings_and_nulls_have_their_defaults() {
    let defaults = "Settings { read_limit: 2000, cwd: None, mode: Careful, limits: Limits { bytes: 5 }, words: [], any: {} }";
    assert_eq!(read(Json::Null).await, defaults);
    assert_eq!(read(json!({})).await, defaults);
    assert_eq!(read(json!({"readLimit": null, "cwd": null, "mode": null})).await, defaults);
}

#[tokio::test]
async fn every_shape_of_setting_is_read() {
    let config = json!({
        "readLimit": 7, "cwd": "here", "mode": "very-fast", "limits": {"bytes": 1}, "words": ["a", "b"], "any": {"x": -1, "y": null}
    });
    assert_eq!(
        read(config).await,
        "Settings { read_limit: 7, cwd: Some(\"here\"), mode: VeryFast, limits: Limits { bytes: 1 }, words: [\"a\", \"b\"], any: \
         {\"x\": Some(-1), \"y\": None} }"
    );
    assert!(read(json!({"mode": {"custom": {"speed": 3}}})).await.contains("Custom { speed: 3 }"));
}

#[test]
fn an_unknown_setting_is_refused_with_those_that_are_known() {
    assert_eq!(
        refusal("echo", json!({"readlimits": 1})),
        "unknown setting \"readlimits\" (did you mean \"readLimit\"?); known: readLimit, cwd, mode, limits, words, any"
    );
    assert_eq!(
        refusal("echo", json!({"limits": {"bites": 1}})),
        "unknown setting \"limits.bites\" (did you mean \"bytes\"?); known: bytes"
    );
}

#[test]
fn nulls_are_absent_in_a_type_that_flattens_another_too() {
    let registry = Registry::new().with("flat", Flat);
    registry.configure("flat", json!({"own": null, "bytes": 1})).unwrap();
}

#[test]
fn an_unknown_setting_of_a_type_that_flattens_another_is_refused_too() {
    assert_eq!(refusal("flat", json!({"bytes": 1, "xyz": 1})), "unknown setting \"xyz\"; known: own, bytes");
}

#[test]
fn a_wrong_value_is_refused_with_the_name_of_its_setting() {
    for (config, message) in [
        (json!({"readLimit": "many"}), "setting \"readLimit\": invalid type: string \"many\", expected u64"),
        (json!({"readLimit": -1}), "setting \"readLimit\": invalid value: integer `-1`, expected u64"),
        (
            json!({"mode": "fast"}),
            "setting \"mode\": unknown variant `fast`, expected one of `careful`, `very-fast`, `custom`",
        ),
        (json!({"words": ["a", 1]}), "setting \"words.1\": invalid type: integer `1`, expected a string"),
        (
            json!({"limits": {"bytes": true}}),
            "setting \"limits.bytes\": invalid type: boolean `true`, expected u64",
        ),
        (json!({"limits": {}}), "setting \"limits\": missing required setting \"bytes\""),
        (json!(5), "config must be a mapping of settings, not a number"),
    ] {
        assert_eq!(refusal("echo", config), message);
    }
    assert_eq!(refusal("flat", json!({})), "missing required setting \"bytes\"");
}

#[test]
fn the_schemas_of_all_rows_are_there_for_documentation() {
    let schemas = Registry::new()
        .with("flat", Flat)
        .with("echo", Echo(Log::default()))
        .alias("old-echo", "echo")
        .schemas();
    assert_eq!(schemas.iter().map(|row| row.row_name).collect::<Vec<_>>(), ["flat", "echo"]);
    assert_eq!(schemas[1].aliases, ["old-echo"]);
    let keys: Vec<_> = schemas[1].schema.get("properties").unwrap().as_object().unwrap().keys().collect();
    assert_eq!(keys, ["readLimit", "cwd", "mode", "limits", "words", "any"]);
    assert_eq!(schemas[1].schema.get("properties").unwrap()["readLimit"]["default"], 2000);
}
