//! The file tools of an agent: `read`, `write` and `edit`.
//!
//! The tools own names, schemas, guidance, the window of a read and everything a model sees of a result. They work
//! straight on the [`FileSystem`](dsh_fs::FileSystem) contract and know no policy: before a mutation they ask
//! `fs/write-intent` or `fs/edit-intent` for a guard, after each success they tell `fs/observed`. Who answers is a
//! matter of what else is mounted.
//!
//! Rendering ([`window`], [`line_index`], [`envelope`], [`hunks`]) is free of the runtime and may be used alone.

mod actor;
mod config;
mod diff_card;
mod edit;
pub mod envelope;
mod escalation;
mod hint;
mod hints;
pub mod hunks;
mod line_diff;
pub mod line_index;
mod neighbours;
mod number;
mod page;
mod read;
mod read_card;
mod read_paths;
mod remedy;
mod seen_blocks;
mod stack;
pub mod window;
mod write;

use dsh_fs::FS;
use dsh_harness::{SYSTEM_PROMPT, TOOLS};
use dsh_plugin::{Context, Failure, Plugin};

pub use config::ToolFsConfig;

use crate::edit::Edit;
use crate::read::Read;
use crate::stack::Stack;
use crate::write::Write;

/// Registers `read`, `write` and `edit` and their guidance; needs a backend and a harness.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolFsPlugin;

impl Plugin for ToolFsPlugin {
    type Config = ToolFsConfig;

    fn name(&self) -> &'static str {
        "tool-fs"
    }

    fn inject(&self) -> &'static [&'static str] {
        const { &[TOOLS.name(), FS.name(), SYSTEM_PROMPT.name()] }
    }

    async fn apply(&self, ctx: Context, config: ToolFsConfig) -> Result<(), Failure> {
        let stack = Stack::new(ctx.clone(), &config)?;
        let tools = ctx.service(TOOLS)?;
        tools.register(&ctx, Read::new(stack.clone(), config))?;
        tools.register(&ctx, Write { stack: stack.clone() })?;
        tools.register(&ctx, Edit { stack })?;

        let prompt = ctx.service(SYSTEM_PROMPT)?;
        prompt.section(&ctx, "tool:read", 100, read::PROMPT.to_owned())?;
        prompt.section(&ctx, "tool:write", 101, write::PROMPT.to_owned())?;
        prompt.section(&ctx, "tool:edit", 102, edit::PROMPT.to_owned())?;
        Ok(())
    }
}
