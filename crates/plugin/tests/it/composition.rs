use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_plugin::{
    Coded, Composition, CompositionErrorKind, Configured, Context, Failure, NoConfig, PlainError, Plugin,
    Registry,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::probe::{A, B, Log, logging, probe, providing};

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
struct Where {
    cwd: Option<PathBuf>,
    read_limit: Option<u64>,
}

/// Logs its settings.
#[derive(Clone)]
struct Teller(Log);

impl Plugin for Teller {
    type Config = Where;

    fn name(&self) -> &'static str {
        "teller"
    }

    async fn apply(&self, _ctx: Context, config: Where) -> Result<(), Failure> {
        self.0.add(format!("{:?},{:?}", config.cwd, config.read_limit));
        Ok(())
    }
}

fn registry(log: &Log) -> Registry {
    Registry::new()
        .with("dsh-one", logging("one", log))
        .with("dsh-a", providing("pa", Some(A), log))
        .with("dsh-needs-a", logging("needs-a", log).injecting(&["a"]))
        .with("dsh-needs-b", logging("needs-b", log).injecting(&["b", "a"]))
        .with("dsh-bad", probe("bad", |_| async { Err(PlainError::new("boom"))? }))
        .with(
            "dsh-bad-child",
            probe("parent", |ctx| async move {
                ctx.mount(probe("child", |_| async { Err(PlainError::new("boom"))? }), NoConfig {})?;
                Ok(())
            }),
        )
        .with_paths("dsh-teller", Teller(log.clone()), |config, base| {
            config.cwd = config.cwd.as_ref().map(|cwd| base.join(cwd));
        })
        .alias("dsh-first", "dsh-one")
}

fn parse(text: &str) -> Composition {
    Composition::parse(text, Path::new("dir/compose.yaml")).unwrap()
}

fn bind(text: &str, log: &Log) -> Vec<Configured> {
    parse(text).bind(&registry(log)).unwrap()
}

/// The message of a text that cannot be parsed or bound.
fn refusal(text: &str) -> String {
    let error = match Composition::parse(text, Path::new("dir/compose.yaml")) {
        Ok(composition) => composition.bind(&registry(&Log::default())).unwrap_err(),
        Err(error) => error,
    };
    assert_eq!(
        (error.kind(), error.code()),
        (CompositionErrorKind::Invalid, Some("COMPOSITION_INVALID")),
        "{error}"
    );
    error.to_string()
}

#[tokio::test]
async fn rows_start_in_file_order_and_disabled_ones_do_not() {
    let (root, log) = (Context::root(), Log::default());
    let rows = bind(
        "# A comment.\n\
         - name: '@deepseek-ai/dsh-needs-a' # waits for the next one\n\
         - name: dsh-a\n  id: the-a\n  config: {}\n\
         - name: dsh-one\n  disabled: true\n\
         - name: dsh-first\n  disabled: false\n  config:\n",
        &log,
    );
    assert_eq!(rows.iter().map(Configured::name).collect::<Vec<_>>(), ["needs-a", "pa", "one"]);
    root.compose(rows).await.unwrap();
    assert_eq!(log.take(), "+pa +needs-a +one");
    root.dispose().await;
    assert_eq!(log.take(), "-one -needs-a -pa");
}

#[tokio::test]
async fn a_json_file_is_a_composition_too() {
    let (root, log) = (Context::root(), Log::default());
    let text =
        "[\n\t{ \"name\": \"dsh-teller\", \"config\": { \"cwd\": \"\\u0061/b\", \"readLimit\": 7 } }\n]\n";
    root.compose(bind(text, &log)).await.unwrap();
    assert_eq!(log.take(), "Some(\"dir/a/b\"),Some(7)");
}

#[tokio::test]
async fn an_empty_list_composes_nothing() {
    let root = Context::root();
    root.compose(bind("[]", &Log::default())).await.unwrap();
    assert!(root.tree().children.is_empty());
}

