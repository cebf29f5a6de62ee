//! Which of the tools a session may see and call.

use std::sync::{Arc, Weak};

use dsh_plugin::{Context, EffectHandle, Failure, PlainError};

use crate::registry::{Shared, ToolRegistry};
use crate::session::Session;

/// Names of tools that a session may use, or may not. At least one list must be there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// These alone. An empty list allows none.
    pub allow: Option<Vec<String>>,
    /// Not these, whatever `allow` says.
    pub deny: Option<Vec<String>>,
}

/// A filter and whose calls it is for.
pub(crate) struct Restriction {
    session: Weak<Session>,
    filter: ToolFilter,
}

impl ToolRegistry {
    /// Hides tools from a session until the handle is undone, `owner` is disposed or the session is gone, and tells
    /// `tools/change`.
    ///
    /// A hidden tool is not among the session's [definitions](Self::definitions_for), and a call of it is one of an unknown
    /// tool. Of several restrictions every one must admit a tool. They go by name, so a tool that is mounted later is
    /// under them too. The sections of the system prompt stay: the prompt is the same for everybody, to the byte.
    ///
    /// A filter without lists and a name that no tool has are errors. If a listener of `tools/change` fails, the
    /// restriction is lifted again.
    pub fn restrict(
        &self,
        owner: &Context,
        session: &Arc<Session>,
        filter: ToolFilter,
    ) -> Result<EffectHandle, Failure> {
        self.check(&filter)?;
        let id = self.shared.add_restriction(Restriction { session: Arc::downgrade(session), filter });
        let weak = Arc::downgrade(&self.shared);
        let handle = owner.effect("tool restriction", move || lift(&weak, id)).inspect_err(|_| {
            self.shared.remove_restriction(id);
        })?;
        self.shared.tell_change().inspect_err(|_| {
            // The effect stays with its owner; it will find nothing to undo.
            self.shared.remove_restriction(id);
        })?;
        Ok(handle)
    }

    fn check(&self, filter: &ToolFilter) -> Result<(), Failure> {
        if filter.allow.is_none() && filter.deny.is_none() {
            let message = "tools.restrict({}) is a no-op: pass `allow` and/or `deny` (an empty filter is almost \
                           always a materialized-empty-config bug)";
            return Err(PlainError::new(message).into());
        }
        let known: Vec<String> = self.definitions().into_iter().map(|definition| definition.name).collect();
        let named = filter.allow.iter().chain(&filter.deny).flatten();
        let unknown: Vec<String> =
            named.filter(|name| !known.contains(name)).map(|name| format!("\"{name}\"")).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let tools = if unknown.len() == 1 { "tool" } else { "tools" };
        let known = if known.is_empty() { "(none)".to_owned() } else { known.join(", ") };
        let message = format!(
            "tools.restrict() names unknown global {tools} {}; known global tools: {known}",
            unknown.join(", ")
        );
        Err(PlainError::new(message).into())
    }
}

impl Restriction {
    /// Whether this restriction lets `session` use a tool. A call without a session is nobody's, so none is for it.
    pub(crate) fn admits(&self, name: &str, session: Option<&Session>) -> bool {
        let ours = session.is_some_and(|session| std::ptr::eq(self.session.as_ptr(), session));
        !ours || self.filter.admits(name)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.session.strong_count() == 0
    }
}

impl ToolFilter {
    fn admits(&self, name: &str) -> bool {
        let lists = |names: &Vec<String>| names.iter().any(|listed| listed == name);
        self.allow.as_ref().is_none_or(lists) && !self.deny.as_ref().is_some_and(lists)
    }
}

fn lift(shared: &Weak<Shared>, id: u64) {
    let Some(shared) = shared.upgrade() else { return };
    if shared.remove_restriction(id)
        && let Err(error) = shared.tell_change()
    {
        tracing::warn!(%error, "a listener of tools/change failed while a restriction was lifted");
    }
}
