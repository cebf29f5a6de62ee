//! What the log tells of paths.

use std::fs;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use dsh_fs_local::Step;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::disk::Disk;

/// Every field of every event, as raw as it was given.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Visit for Log {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.lock().unwrap().push(format!("{field}={value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.lock().unwrap().push(format!("{field}={value:?}"));
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

const NAME: &str = "a\n\u{1b}[31mb";

/// Outside a tokio runtime, so that everything is done, and logged, on this thread.
#[test]
fn no_name_breaks_out_of_its_field() {
    let disk = Disk::observed(|root, step| {
        // Another file takes the name at each of these moments, so one of them can go nowhere.
        if matches!(step, Step::Rechecked | Step::Exchanged) {
            fs::write(root.join("stranger"), format!("{step:?}")).unwrap();
            fs::rename(root.join("stranger"), root.join(NAME)).unwrap();
        }
    });
    disk.put(NAME, "start");
    let log = Log::default();
    let edited = {
        let _listening = tracing::subscriber::set_default(log.clone());
        let mut edited = pin!(disk.edit(NAME, "start", "edited"));
        edited.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    };
    assert!(matches!(edited, Poll::Ready(Err(_))));
    let path = disk.at(NAME);
    let path = path.to_str().unwrap();
    let kept = format!("{path}.dsh-conflict-1");
    let logged = log.0.lock().unwrap();
    assert_eq!(
        *logged,
        [
            "message=another program's file could not be given back".to_owned(),
            format!("path={path:?}"),
            format!("kept={kept:?}"),
        ]
    );
}