#[tokio::test]
async fn a_row_can_be_mounted_alone() {
    let (root, log) = (Context::root(), Log::default());
    for row in bind("- name: dsh-one\n", &log) {
        root.mount_row(row).unwrap();
    }
    root.settle().await.unwrap();
    assert_eq!(log.take(), "+one");
}

#[tokio::test]
async fn a_row_that_fails_unmounts_what_was_mounted_in_reverse_order() {
    let (root, log) = (Context::root(), Log::default());
    root.plugin(logging("before", &log), NoConfig {}).await.unwrap();
    let rows = bind(
        "- name: dsh-one\n- name: dsh-a\n- name: dsh-needs-a\n\n- name: dsh-bad\n  id: b\n- name: dsh-first\n",
        &log,
    );
    let error = root.compose(rows).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "dir/compose.yaml:5: row 4 \"dsh-bad\" (id \"b\"): plugin \"bad\" failed to start: boom"
    );
    assert_eq!((error.kind(), error.code()), (CompositionErrorKind::RowFailed, Some("ROW_FAILED")));
    assert_eq!(
        (error.file(), error.line(), error.row()),
        (Some(Path::new("dir/compose.yaml")), Some(5), Some(4))
    );
    assert_eq!(log.take(), "+before +one +pa +needs-a -needs-a -pa -one");
    assert_eq!(root.tree().children.len(), 1);
}

#[tokio::test]
async fn a_plugin_that_a_row_mounts_and_that_fails_is_a_failure_of_the_row() {
    let root = Context::root();
    let error = root.compose(bind("- name: dsh-bad-child\n", &Log::default())).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "dir/compose.yaml:1: row 1 \"dsh-bad-child\": plugin \"child\" failed to start: boom"
    );
    assert!(root.tree().children.is_empty());
}

#[tokio::test]
async fn a_row_that_still_waits_at_the_end_is_an_error_that_names_the_services() {
    let (root, log) = (Context::root(), Log::default());
    let rows = bind("- name: dsh-one\n- name: dsh-needs-b\n- name: dsh-needs-a\n", &log);
    let error = root.compose(rows).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "dir/compose.yaml:2: row 2 \"dsh-needs-b\": waits for a service that no plugin provides: \"b\", \"a\"; \
         row 3 \"dsh-needs-a\" waits for a service that no plugin provides: \"a\""
    );
    assert_eq!(error.code(), Some("ROW_WAITING"));
    assert_eq!(log.take(), "+one -one");
    assert!(root.tree().children.is_empty());

    // What is there already counts.
    root.provide(A, Arc::from("a")).unwrap();
    root.provide(B, Arc::from("b")).unwrap();
    root.compose(bind("- name: dsh-needs-b\n", &log)).await.unwrap();
}

#[tokio::test]
async fn a_composition_that_is_cut_off_is_unmounted_by_the_next_settle() {
    let (root, log) = (Context::root(), Log::default());
    let endless = registry(&log).with("dsh-endless", probe("endless", |_| std::future::pending()));
    let rows = parse("- name: dsh-one\n- name: dsh-endless\n").bind(&endless).unwrap();
    tokio::time::timeout(std::time::Duration::from_millis(5), root.compose(rows)).await.unwrap_err();
    root.settle().await.unwrap();
    assert_eq!(log.take(), "+one -one");
    assert!(root.tree().children.is_empty());
}

#[tokio::test]
async fn rows_that_come_from_no_file_are_numbered_as_they_are_composed() {
    let (root, log) = (Context::root(), Log::default());
    let registry = registry(&log);
    let row = |name| registry.configure(name, serde_json::Value::Null).unwrap();
    let error = root.compose(vec![row("dsh-one"), row("@deepseek-ai/dsh-bad")]).await.unwrap_err();
    assert_eq!(error.to_string(), "row 2 \"@deepseek-ai/dsh-bad\": plugin \"bad\" failed to start: boom");
}

