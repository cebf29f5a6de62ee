//! `--watch`: the composition file is followed, and what it says is mounted while the server runs.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use dsh_harness::{Pause, ToolRegistry};
use dsh_plugin::{MountedRows, RowChanges};
use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::args::{Confinement, Setup};
use crate::compose::{Composed, Running};
use crate::output;

/// How long the file must have been left alone before it is read: editors write in several steps.
const SETTLING: Duration = Duration::from_millis(100);
/// How often that is waited for. Something else in the folder may be written all the time.
const MOST_SETTLINGS: usize = 10;
/// How long new calls are held back for those under way, before they are let through again.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long calls go on before that is tried again.
const BETWEEN: Duration = Duration::from_secs(4);

/// A composition file that is followed, and the rows that came of it.
pub(crate) struct Watch {
    setup: Setup,
    file: PathBuf,
    tools: Arc<ToolRegistry>,
    rows: MountedRows,
    /// The file as it was when it was last looked at.
    seen: Option<Vec<u8>>,
    touched: Arc<Notify>,
    /// Ends its watching when it is dropped.
    _watcher: RecommendedWatcher,
}

impl Watch {
    /// Begins to watch; what changes is mounted once [`during`](Self::during) runs.
    pub(crate) fn start(setup: &Setup, running: &mut Running) -> anyhow::Result<Self> {
        let Some(file) = setup.compose.clone() else {
            bail!("--watch follows a composition file: say which with --compose");
        };
        let Some(rows) = running.rows.take() else { bail!("the composition is followed already") };
        let touched = Arc::new(Notify::new());
        let watcher = watcher(&file, touched.clone())
            .with_context(|| format!("--watch: cannot follow {}", file.display()))?;
        let tools = running.tools.clone();
        Ok(Self { setup: setup.clone(), file, tools, rows, seen: None, touched, _watcher: watcher })
    }

    /// Until `serving` ends, which gives the result.
    pub(crate) async fn during<T>(mut self, serving: impl Future<Output = T>) -> T {
        let mut serving = pin!(serving);
        tokio::select! {
            served = &mut serving => served,
            never = self.follow() => match never {},
        }
    }

    async fn follow(&mut self) -> std::convert::Infallible {
        // At once too: the file may have changed since the program read it.
        loop {
            if self.is_new() {
                let outcome = self.reload().await;
                self.tell(outcome);
            }
            self.touched.notified().await;
            for _ in 0..MOST_SETTLINGS {
                if timeout(SETTLING, self.touched.notified()).await.is_err() {
                    break;
                }
            }
        }
    }

    /// Whether the file has not been looked at as it is now.
    fn is_new(&mut self) -> bool {
        let now = std::fs::read(&self.file).ok();
        let new = now != self.seen;
        self.seen = now;
        new
    }

    async fn reload(&mut self) -> anyhow::Result<RowChanges> {
        let composed = Composed::read(&self.setup, Confinement::default())?;
        let _pause = self.pause().await;
        Ok(self.rows.reload(composed.rows).await?)
    }

    /// Waits for the calls under way. One that takes its time (a person is asked, say) keeps the reload waiting, and the
    /// other calls only for moments.
    async fn pause(&self) -> Pause {
        let mut told = false;
        loop {
            if let Some(pause) = self.tools.pause(PATIENCE).await {
                return pause;
            }
            if !std::mem::replace(&mut told, true) {
                output::say(
                    "the composition was changed; waiting for the end of a call before it is reloaded",
                );
            }
            sleep(BETWEEN).await;
        }
    }

    fn tell(&self, outcome: anyhow::Result<RowChanges>) {
        match outcome {
            Ok(changes) if changes.is_empty() => {}
            Ok(changes) => {
                let file = self.file.display();
                output::say(&format!("reloaded {file}: {}", described(&changes)));
            }
            Err(error) => {
                let why = output::message(&error);
                output::say(&format!("the composition is not reloaded, what was running goes on: {why}"));
            }
        }
    }
}

/// Editors and deployments put a new file, or a new link, in the place of the old one, so it is the folders that are watched:
/// that of the file, and where it is a link that of the file behind it.
fn watcher(file: &Path, touched: Arc<Notify>) -> anyhow::Result<RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // An error may mean that something was missed, so it counts as a change.
        if event.is_err() || event.is_ok_and(|event| is_change(event.kind)) {
            touched.notify_one();
        }
    })?;
    let behind = std::fs::canonicalize(file)?;
    let mut folders: Vec<&Path> = [file, &behind].into_iter().filter_map(Path::parent).collect();
    folders.dedup();
    for folder in folders {
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
    }
    Ok(watcher)
}

/// Reading the file is none, or each look at it would be followed by another.
fn is_change(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write))
}

/// `restarted dsh-tool-fs; added a, b; removed c`.
fn described(changes: &RowChanges) -> String {
    let lists = [("restarted", &changes.restarted), ("added", &changes.added), ("removed", &changes.removed)];
    let said = lists.into_iter().filter(|(_, rows)| !rows.is_empty());
    said.map(|(what, rows)| format!("{what} {}", rows.join(", "))).collect::<Vec<_>>().join("; ")
}
