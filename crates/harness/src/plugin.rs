//! The harness as a plugin: it provides the registry, the system prompt and the approval service.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use dsh_plugin::{Context, Failure, Plugin};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;

use crate::approval::{ApprovalConfig, ApprovalPlugin, ApprovalPolicy};
use crate::registry::{TOOLS, ToolRegistry};
use crate::settings::positive_integer;
use crate::system_prompt::{SYSTEM_PROMPT, SystemPrompt};

/// Provides the services `tools`, `systemPrompt` and `approval`, and the two sections that belong to nobody else.
#[derive(Debug, Clone, Copy, Default)]
pub struct HarnessPlugin;

/// The settings of [`HarnessPlugin`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HarnessConfig {
    /// Whether the prompt begins with `You are an AI agent powered by DeepSeek Harness.`
    pub include_harness_identity: bool,
    /// What a deployment says about the agent, after the identity. Empty: nothing.
    pub persona: String,
    /// How many calls of one batch may be in flight at once, at least 1.
    #[serde(deserialize_with = "max_parallel")]
    pub max_parallel_tool_calls: NonZeroUsize,
    /// Whether people are asked where a call needs approval: `ask` or `never`.
    pub approval_policy: ApprovalPolicy,
}

const IDENTITY: &str = "You are an AI agent powered by DeepSeek Harness.";

impl Default for HarnessConfig {
    fn default() -> Self {
        const TEN: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9);
        Self {
            include_harness_identity: true,
            persona: String::new(),
            max_parallel_tool_calls: TEN,
            approval_policy: ApprovalPolicy::Ask,
        }
    }
}

impl Plugin for HarnessPlugin {
    type Config = HarnessConfig;

    fn name(&self) -> &'static str {
        "harness"
    }

    async fn apply(&self, ctx: Context, config: HarnessConfig) -> Result<(), Failure> {
        let prompt = SystemPrompt::new(&ctx);
        if config.include_harness_identity {
            prompt.section(&ctx, "harness:identity", -100, IDENTITY.to_owned())?;
        }
        prompt.section(&ctx, "deployment:persona", 0, config.persona)?;
        ctx.provide(SYSTEM_PROMPT, Arc::new(prompt))?;
        ctx.provide(TOOLS, Arc::new(ToolRegistry::new(&ctx, config.max_parallel_tool_calls)))?;
        ctx.mount(ApprovalPlugin, ApprovalConfig { policy: config.approval_policy })?;
        Ok(())
    }
}

fn max_parallel<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NonZeroUsize, D::Error> {
    let value = Json::deserialize(deserializer)?;
    positive_integer(&value)
        .and_then(|number| NonZeroU32::try_from(number).ok()?.try_into().ok())
        .ok_or_else(|| D::Error::custom("maxParallelToolCalls must be a positive integer"))
}