#[tokio::test]
async fn paths_are_relative_to_the_folder_of_the_file() {
    let (root, log) = (Context::root(), Log::default());
    root.compose(bind("- name: dsh-teller\n  config: { cwd: . }\n", &log)).await.unwrap();
    assert_eq!(log.take(), "Some(\"dir/.\"),None");
    root.compose(bind("- name: dsh-teller\n  config: { cwd: /abs }\n", &log)).await.unwrap();
    assert_eq!(log.take(), "Some(\"/abs\"),None");
    let row = registry(&log).configure("dsh-teller", serde_json::json!({"cwd": "here"})).unwrap();
    root.compose(vec![row]).await.unwrap();
    assert_eq!(log.take(), "Some(\"here\"),None");
}

#[test]
fn an_unknown_plugin_is_refused_with_those_that_are_known() {
    assert_eq!(
        refusal("- name: dsh-one\n- id: x\n  name: '@deepseek-ai/dsh-tellr'\n"),
        "dir/compose.yaml:2: row 2 \"@deepseek-ai/dsh-tellr\" (id \"x\"): unknown plugin \"@deepseek-ai/dsh-tellr\" (did you mean \
         \"dsh-teller\"?); known: dsh-a, dsh-bad, dsh-bad-child, dsh-first, dsh-needs-a, dsh-needs-b, dsh-one, dsh-teller"
    );
}

#[test]
fn an_unknown_setting_is_refused_at_its_line_with_those_that_are_known() {
    assert_eq!(
        refusal("- name: dsh-teller\n  config:\n    cwd: .\n    readLimt: 1\n"),
        "dir/compose.yaml:4: row 1 \"dsh-teller\": unknown setting \"readLimt\" (did you mean \"readLimit\"?); known: cwd, \
         readLimit"
    );
    assert_eq!(
        refusal("- name: dsh-one\n  config: { x: 1 }\n"),
        "dir/compose.yaml:2: row 1 \"dsh-one\": unknown setting \"x\"; there are none"
    );
}

#[test]
fn a_wrong_value_is_refused_at_its_line() {
    assert_eq!(
        refusal("- name: dsh-teller\n  config:\n    cwd: .\n    readLimit: many\n"),
        "dir/compose.yaml:4: row 1 \"dsh-teller\": setting \"readLimit\": invalid type: string \"many\", expected u64"
    );
    assert_eq!(
        refusal("- name: dsh-teller\n  config: 5\n"),
        "dir/compose.yaml:2: row 1 \"dsh-teller\": config must be a mapping of settings, not a number"
    );
}

#[test]
fn a_disabled_row_is_checked_too() {
    assert_eq!(
        refusal("- name: dsh-one\n  disabled: true\n  config: { x: 1 }\n"),
        "dir/compose.yaml:3: row 1 \"dsh-one\": unknown setting \"x\"; there are none"
    );
}

#[test]
fn an_unknown_row_key_is_refused_with_those_that_are_known() {
    assert_eq!(
        refusal("- name: dsh-one\n- conf: {}\n  name: dsh-one\n"),
        "dir/compose.yaml:2: row 2 \"dsh-one\": unknown row key \"conf\" (did you mean \"config\"?); known: name, id, config, disabled"
    );
    assert_eq!(
        refusal("- name: dsh-one\n  group: true\n"),
        "dir/compose.yaml:2: row 1 \"dsh-one\": unknown row key \"group\"; known: name, id, config, disabled"
    );
}

#[test]
fn an_id_that_is_there_twice_is_refused() {
    assert_eq!(
        refusal("- name: dsh-one\n  id: x\n- name: dsh-one\n- name: dsh-a\n  id: x\n"),
        "dir/compose.yaml:4: row 3 \"dsh-a\" (id \"x\"): id \"x\" is already that of row 1"
    );
}

