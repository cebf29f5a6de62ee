//! What a sandbox says of itself, for tools that know none by name.

use std::path::Path;

use dsh_plugin::ServiceKey;

use crate::{CallPolicy, Owner};

/// The service under which the sandbox policy is mounted, where there is one.
pub const SANDBOX_POLICY: ServiceKey<dyn SandboxPolicy> = ServiceKey::new("sandboxPolicy");

/// Knows under which policy calls run.
pub trait SandboxPolicy: Send + Sync + 'static {
    /// The standing policy of an owner's calls; of calls outside any session without one.
    fn standing(&self, owner: Option<&Owner>) -> CallPolicy;

    /// Can a call be granted more than its standing policy? Not where the kernel confines the whole process.
    fn can_escalate(&self) -> bool;
}

/// Which paths may be read, for those that walk the host's disk themselves. Judged on absolute, canonical paths.
pub trait ReadRules: Send + Sync + 'static {
    /// May this file be read, or this folder be entered and listed?
    fn permits(&self, path: &Path, is_folder: bool) -> bool;

    /// May something be reached by this absolute path, on which links may lie? Names that are denied are denied whatever
    /// they lead to; the read roots bound where it leads, not where the name is.
    fn permits_name(&self, name: &Path, is_folder: bool) -> bool;
}
