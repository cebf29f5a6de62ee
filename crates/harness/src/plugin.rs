//! The harness as a plugin: it provides the registry and the system prompt.

use std::num::NonZeroUsize;
use std::sync::Arc;

use dsh_plugin::{Context, Failure, Plugin};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use crate::registry::{TOOLS, ToolRegistry};
use crate::system_prompt::{SYSTEM_PROMPT, SystemPrompt};

/// Provides the services `tools` and `systemPrompt`, and the two sections that belong to nobody else.
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
    #[serde(deserialize_with = "positive_integer")]
    pub max_parallel_tool_calls: NonZeroUsize,
}

const IDENTITY: &str = "You are an AI agent powered by DeepSeek Harness.";

impl Default for HarnessConfig {
    fn default() -> Self {
        const TEN: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9);
        Self { include_harness_identity: true, persona: String::new(), max_parallel_tool_calls: TEN }
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
        Ok(())
    }
}

/// One message for everything that is not a positive integer; `2.0` is one, as in the tools' own schemas.
fn positive_integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NonZeroUsize, D::Error> {
    let error = || serde::de::Error::custom("maxParallelToolCalls must be a positive integer");
    let number = f64::deserialize(deserializer).map_err(|_| error())?;
    if number.fract() != 0.0 || !(1.0..=f64::from(u32::MAX)).contains(&number) {
        return Err(error());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "integral and within u32")]
    NonZeroUsize::new(number as usize).ok_or_else(error)
}