#[test]
fn what_is_not_a_list_of_rows_is_refused() {
    for text in ["", "# only a comment\n", "~", "name: dsh-one\n", "5", "{}"] {
        assert_eq!(refusal(text), "dir/compose.yaml: composition file must be a list of rows");
    }
    assert_eq!(refusal("- 5"), "dir/compose.yaml:1: row 1: a row must be a mapping, not a number");
    assert_eq!(refusal("-\n"), "dir/compose.yaml:1: row 1: a row must be a mapping, not nothing");
    assert_eq!(refusal("- [a]"), "dir/compose.yaml:1: row 1: a row must be a mapping, not a list");
    assert_eq!(refusal("\n- id: x\n"), "dir/compose.yaml:2: row 1 (id \"x\"): a row must have a name");
    assert_eq!(
        refusal("- id: x\n  name: 7\n"),
        "dir/compose.yaml:2: row 1 (id \"x\"): name must be a string, not a number"
    );
    assert_eq!(
        refusal("- name: dsh-one\n  id: ''\n"),
        "dir/compose.yaml:2: row 1 \"dsh-one\": id must be a string, not empty"
    );
    assert_eq!(
        refusal("- name: dsh-one\n  disabled: yes\n"),
        "dir/compose.yaml:2: row 1 \"dsh-one\": disabled must be true or false, not a string"
    );
}

#[test]
fn what_is_not_yaml_and_what_yaml_could_do_harm_with_is_refused() {
    for (text, message) in [
        ("- name: [", ":1: not valid YAML: unclosed bracket '[' (column 9)"),
        (
            "- name: a\n  name: b\n",
            ":2: not valid YAML: duplicate mapping key `name` is not allowed here (column 3)",
        ),
        ("- name: a\n  disabled: !!js x\n", ":2: not valid YAML: unsupported tag `!!js` (column 18)"),
        ("- name: a\n- *x\n", ":2: not valid YAML: reference to unknown value (column 3)"),
        ("- &x {name: a}\n- {<<: *x}\n", ":2: not valid YAML: merge key not allowed here (column 4)"),
        (
            "- name: a\n---\n- name: b\n",
            ":3: not valid YAML: only single YAML document expected but multiple found (column 1)",
        ),
    ] {
        assert_eq!(refusal(text), format!("dir/compose.yaml{message}"));
    }
    let mut bomb = "- &a0 [x]\n".to_owned();
    for i in 1..12 {
        let expanded = vec![format!("*a{}", i - 1); 10].join(",");
        bomb = format!("{bomb}- &a{i} [{expanded}]\n");
    }
    for text in [bomb, "[".repeat(100_000), "- name: dsh-one\n".repeat(60_000)] {
        assert!(refusal(&text).contains(": not valid YAML: "));
    }
}

#[test]
fn aliases_within_reason_are_allowed() {
    let rows = bind(
        "- name: dsh-teller\n  config: &c { readLimit: 1 }\n- name: dsh-teller\n  config: *c\n",
        &Log::default(),
    );
    assert_eq!(rows.len(), 2);
}

#[tokio::test]
async fn a_file_is_loaded_by_its_extension() {
    let dir = tempfile::tempdir().unwrap();
    let (root, log) = (Context::root(), Log::default());
    for (name, text) in [
        ("c.yaml", "- name: dsh-one\n"),
        ("c.yml", "- name: dsh-one\n"),
        ("c.JSON", "[{\"name\":\"dsh-one\"}]"),
    ] {
        let file = dir.path().join(name);
        std::fs::write(&file, text).unwrap();
        root.compose(Composition::load(&file).unwrap().bind(&registry(&log)).unwrap()).await.unwrap();
    }
    assert_eq!(log.take(), "+one +one +one");

    let error = Composition::load(Path::new("c.toml")).unwrap_err();
    assert_eq!(error.to_string(), "c.toml: a composition file ends in .yaml, .yml or .json");
    assert_eq!(error.code(), Some("COMPOSITION_UNREADABLE"));
    let error = Composition::load(Path::new("no/such.yaml")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no/such.yaml: cannot read the composition file: No such file or directory (os error 2)"
    );
    let file = dir.path().join("binary.yaml");
    std::fs::write(&file, b"- name: \xff\n").unwrap();
    assert!(
        Composition::load(&file).unwrap_err().to_string().ends_with("stream did not contain valid UTF-8")
    );
}
