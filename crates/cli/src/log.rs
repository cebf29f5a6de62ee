//! `dsh-fs log`.

mod card;
mod clock;
mod screen;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use dsh_harness::{RecordedCall, RecordedEvent, RecordedEvents, StateFolder, ToolResult};
use serde_json::{Value as Json, json};

use crate::args::{Confinement, Log, Setup};
use crate::compose::Running;
use crate::log::card::{Line, Tone};
use crate::log::screen::Screen;
use crate::output::{self, EXIT_FAILURE, Reader};

/// Lines of one card that are shown unless all are asked for.
const SHOWN: usize = 20;

pub(crate) fn main(setup: &Setup, command: &Log) -> anyhow::Result<ExitCode> {
    let Some(state) = &setup.state else {
        bail!("log: say with --state DIR where the logs of sessions are kept");
    };
    let mut events = open(state, &command.session)?;
    // The tools draw the cards, so they are mounted; no log is kept of that.
    let running = Running::start(&Setup { state: None, ..setup.clone() }, Confinement::default())?;
    let shown = if command.json {
        show_json(&mut events, &running)
    } else {
        show(&mut events, &running, command.full)
    };
    running.stop();
    if events.torn() > 0 {
        let many = if events.torn() == 1 { "line is" } else { "lines are" };
        output::say(&format!("{} {many} not whole, and passed over", events.torn()));
    }
    Ok(match shown {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::failed(&error, EXIT_FAILURE),
    })
}

fn open(state: &StateFolder, session: &str) -> anyhow::Result<RecordedEvents> {
    state.read(session).or_else(|error| {
        let known = state.sessions().unwrap_or_default();
        if error.kind() != std::io::ErrorKind::NotFound || known.is_empty() {
            return Err(error).with_context(|| format!("cannot read {}", state.log_of(session).display()));
        }
        bail!(
            "there is no log of session \"{session}\" in {}; there are: {}",
            state.path().display(),
            known.join(", ")
        )
    })
}

fn show_json(events: &mut RecordedEvents, running: &Running) -> anyhow::Result<()> {
    let mut open = OpenCalls::default();
    for event in events {
        let event = event.context("cannot read the log")?;
        let mut line = json!(event);
        let card = match (event.call(), open.ended_by(&event)) {
            (_, Some((call, result))) => running.tools.present_result(&call.name, &call.arguments, &result),
            (Some(call), None) => running.tools.present_call(&call.name, &call.arguments),
            (None, None) => None,
        };
        if let Some(card) = card {
            line["card"] = card;
        }
        open.begun_by(event);
        if output::print_line(&line).map_err(output::cannot_write)? == Reader::Gone {
            return Ok(());
        }
    }
    Ok(())
}

fn show(events: &mut RecordedEvents, running: &Running, full: bool) -> anyhow::Result<()> {
    let screen = Screen::new(if full { usize::MAX } else { SHOWN });
    let mut open = OpenCalls::default();
    for event in events {
        let event = event.context("cannot read the log")?;
        let block = match open.ended_by(&event) {
            Some((call, result)) => Some(ended(&event, &call, &result, running)),
            None if event.call().is_some() => None,
            None => Some(other(&event)),
        };
        open.begun_by(event);
        if let Some((head, body)) = block
            && screen.print(&head, &body).map_err(output::cannot_write)? == Reader::Gone
        {
            return Ok(());
        }
    }
    for (event, call) in open.0.into_values() {
        let body = [Line::new(
            Tone::Error,
            "no result: the call is still under way, or the process has ended before it",
        )];
        if screen.print(&head(&event, &call, running), &body).map_err(output::cannot_write)? == Reader::Gone {
            return Ok(());
        }
    }
    Ok(())
}

fn ended(
    event: &RecordedEvent,
    call: &RecordedCall,
    result: &ToolResult,
    running: &Running,
) -> (Line, Vec<Line>) {
    let shown = running.tools.present_result(&call.name, &call.arguments, result);
    let mut body = card::lines(shown.as_ref(), result);
    body.extend(result.contexts.iter().flat_map(|context| card::text(Tone::Dim, context)));
    (head(event, call, running), body)
}

/// When, and what was called.
fn head(event: &RecordedEvent, call: &RecordedCall, running: &Running) -> Line {
    let card = running.tools.present_call(&call.name, &call.arguments);
    let title = card.as_ref().and_then(|card| card["title"].as_str()).map(str::to_owned);
    let title = title.unwrap_or_else(|| format!("{} {}", call.name, call.arguments));
    Line::new(Tone::Title, format!("{}  {title}", clock::time(event.time)))
}

/// An event that is no call: when, what kind, and its data.
fn other(event: &RecordedEvent) -> (Line, Vec<Line>) {
    let text = match (event.seq, event.data["id"].as_str(), event.data["cwd"].as_str()) {
        (0, Some(id), Some(cwd)) => format!("session {id} in {cwd}, {} (UTC)", clock::day(event.time)),
        _ => format!("{} {}", event.kind, event.data),
    };
    (Line::new(Tone::Dim, format!("{}  {text}", clock::time(event.time))), Vec::new())
}

/// Calls whose end has not been met yet, by run and number.
#[derive(Default)]
struct OpenCalls(BTreeMap<(String, u64), (RecordedEvent, RecordedCall)>);

impl OpenCalls {
    fn begun_by(&mut self, mut event: RecordedEvent) {
        if let Some(call) = event.call() {
            // It is in `call`.
            event.data = Json::Null;
            self.0.insert((event.run.clone(), event.seq), (event, call));
        }
    }

    fn ended_by(&mut self, event: &RecordedEvent) -> Option<(RecordedCall, ToolResult)> {
        let (began, result) = event.result()?;
        let (_, call) = self.0.remove(&(event.run.clone(), began))?;
        Some((call, result))
    }
}
