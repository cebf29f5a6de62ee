//! The rows of a composition become others while the tree runs.

use std::path::Path;

use dsh_plugin::{Composition, Context, Failure, MountedRows, PlainError, Plugin, Registry, RowChanges};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::probe::{A, Log, Roll, logging, probe, providing};

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Words {
    word: String,
}

/// Logs its word when it starts and when it is unloaded, and at each [`Roll`]; `bad` it does not start with.
struct Speaker(Log);

impl Plugin for Speaker {
    type Config = Words;

    fn name(&self) -> &'static str {
        "speaker"
    }

    async fn apply(&self, ctx: Context, config: Words) -> Result<(), Failure> {
        let (word, log) = (config.word, self.0.clone());
        log.add(format!("+{word}"));
        let gone = (word.clone(), log.clone());
        ctx.effect("word", move || gone.1.add(format!("-{}", gone.0)))?;
        if word == "bad" {
            return Err(PlainError::new("a bad word").into());
        }
        ctx.on::<Roll>(move |()| {
            log.add(word.clone());
            Ok(())
        })?;
        Ok(())
    }
}

struct Rig {
    root: Context,
    log: Log,
    registry: Registry,
    rows: MountedRows,
}

impl Rig {
    async fn new(text: &str) -> Self {
        let (root, log) = (Context::root(), Log::default());
        let registry = Registry::new()
            .with("dsh-speaker", Speaker(log.clone()))
            .with("dsh-a", providing("a1", Some(A), &log))
            .with("dsh-other-a", providing("a2", Some(A), &log))
            .with("dsh-needs-a", logging("needs-a", &log).injecting(&["a"]))
            .with("dsh-one", logging("one", &log))
            .with("dsh-bad", probe("bad", |_| async { Err(PlainError::new("boom"))? }));
        let rows = Composition::parse(text, Path::new("c.yaml")).unwrap().bind(&registry).unwrap();
        let rows = root.compose(rows).await.unwrap();
        log.take();
        Self { root, log, registry, rows }
    }

    /// What happened, and what is told of it.
    async fn reload(&mut self, text: &str) -> (String, Result<RowChanges, String>) {
        let rows = Composition::parse(text, Path::new("c.yaml")).unwrap().bind(&self.registry).unwrap();
        let told = self.rows.reload(rows).await.map_err(|error| error.to_string());
        (self.log.take(), told)
    }

    fn roll(&self) -> String {
        self.root.emit::<Roll>(&()).unwrap();
        self.log.take()
    }
}

/// `added; restarted; removed`.
fn told(changes: &RowChanges) -> String {
    [&changes.added, &changes.restarted, &changes.removed].map(|rows| rows.join(",")).join("; ")
}

fn speakers(words: &[&str]) -> String {
    let rows = words.iter().map(|word| format!("- name: dsh-speaker\n  config: {{ word: {word} }}\n"));
    rows.collect::<Vec<_>>().concat()
}

#[tokio::test]
async fn what_is_as_it_was_keeps_running_wherever_its_row_stands_in_the_file() {
    let mut rig = Rig::new("- name: dsh-one\n- name: dsh-speaker\n  config: { word: x }\n").await;
    let text =
        "# moved down\n\n- name: dsh-one\n- { name: '@deepseek-ai/dsh-speaker', config: { word: x } }\n";
    let (happened, told) = rig.reload(text).await;
    assert_eq!(happened, "");
    assert!(told.unwrap().is_empty());
}

#[tokio::test]
async fn a_changed_row_starts_anew_and_its_listeners_keep_their_place() {
    let mut rig = Rig::new(&speakers(&["x", "y", "z"])).await;
    let (happened, changes) = rig.reload(&speakers(&["x", "new", "z"])).await;
    assert_eq!((happened.as_str(), told(&changes.unwrap()).as_str()), ("-y +new", "; dsh-speaker; "));
    assert_eq!(rig.roll(), "x new z");
}

#[tokio::test]
async fn who_uses_a_service_of_a_changed_row_starts_anew_with_it() {
    let mut rig = Rig::new("- name: dsh-a\n- name: dsh-one\n- name: dsh-needs-a\n").await;
    let (happened, changes) = rig.reload("- name: dsh-other-a\n- name: dsh-one\n- name: dsh-needs-a\n").await;
    assert_eq!(happened, "-needs-a -a1 +a2 +needs-a");
    assert_eq!(told(&changes.unwrap()), "dsh-other-a; ; dsh-a");
    assert_eq!(&*rig.root.service(A).unwrap(), "a2");
}

#[tokio::test]
async fn a_row_that_is_gone_is_unloaded_and_the_others_stay() {
    let mut rig = Rig::new(&format!("{}- name: dsh-one\n", speakers(&["x"]))).await;
    let (happened, changes) = rig.reload("- name: dsh-one\n").await;
    assert_eq!((happened.as_str(), told(&changes.unwrap()).as_str()), ("-x", "; ; dsh-speaker"));
    let (happened, _) = rig.reload("[]").await;
    assert_eq!(happened, "-one");
    assert!(rig.root.tree().children.is_empty());
}

