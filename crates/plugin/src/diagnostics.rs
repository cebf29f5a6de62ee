//! The tree as a value, to be looked at and printed.

use std::fmt;

use crate::context::Context;
use crate::effect::Undo;
use crate::error::PluginError;
use crate::fiber::{FiberId, PluginState};
use crate::tree::State;

/// One plugin of the tree as it was when [`Context::tree`] was called, with those below it.
///
/// [`Display`](fmt::Display) prints the whole, one line for each plugin and each effect, indented.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TreeNode {
    /// The plugin's name, or `root`.
    pub name: String,
    /// What it is doing.
    pub state: PluginState,
    /// The injected services that no active plugin provides.
    pub missing: Vec<&'static str>,
    /// Why it failed to start, if it did.
    pub failure: Option<PluginError>,
    /// The labels of its effects, oldest first, children excepted.
    pub effects: Vec<String>,
    /// The plugins it mounted, in mount order.
    pub children: Vec<TreeNode>,
}

impl Context {
    /// This context's plugin and those below it.
    pub fn tree(&self) -> TreeNode {
        let state = self.lock();
        state.describe(self.fiber()).unwrap_or_else(|| TreeNode {
            name: self.plugin_name().to_owned(),
            state: PluginState::Disposed,
            missing: Vec::new(),
            failure: None,
            effects: Vec::new(),
            children: Vec::new(),
        })
    }
}

impl State {
    fn describe(&self, id: FiberId) -> Option<TreeNode> {
        let fiber = self.fibers.get(&id)?;
        let own = fiber.effects.iter().filter(|effect| !matches!(effect.undo, Undo::Child(_)));
        let children = self.fibers.iter().filter(|(_, child)| child.parent == Some(id));
        Some(TreeNode {
            name: fiber.name.to_owned(),
            state: fiber.state,
            missing: self.missing(id),
            failure: self.failure(id),
            effects: own.map(|effect| effect.label.clone()).collect(),
            children: children.filter_map(|(child, _)| self.describe(*child)).collect(),
        })
    }
}

impl TreeNode {
    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        write!(f, "{:indent$}{} ({}", "", self.name, self.state, indent = depth * 2)?;
        if !self.missing.is_empty() {
            write!(f, ", waits for {}", self.missing.join(", "))?;
        }
        if let Some(failure) = &self.failure {
            write!(f, ": {failure}")?;
        }
        writeln!(f, ")")?;
        for effect in &self.effects {
            writeln!(f, "{:indent$}- {effect}", "", indent = depth * 2 + 2)?;
        }
        self.children.iter().try_for_each(|child| child.write(f, depth + 1))
    }
}

impl fmt::Display for TreeNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}
