//! Which tools there are, and the one door through which they are run.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
use std::time::Duration;

use dsh_plugin::panics::catch;
use dsh_plugin::{Context, Failure, PlainError, ServiceKey};
use serde_json::Value as Json;

use crate::door::{Door, Pause};
use crate::events::ToolsChanged;
use crate::execution::{Execution, ToolCall};
use crate::pipeline;
use crate::report::Reporter;
use crate::restriction::Restriction;
use crate::result::ToolResult;
use crate::scheduler;
use crate::session::Session;
use crate::tool::{Concurrency, Tool, ToolDefinition};
use crate::typed_tool::{AnyTool, TypedTool};

/// The service `tools`.
pub const TOOLS: ServiceKey<ToolRegistry> = ServiceKey::new("tools");

/// All tools of one context tree, and the one way to run them. A cheap handle.
#[derive(Clone)]
pub struct ToolRegistry {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    /// Where the pipeline's events are emitted.
    pub(crate) context: Context,
    /// How many parallel calls of one batch are in flight at most.
    pub(crate) max_parallel: NonZeroUsize,
    door: Door,
    entries: RwLock<Entries>,
}

#[derive(Default)]
struct Entries {
    tools: Vec<Entry<Arc<dyn AnyTool>>>,
    guards: Vec<Entry<Guard>>,
    restrictions: Vec<Entry<Restriction>>,
    next: u64,
}

/// The id tells a tool from a later one of the same name, so that undoing an old registration is harmless.
struct Entry<T> {
    id: u64,
    item: T,
}

type Guard = Arc<dyn Fn(&Execution) -> Option<String> + Send + Sync>;

impl ToolRegistry {
    /// A registry whose events are emitted in `context`. [`HarnessPlugin`](crate::HarnessPlugin) makes one.
    pub fn new(context: &Context, max_parallel: NonZeroUsize) -> Self {
        let (door, entries) = (Door::default(), RwLock::default());
        Self { shared: Arc::new(Shared { context: context.clone(), max_parallel, door, entries }) }
    }

    /// Adds a tool until `owner` is disposed, and tells `tools/change`. A name that is taken is an error, and so
    /// is a time budget of zero. If a listener of `tools/change` fails, the tool is taken out again.
    pub fn register<T: Tool>(&self, owner: &Context, tool: T) -> Result<(), Failure> {
        let tool = TypedTool::new(tool);
        let ToolDefinition { name, timeout, .. } = tool.definition().clone();
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(plain(format!("tool \"{name}\" timeoutMs must be a positive finite number")));
        }
        let id = {
            let mut entries = self.shared.write();
            if entries.tools.iter().any(|entry| entry.item.definition().name == name) {
                return Err(plain(format!(
                    "tool \"{name}\" is already registered \
                     (for a per-agent variant, register through that agent's `agent.ctx` instead)"
                )));
            }
            let id = entries.take_id();
            entries.tools.push(Entry { id, item: Arc::new(tool) });
            id
        };
        let weak = Arc::downgrade(&self.shared);
        let undo = move || remove_tool(&weak, id);
        if let Err(error) = owner.effect(format!("tool {name}"), undo) {
            self.shared.write().tools.retain(|entry| entry.id != id);
            return Err(error.into());
        }
        let told = self.shared.tell_change();
        if told.is_err() {
            // The effect stays with its owner; it will find nothing to undo.
            self.shared.write().tools.retain(|entry| entry.id != id);
        }
        told
    }

    /// Adds a guard until `owner` is disposed: asked after `tools/pre-execute` allowed a call, it can only refuse,
    /// by giving the reason. The first reason in order of registration wins; a guard that panics refuses too.
    pub fn guard(
        &self,
        owner: &Context,
        guard: impl Fn(&Execution) -> Option<String> + Send + Sync + 'static,
    ) -> Result<(), Failure> {
        let id = {
            let mut entries = self.shared.write();
            let id = entries.take_id();
            entries.guards.push(Entry { id, item: Arc::new(guard) });
            id
        };
        let weak = Arc::downgrade(&self.shared);
        let undo = move || {
            if let Some(shared) = weak.upgrade() {
                shared.write().guards.retain(|entry| entry.id != id);
            }
        };
        if let Err(error) = owner.effect("tool guard", undo) {
            self.shared.write().guards.retain(|entry| entry.id != id);
            return Err(error.into());
        }
        Ok(())
    }

    /// The definitions of all tools, ascending by the UTF-16 code units of their names.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.definitions_for(None)
    }

    /// The definitions of the tools that calls of `session` may use, in the same order: all but those that are
    /// [restricted](Self::restrict). For no session these are all.
    pub fn definitions_for(&self, session: Option<&Session>) -> Vec<ToolDefinition> {
        let entries = self.shared.read();
        let mut all: Vec<_> = entries
            .tools
            .iter()
            .map(|entry| entry.item.definition())
            .filter(|definition| entries.admit(&definition.name, session))
            .cloned()
            .collect();
        drop(entries);
        all.sort_by(|a, b| a.name.encode_utf16().cmp(b.name.encode_utf16()));
        all
    }

    /// A tool by its exact name.
    pub fn get(&self, name: &str) -> Option<Arc<dyn AnyTool>> {
        self.get_for(name, None)
    }

    /// A tool by its exact name, if calls of `session` may use it.
    pub fn get_for(&self, name: &str, session: Option<&Session>) -> Option<Arc<dyn AnyTool>> {
        self.shared.tool_for(name, session)
    }

    /// Waits until no call is under way, and holds back those that come from now on until the pause is dropped: for
    /// exchanging plugins without a call that meets half of them. A call that is cancelled while it is held back is
    /// answered at once.
    ///
    /// `None` if calls were still under way after `patience`; then nothing is held back any more. Needs a tokio runtime
    /// with time. Do not make a call while keeping the pause: it would wait for its end.
    pub async fn pause(&self, patience: Duration) -> Option<Pause> {
        self.shared.door.close(patience).await
    }

    /// Runs one call through the pipeline. It never fails and never panics: whatever happens is a result, and
    /// `tools/result` has been told of it.
    ///
    /// Cancel by the call's token, and wait: the body is given the time to settle. Dropping the future drops the
    /// body.
    pub async fn execute(&self, call: ToolCall) -> ToolResult {
        self.execute_reporting(call, Reporter::default()).await
    }

    /// The same, for a caller who wants to know how far a long call has come.
    pub async fn execute_reporting(&self, call: ToolCall, report: Reporter) -> ToolResult {
        let _inside = self.shared.door.enter(std::slice::from_ref(&call)).await;
        let prepared = pipeline::prepare(&self.shared, call, report).await;
        let dispatched = pipeline::dispatch(&self.shared, prepared).await;
        pipeline::commit(&self.shared, dispatched).await
    }

    /// Runs the calls of one assistant message; the results are in the order of the calls.
    ///
    /// Neighbouring calls that are [`Parallel`](crate::Concurrency::Parallel) overlap, up to `maxParallelToolCalls`
    /// at once; an exclusive one runs alone. Only the bodies (with `tools/execute` around them) overlap:
    /// pre-execute and post-execute happen one at a time in the order of the calls. Of calls that are cancelled none
    /// starts any more; those that run are waited for.
    pub async fn execute_batch(&self, calls: Vec<ToolCall>) -> Vec<ToolResult> {
        let _inside = self.shared.door.enter(&calls).await;
        scheduler::run(&self.shared, calls).await
    }

    /// May this call overlap with others? Unknown tools and arguments that do not fit run alone.
    pub fn concurrency(&self, tool: &str, arguments: &Json) -> Concurrency {
        self.shared.concurrency(tool, arguments, None)
    }

    /// How many parallel calls may be in flight at once.
    pub fn max_parallel_calls(&self) -> NonZeroUsize {
        self.shared.max_parallel
    }

    /// The card of a call that a user interface shows before it ran; none for unknown tools and unfit arguments.
    pub fn present_call(&self, tool: &str, arguments: &Json) -> Option<Json> {
        self.get(tool)?.present_call(arguments)
    }

    /// The card of a result; none for unknown tools and unfit arguments.
    pub fn present_result(&self, tool: &str, arguments: &Json, result: &ToolResult) -> Option<Json> {
        self.get(tool)?.present_result(arguments, result)
    }
}

