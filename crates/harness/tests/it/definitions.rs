use std::sync::Arc;
use std::time::Duration;

use dsh_harness::{
    Annotations, Concurrency, Content, Execution, HarnessConfig, ObjectSchema, Tool, ToolDefinition,
    ToolError,
};
use serde_json::json;

use crate::toys::{Toy, harness};

struct Timed(Duration);

impl Tool for Timed {
    type Args = serde_json::Value;
    type Value = ();

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            timeout: Some(self.0),
            annotations: Annotations { read_only: true, ..Annotations::default() },
            ..ToolDefinition::new("timed", "Has a budget.", ObjectSchema::new())
        }
    }

    async fn execute(&self, _: Arc<serde_json::Value>, _: Arc<Execution>) -> Result<(), ToolError> {
        Ok(())
    }

    fn render(&self, _: &serde_json::Value, (): &()) -> Vec<Content> {
        Vec::new()
    }
}

#[tokio::test]
async fn a_time_budget_is_more_than_zero() {
    let (root, tools) = harness().await;
    assert_eq!(
        tools.register(&root, Timed(Duration::ZERO)).unwrap_err().to_string(),
        "tool \"timed\" timeoutMs must be a positive finite number"
    );
    tools.register(&root, Timed(Duration::from_secs(30))).unwrap();
}

#[tokio::test]
async fn the_definition_is_kept_as_it_was_registered() {
    let (root, tools) = harness().await;
    let timed = Timed(Duration::from_secs(30));
    let definition = timed.definition();
    tools.register(&root, timed).unwrap();
    assert_eq!(tools.definitions(), std::slice::from_ref(&definition));
    assert_eq!(*tools.get("timed").unwrap().definition(), definition);
}

#[tokio::test]
async fn a_call_is_parallel_only_if_the_tool_says_so_of_fitting_arguments() {
    let (root, tools) = harness().await;
    tools.register(&root, Timed(Duration::from_secs(1))).unwrap();
    let picky = Toy::echo("picky").parallel_if(|args| {
        assert_ne!(args.text, "panic", "asked too much");
        args.text == "yes"
    });
    tools.register(&root, picky).unwrap();
    let of = |tool: &str, arguments| tools.get(tool).unwrap().concurrency(&arguments);
    assert_eq!(of("timed", json!({})), Concurrency::Exclusive);
    assert_eq!(of("picky", json!({"text": "yes"})), Concurrency::Parallel);
    assert_eq!(of("picky", json!({"text": "no"})), Concurrency::Exclusive);
    assert_eq!(of("picky", json!({"text": 1})), Concurrency::Exclusive);
    assert_eq!(of("picky", json!({"text": "panic"})), Concurrency::Exclusive);
}

#[test]
fn the_settings_have_their_defaults() {
    let config: HarnessConfig = serde_json::from_value(json!({})).unwrap();
    assert_eq!(config, HarnessConfig::default());
    assert!(config.include_harness_identity);
    assert_eq!(config.persona, "");
    assert_eq!(config.max_parallel_tool_calls.get(), 10);
}

#[test]
fn the_number_of_parallel_calls_is_a_positive_integer() {
    for wrong in [json!(0), json!(-1), json!(1.5), json!("2"), json!(1e300)] {
        let config = json!({"maxParallelToolCalls": wrong});
        let error = serde_json::from_value::<HarnessConfig>(config).unwrap_err();
        assert_eq!(error.to_string(), "maxParallelToolCalls must be a positive integer", "{wrong}");
    }
    for right in [json!(1), json!(2.0)] {
        serde_json::from_value::<HarnessConfig>(json!({"maxParallelToolCalls": right})).unwrap();
    }
    let unknown = serde_json::from_value::<HarnessConfig>(json!({"maxParallel": 1}));
    assert!(unknown.is_err());
}
