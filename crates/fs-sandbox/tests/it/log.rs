//! What the log tells of paths.

use std::sync::{Arc, Mutex};

use dsh_fs::SandboxMode::WorkspaceWrite;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::disk::Disk;

/// Every field of every event, as raw as it was given.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.lock().unwrap().push(format!("{field}={value:?}"));
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("dsh_fs_sandbox")
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

#[tokio::test]
async fn no_name_breaks_out_of_its_field() {
    let disk = Disk::new(WorkspaceWrite);
    let name = ".git/hooks/a\n\u{1b}[31mb";
    let log = Log::default();
    {
        let _listening = tracing::subscriber::set_default(log.clone());
        disk.write(name).await.unwrap_err();
    }
    assert_eq!(
        *log.0.lock().unwrap(),
        [
            "message=a mutation of a protected name was denied".to_owned(),
            format!("path={:?}", disk.at("w").join(name)),
            "why=\"Git runs programs that it names\"".to_owned(),
        ]
    );
}
