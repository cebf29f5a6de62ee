use std::num::NonZeroU64;

use dsh_harness::positive_integer;
use serde_json::json;

#[test]
fn a_positive_integer_is_one_however_it_is_written() {
    for (value, number) in [
        (json!(1), 1),
        (json!(2.0), 2),
        (json!(9_007_199_254_740_993_u64), 9_007_199_254_740_993),
        (json!(u64::MAX), u64::MAX),
        (json!(1e300), u64::MAX),
    ] {
        assert_eq!(positive_integer(&value), NonZeroU64::new(number), "{value}");
    }
}

#[test]
fn anything_else_is_none() {
    for value in [
        json!(0),
        json!(-0.0),
        json!(-1),
        json!(-2.0),
        json!(1.5),
        json!("2"),
        json!(true),
        json!(null),
        json!([1]),
        json!({}),
    ] {
        assert_eq!(positive_integer(&value), None, "{value}");
    }
}