impl Shared {
    /// A tool by its exact name, if calls of `session` may use it.
    pub(crate) fn tool_for(&self, name: &str, session: Option<&Session>) -> Option<Arc<dyn AnyTool>> {
        let entries = self.read();
        let found = entries.tools.iter().find(|entry| entry.item.definition().name == name)?;
        entries.admit(name, session).then(|| found.item.clone())
    }

    pub(crate) fn concurrency(&self, tool: &str, arguments: &Json, session: Option<&Session>) -> Concurrency {
        self.tool_for(tool, session).map_or(Concurrency::Exclusive, |tool| tool.concurrency(arguments))
    }

    /// Its id. Restrictions of sessions that are gone go too: a new one is the time for that.
    pub(crate) fn add_restriction(&self, item: Restriction) -> u64 {
        let mut entries = self.write();
        entries.restrictions.retain(|entry| !entry.item.is_over());
        let id = entries.take_id();
        entries.restrictions.push(Entry { id, item });
        id
    }

    /// Whether it was still there.
    pub(crate) fn remove_restriction(&self, id: u64) -> bool {
        let restrictions = &mut self.write().restrictions;
        let before = restrictions.len();
        restrictions.retain(|entry| entry.id != id);
        restrictions.len() < before
    }

    pub(crate) fn tell_change(&self) -> Result<(), Failure> {
        self.context.emit::<ToolsChanged>(&())
    }

    /// The first refusal of the guards, as they are now.
    pub(crate) fn refusal(&self, exec: &Execution) -> Result<Option<String>, String> {
        let guards: Vec<Guard> = self.read().guards.iter().map(|entry| entry.item.clone()).collect();
        catch(|| guards.iter().find_map(|guard| guard(exec)))
    }

    // No foreign code runs under the lock, so a poisoned one is as good as new.
    fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Entries> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn admit(&self, name: &str, session: Option<&Session>) -> bool {
        self.restrictions.iter().all(|entry| entry.item.admits(name, session))
    }

    fn take_id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

impl fmt::Debug for ToolRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.definitions().into_iter().map(|definition| definition.name).collect();
        f.debug_struct("ToolRegistry").field("tools", &names).finish_non_exhaustive()
    }
}

fn remove_tool(shared: &Weak<Shared>, id: u64) {
    let Some(shared) = shared.upgrade() else { return };
    // Taken out under the lock, dropped outside it: a tool's destructor is foreign code.
    let removed = {
        let mut entries = shared.write();
        entries.tools.iter().position(|entry| entry.id == id).map(|at| entries.tools.remove(at))
    };
    if removed.is_some()
        && let Err(error) = shared.tell_change()
    {
        tracing::warn!(%error, "a listener of tools/change failed while a tool was removed");
    }
}

fn plain(message: String) -> Failure {
    PlainError::new(message).into()
}
