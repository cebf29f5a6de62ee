//! The system prompt: sections in a fixed order, the same to the byte from call to call.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use dsh_plugin::{Context, Failure, PlainError, ServiceKey};

use crate::events::SystemPromptChanged;

/// The service `systemPrompt`.
pub const SYSTEM_PROMPT: ServiceKey<SystemPrompt> = ServiceKey::new("systemPrompt");

/// The sections of the system prompt. They depend on nothing but the mounted plugins and their settings, so the
/// prompt stays the same to the byte from call to call and prompt caches hold. A cheap handle.
///
/// Orders: −100 identity, 0 the deployment's persona, 100–199 guidance for tools.
#[derive(Clone)]
pub struct SystemPrompt {
    shared: Arc<Shared>,
}

struct Shared {
    context: Context,
    sections: RwLock<Sections>,
}

#[derive(Default)]
struct Sections {
    /// In order of registration.
    all: Vec<Section>,
    next: u64,
}

struct Section {
    id: u64,
    name: String,
    order: i32,
    text: String,
}

impl SystemPrompt {
    /// A prompt without sections, whose changes are told in `context`.
    /// [`HarnessPlugin`](crate::HarnessPlugin) makes one.
    pub fn new(context: &Context) -> Self {
        Self { shared: Arc::new(Shared { context: context.clone(), sections: RwLock::default() }) }
    }

    /// Adds a section until `owner` is disposed, and tells `system-prompt/change`. A name that is taken is an error.
    /// If a listener of that event fails, the section is taken out again.
    ///
    /// The text is shown as it is; an empty one keeps the name and shows nothing.
    pub fn section(&self, owner: &Context, name: &str, order: i32, text: String) -> Result<(), Failure> {
        let id = {
            let mut sections = self.shared.write();
            if sections.all.iter().any(|section| section.name == name) {
                return Err(PlainError::new(format!(
                    "prompt section \"{name}\" is already registered \
                     (for a per-agent override, register through that agent's `agent.ctx` instead)"
                ))
                .into());
            }
            sections.next += 1;
            let id = sections.next;
            sections.all.push(Section { id, name: name.to_owned(), order, text });
            id
        };
        let weak = Arc::downgrade(&self.shared);
        if let Err(error) = owner.effect(format!("prompt section {name}"), move || remove_section(&weak, id))
        {
            self.shared.write().remove(id);
            return Err(error.into());
        }
        let told = self.shared.context.emit::<SystemPromptChanged>(&());
        if told.is_err() {
            // The effect stays with its owner; it will find nothing to undo.
            self.shared.write().remove(id);
        }
        told
    }

    /// Name, order and text of every section: by order, sections of one order as they were registered.
    pub fn sections(&self) -> Vec<(String, i32, String)> {
        let sections = self.shared.read();
        let mut all: Vec<_> = sections
            .all
            .iter()
            .map(|section| (section.name.clone(), section.order, section.text.clone()))
            .collect();
        all.sort_by_key(|(_, order, _)| *order);
        all
    }

    /// The system prompt: the sections in their order, empty ones left out, a blank line between them.
    pub fn render(&self) -> String {
        let texts = self.sections().into_iter().map(|(_, _, text)| text).filter(|text| !text.is_empty());
        texts.collect::<Vec<_>>().join("\n\n")
    }
}

impl Shared {
    fn read(&self) -> RwLockReadGuard<'_, Sections> {
        self.sections.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Sections> {
        self.sections.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sections {
    /// Whether there was something to remove.
    fn remove(&mut self, id: u64) -> bool {
        let before = self.all.len();
        self.all.retain(|section| section.id != id);
        self.all.len() < before
    }
}

impl fmt::Debug for SystemPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemPrompt").field("sections", &self.sections()).finish_non_exhaustive()
    }
}

fn remove_section(shared: &Weak<Shared>, id: u64) {
    let Some(shared) = shared.upgrade() else { return };
    let removed = shared.write().remove(id);
    if removed && let Err(error) = shared.context.emit::<SystemPromptChanged>(&()) {
        tracing::warn!(%error, "a listener of system-prompt/change failed while a section was removed");
    }
}
