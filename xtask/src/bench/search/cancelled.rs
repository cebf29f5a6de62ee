//! How soon a search that is cancelled is answered: counted from the moment of cancelling, at several moments of each.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::json;

use crate::bench::budget::{Budget, Made, Table};
use crate::bench::pairs::milliseconds;
use crate::bench::search::tree::Places;
use crate::bench::search::{CASES, Place};
use crate::prove::{Ground, Program};

/// After how many milliseconds a call is cancelled.
const MOMENTS: [u64; 8] = [2, 5, 10, 20, 40, 80, 160, 320];
/// Milliseconds from there to the answer.
const LIMIT: f64 = 50.0;

/// Measures it. A call that was done before its moment came says nothing.
pub(crate) fn measure(ground: &Ground, places: &Places, made: &mut Made) -> anyhow::Result<()> {
    let mut waited = Vec::new();
    for (place, folder) in [(Place::Files, &places.files), (Place::Large, &places.large)] {
        let mut program = Program::start(ground.command(&["run"], folder))?;
        for case in CASES.iter().filter(|case| case.place == place) {
            for moment in MOMENTS {
                let began = Instant::now();
                program.send_line(&json!({"tool": case.tool, "args": case.args(), "abort": moment}))?;
                let answer = program.hear()?.context("the program ended")?;
                let took = began.elapsed();
                if answer.is_error() {
                    let code = answer.code();
                    ensure!(matches!(code, "SEARCH_ABORTED" | "ABORTED"), "{}: {code}", case.name());
                    waited.push((took.saturating_sub(Duration::from_millis(moment)), case.name(), moment));
                }
            }
        }
    }
    waited.sort_unstable();
    let none = "every search was done before it was cancelled: the scale is too small";
    let (worst, which, moment) = waited.last().context(none)?;
    let median = milliseconds(waited[waited.len() / 2].0);
    let worst_of = format!("{} ({which}, after {moment} ms)", milliseconds(*worst));
    made.tables.push(Table {
        head: vec!["cancelled", "from there to the answer, median", "worst"],
        rows: vec![vec![format!("{} searches", waited.len()), median, worst_of]],
    });
    let what = "answer to a cancelled search, worst".to_owned();
    made.budgets.push(Budget { what, measured: worst.as_secs_f64() * 1000.0, limit: LIMIT, unit: " ms" });
    Ok(())
}
