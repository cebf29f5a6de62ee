//! The one place where plugins are started and unloaded: one step after another, by whoever waits for it.
//!
//! There is no background task. A driver holds [`Tree::driver`], asks the state for the next [`Step`] and takes it,
//! until there is none. All decisions are made from the state alone, so a driver that is dropped in the middle of a
//! step leaves nothing behind that the next one does not see: a plugin found `Loading` was being started by a driver
//! that is gone, and is rolled back; an undo that was being awaited has put itself back.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use crate::context::{Context, Mounted};
use crate::error::PluginError;
use crate::fiber::FiberId;
use crate::panics::{catch, catch_async};
use crate::plugin::Plugin;
use crate::step::{Gone, Start, Step};
use crate::tree::Tree;

impl Context {
    /// Drives the whole tree until nothing can change: unloads what must go, starts what can start.
    ///
    /// Plugins start one after another, in mount order as far as their services allow. Returns the first failure to
    /// start that happened meanwhile; others are logged. A plugin that failed keeps its place as
    /// [`Failed`](crate::PluginState::Failed) and does not hinder others; one that waits for a service is no error.
    ///
    /// If the returned future is dropped half way, the next `settle` repairs and goes on. Called from inside an
    /// `apply` or an undo function it is [`PluginError::CalledWhileSettling`].
    pub async fn settle(&self) -> Result<(), PluginError> {
        let tree = self.tree_handle();
        let _turn = self.turn("settle").await?;
        let mut failures = tree.drive().await.into_iter();
        let first = failures.next();
        log(failures);
        first.map_or(Ok(()), Err)
    }

    /// Mounts `plugin` and settles the tree. `Ok` when it is active and also when it waits for a service: see
    /// [`Mounted::missing`].
    ///
    /// If the returned future is dropped half way, the plugin stays mounted and the next `settle` goes on with it.
    ///
    /// If it failed to start it is removed again and its error returned. Failures of others are logged and seen in
    /// [`tree`](Context::tree). Called from inside an `apply` or an undo function it is
    /// [`PluginError::CalledWhileSettling`]: use [`mount`](Context::mount) there.
    pub async fn plugin<P: Plugin>(&self, plugin: P, config: P::Config) -> Result<Mounted, PluginError> {
        let tree = self.tree_handle();
        let _turn = self.turn("plugin").await?;
        let mounted = self.mount(plugin, config)?;
        let failures = tree.drive().await;
        let Some(failure) = mounted.failure() else {
            log(failures);
            return Ok(mounted);
        };
        tree.doom(mounted.fiber());
        log(tree.drive().await);
        Err(failure)
    }

    /// Unloads this context's plugin for good: first all plugins that use its services, then what it registered,
    /// newest first, one after another. For the root: everything.
    ///
    /// From inside an `apply` or an undo function this only asks for it: it happens as soon as that has returned.
    pub async fn dispose(&self) {
        self.tree_handle().dispose(self.fiber()).await;
    }

    /// Waits until this caller may drive; refuses where that would be waiting for oneself.
    pub(crate) async fn turn(
        &self,
        call: &'static str,
    ) -> Result<tokio::sync::MutexGuard<'_, ()>, PluginError> {
        let tree = self.tree_handle();
        let refusal = PluginError::CalledWhileSettling { call, plugin: self.plugin_name() };
        if is_driven(tree) {
            return Err(refusal);
        }
        // A free turn means that nobody drives, whatever a cancelled driver left behind.
        if let Ok(turn) = tree.driver.try_lock() {
            return Ok(turn);
        }
        // A task that an `apply` or an undo waits for, as far as it can be told: it uses the plugin's own context.
        if tree.lock().in_transition(self.fiber()) {
            return Err(refusal);
        }
        Ok(tree.driver.lock().await)
    }
}

impl Tree {
    /// Takes steps until there is none; the failures to start. The caller has the turn.
    pub(crate) async fn drive(self: &Arc<Self>) -> Vec<PluginError> {
        let mut failures = Vec::new();
        loop {
            let mut gone = Gone::new();
            let step = self.lock().next_step(&mut gone);
            if let Err(message) = catch(move || drop(gone)) {
                tracing::error!("dropping a plugin panicked: {message}");
            }
            match step {
                Some(Step::Start(start)) => failures.extend(self.start(start).await),
                Some(Step::Undo { fiber, plugin, effect }) => effect.run(self, fiber, plugin).await,
                None => return failures,
            }
        }
    }

    async fn start(self: &Arc<Self>, start: Start) -> Option<PluginError> {
        let Start { fiber, life, name, plugin } = start;
        tracing::debug!(plugin = name, "starting");
        let ctx = Context::new(Arc::clone(self), fiber, life, name);
        let outcome = driven(self, catch_async(|| plugin.start(ctx))).await;
        let failure = match outcome {
            Ok(Ok(())) => None,
            Ok(Err(source)) => Some(PluginError::ApplyFailed { plugin: name, source: source.into() }),
            Err(message) => Some(PluginError::ApplyPanicked { plugin: name, message }),
        };
        if let Some(failure) = &failure {
            // Whoever drives returns it or logs it as an error.
            tracing::debug!(plugin = name, "{failure}");
        }
        self.lock().started(fiber, failure.clone());
        failure
    }

    pub(crate) fn doom(&self, fiber: FiberId) {
        if let Some(fiber) = self.lock().fibers.get_mut(&fiber) {
            fiber.doomed = true;
        }
    }

    pub(crate) async fn dispose(self: &Arc<Self>, fiber: FiberId) {
        self.doom(fiber);
        if is_driven(self) {
            return;
        }
        let turn = match self.driver.try_lock() {
            Ok(turn) => turn,
            // Its `apply` is running, and may be who waits for us; its driver sees that it is doomed.
            Err(_) if self.lock().is_loading(fiber) => return,
            Err(_) => self.driver.lock().await,
        };
        log(self.drive().await);
        drop(turn);
    }
}

/// Failures that nobody gets as a result.
pub(crate) fn log(failures: impl IntoIterator<Item = PluginError>) {
    for failure in failures {
        tracing::error!("{failure}");
    }
}

thread_local! {
    /// The trees whose foreign code this thread is inside of, by address.
    static DRIVEN: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Whether the caller is inside an `apply` or an undo function of this tree, called by a driver.
pub(crate) fn is_driven(tree: &Tree) -> bool {
    DRIVEN.with_borrow(|trees| trees.contains(&address(tree)))
}

/// Marks each poll of `future` as being inside `tree`'s driver.
pub(crate) async fn driven<F: Future>(tree: &Tree, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| driven_call(tree, || future.as_mut().poll(cx))).await
}

/// Marks `call` as being inside `tree`'s driver.
pub(crate) fn driven_call<T>(tree: &Tree, call: impl FnOnce() -> T) -> T {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            DRIVEN.with_borrow_mut(Vec::pop);
        }
    }
    DRIVEN.with_borrow_mut(|trees| trees.push(address(tree)));
    let _leave = Leave;
    call()
}

fn address(tree: &Tree) -> usize {
    std::ptr::from_ref(tree).addr()
}
