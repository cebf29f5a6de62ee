//! The search tools of an agent: `glob` and `grep`.
//!
//! The tools own names, schemas, guidance, pages and everything a model sees of a result. They search in process, on any
//! backend of the [`FileSystem`](dsh_fs::FileSystem) contract. Both only read, and ask no policy.
//!
//! Programs get the complete result, typed: [`GlobValue`], [`GrepValue`]. A model gets a page of it; where there is a
//! [spill store](dsh_harness::SPILL_STORE), all of it is kept there, and the page says where.

mod config;
mod error;
mod glob;
mod glob_text;
mod grep;
mod grep_text;
mod notices;
mod one_glob;
mod pattern_hint;
mod preview;
mod sample;
mod search;
mod search_card;
mod spill;
mod value;

use dsh_fs::FS;
use dsh_harness::{SYSTEM_PROMPT, TOOLS};
use dsh_plugin::{Context, Failure, Plugin};

pub use config::SearchConfig;
pub use error::SearchError;
pub use value::{GlobValue, GrepMatch, GrepValue};

use crate::glob::Glob;
use crate::grep::Grep;
use crate::search::Search;

/// Registers `glob` and `grep` and their guidance; needs a backend and a harness.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchPlugin;

impl Plugin for SearchPlugin {
    type Config = SearchConfig;

    fn name(&self) -> &'static str {
        "tool-fs-search"
    }

    fn inject(&self) -> &'static [&'static str] {
        const { &[TOOLS.name(), FS.name(), SYSTEM_PROMPT.name()] }
    }

    async fn apply(&self, ctx: Context, config: SearchConfig) -> Result<(), Failure> {
        let search = Search::new(ctx.service(FS)?, config.search_time(), config.pattern_hints);
        let tools = ctx.service(TOOLS)?;
        tools.register(&ctx, Glob { search: search.clone(), config })?;
        tools.register(&ctx, Grep { search, config })?;
        spill::listen::<GlobValue>(&ctx, config)?;
        spill::listen::<GrepValue>(&ctx, config)?;

        let prompt = ctx.service(SYSTEM_PROMPT)?;
        prompt.section(&ctx, "tool:glob", 103, glob::prompt(&config))?;
        prompt.section(&ctx, "tool:grep", 104, grep::PROMPT.to_owned())?;
        Ok(())
    }
}
