//! How far a call has come.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dsh_harness::{Report, Reporter};

fn heard() -> (Reporter, Arc<Mutex<Vec<Report>>>) {
    let heard = Arc::<Mutex<Vec<_>>>::default();
    let into = heard.clone();
    (Reporter::new(move |report| into.lock().unwrap().push(report)), heard)
}

fn report(done: f64, total: Option<f64>, message: Option<&str>) -> Report {
    Report { done, total, message: message.map(str::to_owned) }
}

#[test]
fn what_is_said_is_heard_at_once() {
    let (reporter, heard) = heard();
    reporter.say(1.0, Some(2.0), Some("half"));
    reporter.clone().say(2.0, None, None);
    assert_eq!(*heard.lock().unwrap(), [report(1.0, Some(2.0), Some("half")), report(2.0, None, None)]);
}

#[test]
fn a_pulse_says_nothing_in_the_first_second_and_then_only_once() {
    let (reporter, heard) = heard();
    let begun = Instant::now();
    let mut pulse = reporter.pulse();
    while heard.lock().unwrap().is_empty() {
        pulse.beat(1.0, None, || "now".to_owned());
    }
    assert!(begun.elapsed() >= Duration::from_secs(1));
    pulse.beat(2.0, None, || panic!("nobody is to be told again at once"));
    assert_eq!(*heard.lock().unwrap(), [report(1.0, None, Some("now"))]);
}

#[test]
fn where_nobody_listens_nothing_is_put_into_words() {
    let reporter = Reporter::default();
    reporter.say(1.0, None, None);
    reporter.pulse().beat(1.0, None, || panic!("nobody listens"));
}
