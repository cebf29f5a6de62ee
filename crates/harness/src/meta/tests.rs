#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeMap;

use serde_json::json;

use super::*;

#[test]
fn it_is_given_on_as_it_was_written() {
    let meta = Meta::of(&json!({ "b": 1, "a": ["x\n"] }));
    let written = r#"{"b":1,"a":["x\n"]}"#;
    assert_eq!(serde_json::to_string(&json!({ "meta": meta })).unwrap(), format!(r#"{{"meta":{written}}}"#));
    assert_eq!(serde_json::to_string(&meta).unwrap(), written);
    assert_eq!(format!("{meta:?}"), written);
}

#[test]
fn it_is_read_back_from_text_and_from_a_tree() {
    let tree = json!({ "meta": { "diffs": [1, 2] } });
    let from_tree = BTreeMap::<String, Meta>::deserialize(&tree).unwrap();
    let from_text: BTreeMap<String, Meta> = serde_json::from_str(&tree.to_string()).unwrap();
    assert_eq!(from_tree, from_text);
    assert_eq!(from_tree["meta"].to_json(), tree["meta"]);
    assert_eq!(from_tree["meta"].read::<BTreeMap<String, [u8; 2]>>().unwrap()["diffs"], [1, 2]);
    assert!(from_tree["meta"].read::<Vec<u8>>().is_err());
}

#[test]
fn equal_is_what_is_equal_as_json() {
    let spaced: Meta = serde_json::from_str(r#"{ "b": 2, "a": 1 }"#).unwrap();
    assert_eq!(spaced, Meta::from(json!({ "a": 1, "b": 2 })));
    assert_ne!(spaced, Meta::from(json!({ "a": 1, "b": 3 })));
}

#[test]
fn it_is_one_line_wherever_it_comes_from() {
    let pretty = "{\n  \"a\": \"x\\ny\",\r\n  \"b\": 1\n}";
    let written = r#"{"a":"x\ny","b":1}"#;
    let read: Meta = serde_json::from_str(pretty).unwrap();
    assert_eq!(format!("{read:?}"), written);
    let raw: Box<RawValue> = serde_json::from_str(pretty).unwrap();
    assert_eq!(format!("{:?}", Meta::of(&raw)), written);
}

#[test]
fn what_cannot_be_json_is_null() {
    assert_eq!(Meta::of(&BTreeMap::from([((1, 2), 3)])).to_json(), Json::Null);
}
