//! 64 readers of one large file at once, in one process: each a session of its own, each at a place of its own.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value as Json, json};

use crate::bench::budget::Table;
use crate::bench::pairs::median;
use crate::bench::peer::Peer;
use crate::bench::speed::pages::Large;
use crate::bench::speed::{Sheet, Stage, time};
use crate::bench::text;

const READERS: u32 = 64;
/// MiB that the process may have had: two for each reader.
const MEMORY: f64 = 128.0;
const ROUNDS: usize = 9;

/// Measures it.
pub(crate) fn measure(stage: &Stage<'_>, large: &Large, sheet: &mut Sheet) -> anyhow::Result<()> {
    let mut ours = large.ours(stage)?;
    let cold = all(&mut ours, large)?;
    let after_cold = ours.memory()?.peak;
    let warm = (0..ROUNDS).map(|_| all(&mut ours, large)).collect::<anyhow::Result<Vec<_>>>()?;
    let warm = median(warm);
    let peak = ours.memory()?.peak;
    let row = |what: &str, took: Duration, peak: f64| {
        let a_second = f64::from(READERS) / took.as_secs_f64();
        vec![what.to_owned(), time(took), format!("{a_second:.0}"), format!("{peak:.1} MiB")]
    };
    let rows = vec![row("nothing known of the file", cold, after_cold), row("the file known", warm, peak)];
    sheet.table(Table {
        head: vec!["64 readers of 1 GB at once", "all answered in", "pages a second", "peak memory"],
        rows,
    });
    sheet.budget("peak memory of 64 readers of 1 GB", peak, MEMORY, " MiB");
    Ok(())
}

/// One batch: a page for each, and each the right one.
fn all(ours: &mut Peer, large: &Large) -> anyhow::Result<Duration> {
    let offset = |reader: u32| large.lines / u64::from(READERS) * u64::from(reader) + 1;
    let calls: Vec<Json> = (0..READERS)
        .map(|reader| {
            let args = json!({"file_path": Large::GB, "offset": offset(reader), "limit": 200});
            json!({"session": format!("reader-{reader}"), "tool": "read", "args": args})
        })
        .collect();
    let (answer, took) = ours.ask(&json!({"calls": calls}))?;
    let results = answer["results"].as_array().context("no results")?;
    ensure!(results.len() == READERS as usize, "{} answers to {READERS} readers", results.len());
    for (result, reader) in results.iter().zip(0..) {
        let shown = result["content"].as_str().context("no content")?;
        let first = format!("\n{}: {}\n", offset(reader), text::line(offset(reader)));
        ensure!(shown.contains(&first), "reader {reader} sees {shown:.300}");
    }
    Ok(took)
}
