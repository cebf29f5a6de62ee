//! Telling clients that the list of tools has changed.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dsh_harness::ToolsChanged;
use dsh_plugin::{Context, EffectHandle, PluginError};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use tokio::sync::watch;
use tokio::time::timeout;

/// How long a client may take to take a notice. The notices are hints: whoever misses one lists the tools later.
const PATIENCE: Duration = Duration::from_secs(1);

/// Who is to be told when tools come and go. A clone tells the same clients.
#[derive(Clone)]
pub(crate) struct Changes {
    /// Changes that come faster than they are told become one.
    happened: watch::Sender<()>,
    /// Clients that have shaken hands: they are told without being asked.
    peers: Arc<Mutex<Vec<Peer<RoleServer>>>>,
}

impl Changes {
    /// Listens until the handle is undone.
    pub(crate) fn of(ctx: &Context) -> Result<(Self, EffectHandle), PluginError> {
        let changes = Self { happened: watch::Sender::new(()), peers: Arc::default() };
        let happened = changes.happened.clone();
        let listening = ctx.on::<ToolsChanged>(move |()| {
            happened.send_replace(());
            Ok(())
        })?;
        Ok((changes, listening))
    }

    pub(crate) fn add(&self, peer: Peer<RoleServer>) {
        let mut peers = self.lock();
        peers.retain(|peer| !peer.is_transport_closed());
        peers.push(peer);
    }

    /// Tells the clients with a handshake, for ever.
    pub(crate) async fn tell(&self) -> Infallible {
        let mut happened = self.happened.subscribe();
        loop {
            if happened.changed().await.is_err() {
                // It cannot be: the sender is a field of this one.
                std::future::pending::<()>().await;
            }
            let peers = self.lock().clone();
            for peer in peers {
                // One by one would let the first slow client keep it from the others.
                tokio::spawn(async move {
                    if !matches!(timeout(PATIENCE, peer.notify_tool_list_changed()).await, Ok(Ok(()))) {
                        tracing::debug!("a client was not told that the tools have changed");
                    }
                });
            }
        }
    }

    /// Tells one client that has asked for it, until it does not want to know any more.
    pub(crate) async fn tell_subscriber(&self, subscriber: SubscriptionContext) {
        let mut happened = self.happened.subscribe();
        loop {
            tokio::select! {
                () = subscriber.cancelled() => return,
                changed = happened.changed() => if changed.is_err() { return },
            }
            if let Err(error) = subscriber.sink().notify_tool_list_changed().await {
                return tracing::debug!(%error, "a subscriber is gone");
            }
        }
    }

    // No foreign code runs under the lock, so a poisoned one is as good as new.
    fn lock(&self) -> MutexGuard<'_, Vec<Peer<RoleServer>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
