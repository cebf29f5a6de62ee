//! How far a call has come, as the protocol tells it: `notifications/progress`, where the client has asked for it.

use std::time::Duration;

use dsh_harness::{Report, Reporter};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How many reports may wait to be sent. What does not fit is left out.
const MOST_WAITING: usize = 64;

/// How long a client may take to take one. After that it gets no more of them: a call does not wait for them.
const PATIENCE: Duration = Duration::from_secs(1);

/// The way of one call's reports to its client.
pub(crate) struct Reports {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    coming: mpsc::Receiver<Report>,
}

impl Reports {
    /// What the body of the call gets, and what is to run [`during`] it.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> (Reporter, Option<Self>) {
        let Some(token) = context.meta.get_progress_token() else { return (Reporter::default(), None) };
        let (sender, coming) = mpsc::channel(MOST_WAITING);
        let reporter = Reporter::new(move |report| {
            // Full, or nobody sends them any more: reports are a courtesy.
            let _ = sender.try_send(report);
        });
        (reporter, Some(Self { peer: context.peer.clone(), token, coming }))
    }

    async fn forward(mut self, ended: &CancellationToken) {
        loop {
            let report = tokio::select! {
                biased;
                report = self.coming.recv() => report,
                () = ended.cancelled() => None,
            };
            let Some(Report { done, total, message }) = report else { return };
            let mut progress = ProgressNotificationParam::new(self.token.clone(), done);
            progress.total = total;
            progress.message = message;
            match timeout(PATIENCE, self.peer.notify_progress(progress)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return tracing::debug!(%error, "progress could not be told"),
                Err(_) => return tracing::debug!("a client takes no progress"),
            }
        }
    }
}

/// Runs a call, and sends its reports meanwhile: all of them before its result.
pub(crate) async fn during<F: Future>(reports: Option<Reports>, call: F) -> F::Output {
    let Some(reports) = reports else { return call.await };
    let ended = CancellationToken::new();
    let call = async {
        let _ended = ended.clone().drop_guard();
        call.await
    };
    tokio::join!(call, reports.forward(&ended)).0
}
