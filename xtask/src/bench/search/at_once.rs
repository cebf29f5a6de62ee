//! A hundred searches at once over MCP: every answer is the right one, and memory stays bounded.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use serde_json::{Value as Json, json};

use crate::bench::budget::{Budget, Made, Table};
use crate::bench::pairs::milliseconds;
use crate::bench::search::mebibytes;
use crate::bench::search::tree::Places;
use crate::prove::{Ground, Program, peak_memory};

const SEARCHES: usize = 100;
/// MiB that the process may have had at its peak.
const MEMORY: f64 = 128.0;

/// Measures it.
#[expect(clippy::cast_precision_loss, reason = "memory is far below 2^52 KiB")]
pub(crate) fn measure(ground: &Ground, places: &Places, made: &mut Made) -> anyhow::Result<()> {
    let mut program = Program::start(ground.command(&["mcp"], &places.files))?;
    let hello = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    });
    program.send_line(&json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello}))?;
    program.hear()?.context("the server ended at once")?;
    program.send_line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
    let began = Instant::now();
    let mut expected = BTreeMap::new();
    for number in 0..SEARCHES {
        let unique = &places.unique[number % places.unique.len()];
        let (tool, pattern, answer) = if number % 4 == 3 {
            let name = unique.path.rsplit('/').next().unwrap_or_default();
            ("glob", name, unique.path.clone())
        } else {
            let line = format!("Found 1 match\n\n{}\nLine {}: {}", unique.path, unique.line, unique.text);
            ("grep", unique.word.as_str(), line)
        };
        let params = json!({"name": tool, "arguments": {"pattern": pattern}});
        program
            .send_line(&json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}))?;
        expected.insert(number as u64, answer);
    }
    while !expected.is_empty() {
        let answer = program.hear()?.context("the server ended")?;
        let answer = answer.json();
        // Notices of the server have none.
        let Some(id) = answer["id"].as_u64() else { continue };
        let expected = expected.remove(&id).with_context(|| format!("search {id} is answered twice"))?;
        let text = text(answer);
        ensure!(text == expected, "search {id} is answered {text:?} instead of {expected:?}");
    }
    let took = began.elapsed();
    let peak = peak_memory(program.id())?;
    made.tables.push(Table {
        head: vec!["at once, over MCP", "time", "peak memory"],
        rows: vec![vec![
            format!("{SEARCHES} searches in 50,000 files, all answered right"),
            milliseconds(took),
            mebibytes(peak),
        ]],
    });
    made.budgets.push(Budget {
        what: format!("peak memory of {SEARCHES} searches at once"),
        measured: peak as f64 / 1024.0,
        limit: MEMORY,
        unit: " MiB",
    });
    Ok(())
}

fn text(answer: &Json) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}
