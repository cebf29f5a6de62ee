//! docs/tools.md: the tools as a model is told of them, from a harness that holds them.

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use dsh_fs::{FS, MemoryFileSystem};
use dsh_harness::{
    Annotations, AnyTool, Concurrency, HarnessConfig, HarnessPlugin, SYSTEM_PROMPT, TOOLS, ToolDefinition,
};
use dsh_plugin::{Context, RowSchema};
use serde_json::{Map, Value as Json, json};

const HEAD: &str = "\
<!-- Written by `cargo xtask generate tools`. -->

# Tools

What a model is told of each tool, to the letter, by the row of a composition that brings it, with that row's default
settings (`false` for a setting that must be given). The descriptions and schemas go into the tool list, the guidance into
the system prompt.
";

/// A row that is running in a harness of its own.
struct Stage {
    tools: Vec<Arc<dyn AnyTool>>,
    /// Name, order and text.
    sections: Vec<(String, i32, String)>,
}

/// The whole page.
pub fn page() -> anyhow::Result<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut page = HEAD.to_owned();
    for row in dsh_cli::registry().schemas().iter().filter(|row| row.inject.contains(&TOOLS.name())) {
        let stage = runtime.block_on(Stage::of(row));
        let stage = stage.with_context(|| format!("{} cannot be started", row.row_name))?;
        // A policy needs the tools and brings none.
        if !stage.tools.is_empty() || !stage.sections.is_empty() {
            page.push_str(&chapter(row.row_name, &stage)?);
        }
    }
    Ok(page)
}

impl Stage {
    async fn of(row: &RowSchema) -> anyhow::Result<Self> {
        let root = Context::root();
        root.plugin(HarnessPlugin, HarnessConfig::default()).await?;
        let prompt = root.service(SYSTEM_PROMPT)?;
        let own = prompt.sections();
        root.provide(FS, Arc::new(MemoryFileSystem::new()))?;
        let settings = smallest(row.schema.as_value());
        root.compose(vec![dsh_cli::registry().configure(row.row_name, settings)?]).await?;
        let registered = root.service(TOOLS)?;
        let names = registered.definitions().into_iter().map(|definition| definition.name);
        let tools = names.filter_map(|name| registered.get(&name)).collect();
        let sections = prompt.sections().into_iter().filter(|section| !own.contains(section)).collect();
        root.dispose().await;
        Ok(Self { tools, sections })
    }
}

fn chapter(row: &str, stage: &Stage) -> anyhow::Result<String> {
    let mut chapter = format!("\n## `{row}`\n");
    let mut sections = stage.sections.clone();
    for tool in &stage.tools {
        let definition = tool.definition();
        let parameters = serde_json::to_string_pretty(&definition.parameters.to_json())?;
        write!(chapter, "\n### `{}`\n\n{}\n", definition.name, definition.description)?;
        write!(chapter, "\n{}\n", fenced("json", &parameters))?;
        write!(chapter, "\n{}\n", traits(&definition.annotations, concurrency(tool.as_ref())?))?;
        let name = format!("tool:{}", definition.name);
        if let Some(at) = sections.iter().position(|(section, ..)| *section == name) {
            chapter.push_str(&guidance(&sections.remove(at))?);
        }
    }
    for section in &sections {
        chapter.push_str(&guidance(section)?);
    }
    Ok(chapter)
}

fn guidance((name, order, text): &(String, i32, String)) -> anyhow::Result<String> {
    let mut guidance = String::new();
    write!(guidance, "\nGuidance, section `{name}`, order {order}:\n\n{}\n", fenced("text", text))?;
    Ok(guidance)
}

/// What clients are told, and how a call goes along with others.
fn traits(annotations: &Annotations, concurrency: Concurrency) -> String {
    let Annotations { title, read_only, destructive, idempotent, open_world } = annotations;
    let says = |holds: bool, yes: &'static str, no: &'static str| if holds { yes } else { no };
    let mut said = vec![
        says(*read_only, "read-only", "not read-only").to_owned(),
        says(*destructive, "destructive", "not destructive").to_owned(),
        says(*idempotent, "idempotent", "not idempotent").to_owned(),
        says(*open_world, "open world", "closed world").to_owned(),
    ];
    said.extend(title.as_ref().map(|title| format!("title \"{title}\"")));
    let said = said.join(", ");
    let batch = match concurrency {
        Concurrency::Parallel => "overlaps with its parallel neighbours",
        Concurrency::Exclusive => "runs alone",
    };
    format!("Annotations: {said}. In a batch it {batch}.")
}

/// Asked with the smallest arguments that fit.
fn concurrency(tool: &dyn AnyTool) -> anyhow::Result<Concurrency> {
    let ToolDefinition { name, parameters, .. } = tool.definition();
    let arguments = smallest(&parameters.to_json());
    parameters.validate(&arguments).map_err(|error| anyhow!("no sample arguments for {name}: {error}"))?;
    Ok(tool.concurrency(&arguments))
}

/// The smallest value of a schema.
fn smallest(schema: &Json) -> Json {
    if let Some(value) = schema.get("const").or_else(|| schema.get("enum")?.get(0)) {
        return value.clone();
    }
    if let Some(first) = schema.get("oneOf").and_then(|branches| branches.get(0)) {
        return smallest(first);
    }
    match schema["type"].as_str() {
        Some("string") => json!("a"),
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
            let entries = required.map(|key| (key.to_owned(), smallest(&schema["properties"][key])));
            Json::Object(entries.collect::<Map<_, _>>())
        }
        _ => Json::Null,
    }
}

/// A block that the text cannot end, whatever it holds.
pub(crate) fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{language}\n{text}\n{fence}")
}
