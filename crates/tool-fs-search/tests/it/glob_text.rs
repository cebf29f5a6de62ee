//! What a model sees of paths that were found.

use serde_json::{Value as Json, json};

use crate::rig::{config, paths, shown};

async fn text(settings: Json, value: Json) -> String {
    shown(config(settings), "glob", value).await.text()
}

const UNSAVED: &str = "The complete result could not be saved; narrow pattern or path to see more.)";

fn three_folders() -> Json {
    let names = [
        "d0/f0", "d1/f7", "d2/f2", "d0/f9", "d1/f4", "d2/f11", "d0/f6", "d1/f1", "d2/f8", "d0/f3", "d1/f10",
        "d2/f5",
    ];
    paths(&names)
}

#[tokio::test]
async fn what_fits_is_the_list_and_nothing_else() {
    assert_eq!(text(json!({}), paths(&[])).await, "No files found");
    assert_eq!(text(json!({}), paths(&["b", "a/c"])).await, "b\na/c");
    for sample in [true, false] {
        let exact = json!({ "globMaxResults": 2, "sampleOverCapGlobResults": sample });
        assert_eq!(text(exact, paths(&["b", "a/c"])).await, "b\na/c");
    }
}

#[tokio::test]
async fn over_the_cap_the_head_is_shown() {
    let head = text(json!({ "globMaxResults": 5 }), three_folders()).await;
    assert_eq!(head, format!("d0/f0\nd1/f7\nd2/f2\nd0/f9\nd1/f4\n\n(Showing 5 of 12 paths. {UNSAVED}"));
}

#[tokio::test]
async fn over_the_cap_a_sample_is_shown() {
    let sampled = |cap| json!({ "globMaxResults": cap, "sampleOverCapGlobResults": true });
    assert_eq!(
        text(sampled(2), three_folders()).await,
        format!(
            "d0/f0\nd1/f7\n\n(Showing 2 of 12 paths, sampled across 2 of the 3 top-level entries this pattern matched \
             instead of taken in modification-time order. Narrow path to inspect a specific subtree. {UNSAVED}"
        )
    );
    assert_eq!(
        text(sampled(5), three_folders()).await,
        format!(
            "d0/f0\nd0/f9\nd1/f7\nd1/f4\nd2/f2\n\n(Showing 5 of 12 paths, sampled across 3 of the 3 top-level entries \
             this pattern matched instead of taken in modification-time order. {UNSAVED}"
        )
    );
}

#[tokio::test]
async fn a_flat_list_is_not_called_sampled() {
    let sampled = json!({ "globMaxResults": 2, "sampleOverCapGlobResults": true });
    let flat = paths(&["a", "b", "c"]);
    assert_eq!(text(sampled, flat).await, format!("a\nb\n\n(Showing 2 of 3 paths. {UNSAVED}"));
}

#[tokio::test]
async fn sampling_looks_below_the_path_that_was_searched() {
    let sampled = json!({ "globMaxResults": 2, "sampleOverCapGlobResults": true });
    let value = json!({ "root": "./src/", "paths": ["./src/a/1", "./src/a/2", "./src/b"] });
    assert_eq!(
        text(sampled, value).await,
        format!(
            "./src/a/1\n./src/b\n\n(Showing 2 of 3 paths, sampled across 2 of the 2 top-level entries this pattern \
             matched instead of taken in modification-time order. {UNSAVED}"
        )
    );
}

#[tokio::test]
async fn notices_come_last() {
    let with_notices =
        |paths: &[&str]| json!({ "root": ".", "paths": paths, "notices": ["(One.)", "(Two.)"] });
    assert_eq!(text(json!({}), with_notices(&[])).await, "No files found\n(One.)\n(Two.)");
    assert_eq!(text(json!({}), with_notices(&["a"])).await, "a\n\n(One.)\n(Two.)");
    assert_eq!(
        text(json!({ "globMaxResults": 1 }), with_notices(&["a", "b"])).await,
        format!("a\n\n(Showing 1 of 2 paths. {UNSAVED}\n\n(One.)\n(Two.)")
    );
}