#[tokio::test]
async fn behind_a_row_that_is_new_the_others_start_anew_in_the_order_of_the_file() {
    let first = "- { name: dsh-speaker, id: x, config: { word: x } }\n";
    let last = "- { name: dsh-speaker, id: z, config: { word: z } }\n";
    let mut rig = Rig::new(&format!("{first}{last}")).await;
    let new = "- { name: dsh-speaker, id: y, config: { word: y } }\n";
    let (happened, changes) = rig.reload(&format!("{first}{new}{last}")).await;
    assert_eq!(
        (happened.as_str(), told(&changes.unwrap()).as_str()),
        ("-z +y +z", "dsh-speaker; dsh-speaker; ")
    );
    assert_eq!(rig.roll(), "x y z");
    let (happened, _) = rig.reload(&format!("{first}{new}{last}- name: dsh-one\n")).await;
    assert_eq!(happened, "+one");
    let (happened, _) = rig.reload(&format!("{last}{first}{new}- name: dsh-one\n")).await;
    assert_eq!(happened, "-one -y -x +x +y +one");
    assert_eq!(rig.roll(), "z x y");
}

#[tokio::test]
async fn when_a_row_fails_those_before_are_brought_back() {
    let mut rig = Rig::new(&format!("- name: dsh-one\n{}", speakers(&["x", "y"]))).await;
    let (happened, changes) = rig.reload(&format!("- name: dsh-one\n{}", speakers(&["new", "bad"]))).await;
    assert_eq!(
        changes.unwrap_err(),
        "c.yaml:4: row 3 \"dsh-speaker\": plugin \"speaker\" failed to start: a bad word"
    );
    assert_eq!(happened, "-y -x +new +bad -bad -new +x +y");
    assert_eq!(rig.roll(), "x y");
    let (happened, changes) = rig.reload("- name: dsh-one\n- name: dsh-bad\n").await;
    assert_eq!(changes.unwrap_err(), "c.yaml:2: row 2 \"dsh-bad\": plugin \"bad\" failed to start: boom");
    assert_eq!(happened, "-y -x +x +y");
    // And from there it goes on.
    let (happened, _) = rig.reload(&format!("- name: dsh-one\n{}", speakers(&["x", "z"]))).await;
    assert_eq!(happened, "-y +z");
}

#[tokio::test]
async fn a_row_that_would_wait_for_ever_is_refused_too() {
    let mut rig = Rig::new("- name: dsh-a\n- name: dsh-needs-a\n").await;
    let (happened, changes) = rig.reload("- name: dsh-one\n- name: dsh-needs-a\n").await;
    assert_eq!(
        changes.unwrap_err(),
        "c.yaml:2: row 2 \"dsh-needs-a\": waits for a service that no plugin provides: \"a\""
    );
    assert_eq!(happened, "-needs-a -a1 +one -one +a1 +needs-a");
}

#[tokio::test]
async fn what_a_row_was_made_with_beside_its_settings_counts() {
    let mut rig = Rig::new("- name: dsh-one\n").await;
    let rows = |rig: &Rig, beside: &str| {
        vec![rig.registry.configure("dsh-one", serde_json::json!(null)).unwrap().made_with(beside)]
    };
    rig.rows.reload(rows(&rig, "x")).await.unwrap();
    assert_eq!(rig.log.take(), "-one +one");
    rig.rows.reload(rows(&rig, "x")).await.unwrap();
    assert_eq!(rig.log.take(), "");
}

#[tokio::test]
async fn a_reload_that_is_dropped_half_way_is_gone_on_with_by_the_next() {
    let mut rig = Rig::new(&speakers(&["x", "y"])).await;
    let stuck = probe("stuck", |_| async {
        std::future::pending::<()>().await;
        Ok(())
    });
    let registry = std::mem::take(&mut rig.registry).with("dsh-stuck", stuck);
    rig.registry = registry;
    let text = format!("{}- name: dsh-stuck\n", speakers(&["x"]));
    let rows = Composition::parse(&text, Path::new("c.yaml")).unwrap().bind(&rig.registry).unwrap();
    let patience = std::time::Duration::from_millis(5);
    tokio::time::timeout(patience, rig.rows.reload(rows)).await.unwrap_err();
    assert_eq!(rig.log.take(), "-y");
    let (happened, changes) = rig.reload(&speakers(&["x", "z"])).await;
    assert_eq!((happened.as_str(), told(&changes.unwrap()).as_str()), ("+z", "dsh-speaker; ; dsh-stuck"));
    assert_eq!(rig.roll(), "x z");
}
