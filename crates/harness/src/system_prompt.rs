//! The system prompt: sections in a fixed order, the same to the byte from call to call; and beside it the runtime context.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use dsh_plugin::panics::catch;
use dsh_plugin::{Context, Failure, PlainError, ServiceKey};

use crate::events::SystemPromptChanged;
use crate::session::Session;

/// The service `systemPrompt`.
pub const SYSTEM_PROMPT: ServiceKey<SystemPrompt> = ServiceKey::new("systemPrompt");

/// Before the contributions to the runtime context.
const CONTEXT_PREFIX: &str =
    "Current runtime context. This snapshot supersedes earlier runtime-context snapshots.";

/// The sections of the system prompt. They depend on nothing but the mounted plugins and their settings, so the
/// prompt stays the same to the byte from call to call and prompt caches hold. What changes from session to session, or
/// within one, is a [`context`](Self::context) instead: it is told after the prompt. A cheap handle.
///
/// Orders: −100 identity, 0 the deployment's persona, 100–199 guidance for tools.
#[derive(Clone)]
pub struct SystemPrompt {
    shared: Arc<Shared>,
}

struct Shared {
    context: Context,
    parts: RwLock<Parts>,
}

#[derive(Default)]
struct Parts {
    /// In order of registration.
    all: Vec<Part>,
    next: u64,
}

struct Part {
    id: u64,
    name: String,
    order: i32,
    text: Text,
}

#[derive(Clone)]
enum Text {
    Section(String),
    Context(ContextText),
}

type ContextText = Arc<dyn Fn(Option<&Session>) -> String + Send + Sync>;

impl SystemPrompt {
    /// A prompt without sections, whose changes are told in `context`.
    /// [`HarnessPlugin`](crate::HarnessPlugin) makes one.
    pub fn new(context: &Context) -> Self {
        Self { shared: Arc::new(Shared { context: context.clone(), parts: RwLock::default() }) }
    }

    /// Adds a section until `owner` is disposed, and tells `system-prompt/change`. A name that is taken is an error.
    /// If a listener of that event fails, the section is taken out again.
    ///
    /// The text is shown as it is; an empty one keeps the name and shows nothing.
    pub fn section(&self, owner: &Context, name: &str, order: i32, text: String) -> Result<(), Failure> {
        self.add(owner, name, order, Text::Section(text))
    }

    /// Adds to the runtime context what `text` says at each [`render_context`](Self::render_context), under the rules of
    /// [`section`](Self::section); names of the two kinds do not meet. A `text` that panics says nothing, and the log tells.
    pub fn context(
        &self,
        owner: &Context,
        name: &str,
        order: i32,
        text: impl Fn(Option<&Session>) -> String + Send + Sync + 'static,
    ) -> Result<(), Failure> {
        self.add(owner, name, order, Text::Context(Arc::new(text)))
    }

    /// Name, order and text of every section: by order, sections of one order as they were registered.
    pub fn sections(&self) -> Vec<(String, i32, String)> {
        let parts = self.shared.read();
        let section = |part: &Part| match &part.text {
            Text::Section(text) => Some((part.name.clone(), part.order, text.clone())),
            Text::Context(_) => None,
        };
        let mut all: Vec<_> = parts.all.iter().filter_map(section).collect();
        all.sort_by_key(|(_, order, _)| *order);
        all
    }

    /// The system prompt: the sections in their order, empty ones left out, a blank line between them.
    pub fn render(&self) -> String {
        let texts = self.sections().into_iter().map(|(_, _, text)| text).filter(|text| !text.is_empty());
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// The runtime context of a session's calls as it is now: one sentence that says what it is, then the contributions in
    /// their order, empty ones left out, a blank line between all of them. Empty if nothing is contributed.
    pub fn render_context(&self, session: Option<&Session>) -> String {
        let mut said = vec![CONTEXT_PREFIX.to_owned()];
        for (name, text) in self.shared.contexts() {
            match catch(|| text(session)) {
                Ok(text) if text.is_empty() => {}
                Ok(text) => said.push(text),
                Err(panic) => tracing::warn!("prompt context \"{name}\" panicked: {panic}"),
            }
        }
        if said.len() == 1 { String::new() } else { said.join("\n\n") }
    }

    /// All that a model is told before its first message: the system prompt, a blank line, the runtime context.
    pub fn render_with_context(&self, session: Option<&Session>) -> String {
        let texts = [self.render(), self.render_context(session)];
        texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    fn add(&self, owner: &Context, name: &str, order: i32, text: Text) -> Result<(), Failure> {
        let kind = text.kind();
        let id = {
            let mut parts = self.shared.write();
            if parts.all.iter().any(|part| part.name == name && part.text.kind() == kind) {
                return Err(PlainError::new(format!(
                    "{kind} \"{name}\" is already registered \
                     (for a per-agent override, register through that agent's `agent.ctx` instead)"
                ))
                .into());
            }
            parts.next += 1;
            let id = parts.next;
            parts.all.push(Part { id, name: name.to_owned(), order, text });
            id
        };
        let weak = Arc::downgrade(&self.shared);
        if let Err(error) = owner.effect(format!("{kind} {name}"), move || remove_part(&weak, id)) {
            self.shared.remove(id);
            return Err(error.into());
        }
        let told = self.shared.context.emit::<SystemPromptChanged>(&());
        if told.is_err() {
            // The effect stays with its owner; it will find nothing to undo.
            self.shared.remove(id);
        }
        told
    }
}

impl Text {
    fn kind(&self) -> &'static str {
        match self {
            Self::Section(_) => "prompt section",
            Self::Context(_) => "prompt context",
        }
    }
}

impl Shared {
    /// What contributes to the runtime context, in its order: foreign code, to be run outside the lock.
    fn contexts(&self) -> Vec<(String, ContextText)> {
        let parts = self.read();
        let context = |part: &Part| match &part.text {
            Text::Section(_) => None,
            Text::Context(text) => Some((part.order, part.name.clone(), text.clone())),
        };
        let mut all: Vec<_> = parts.all.iter().filter_map(context).collect();
        all.sort_by_key(|(order, ..)| *order);
        all.into_iter().map(|(_, name, text)| (name, text)).collect()
    }

    /// Whether there was something to remove. It is dropped outside the lock: a text may be foreign code.
    fn remove(&self, id: u64) -> bool {
        let removed = {
            let mut parts = self.write();
            parts.all.iter().position(|part| part.id == id).map(|at| parts.all.remove(at))
        };
        removed.is_some()
    }

    fn read(&self) -> RwLockReadGuard<'_, Parts> {
        self.parts.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Parts> {
        self.parts.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SystemPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemPrompt").field("sections", &self.sections()).finish_non_exhaustive()
    }
}

fn remove_part(shared: &Weak<Shared>, id: u64) {
    let Some(shared) = shared.upgrade() else { return };
    if shared.remove(id)
        && let Err(error) = shared.context.emit::<SystemPromptChanged>(&())
    {
        tracing::warn!(%error, "a listener of system-prompt/change failed while a part of the prompt was removed");
    }
}
